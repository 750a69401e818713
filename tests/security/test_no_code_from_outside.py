"""Nothing that comes from outside is run: no pickle, no YAML objects, no templates, no shell."""

import ast
import io
import pickle
from pathlib import Path

import pytest
import torch

from fints.errors import BundleError, ConfigError
from fints.settings import BacktestSettings, NightlySettings, TuneSettings, read_settings
from fints.transformer import CycleTransformer
from tests.transformer.conftest import small_model

ROOT = Path(__file__).parents[2]
SOURCES = [path for folder in ("fints", "pipelines") for path in sorted((ROOT / folder).rglob("*.py"))]
RUNS_CODE = {
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "cPickle.load", "dill.load", "dill.loads", "cloudpickle.load"),
    *("joblib.load", "pandas.read_pickle", "pd.read_pickle", "marshal.load", "marshal.loads", "shelve.open"),
    *("yaml.unsafe_load", "yaml.full_load", "yaml.load_all", "eval", "exec", "os.system", "os.popen"),
}
OWN_PIPES = {"pipelines/processes.py", "fints/transformer/training/processes.py"}
"""Where processes of one run hand each other values, through a pipe or a folder that nobody else can write."""


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_there_is_something_to_look_at():
    assert len(SOURCES) > 300


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_read_by_what_runs_code(path):
    name = path.relative_to(ROOT).as_posix()
    for function, node in calls(ast.parse(path.read_text("utf-8"))):
        arguments = {word.arg: ast.unparse(word.value) for word in node.keywords}
        if function == "torch.load" and name not in OWN_PIPES:
            assert arguments.get("weights_only") == "True", (name, node.lineno)
        if function in {"np.load", "numpy.load"}:
            assert arguments.get("allow_pickle", "False") == "False", (name, node.lineno)
        if function.startswith("subprocess."):
            assert arguments.get("shell", "False") == "False", (name, node.lineno)
        if function == "yaml.load":
            assert "_Loader" in ast.unparse(node), (name, node.lineno)
        assert function not in RUNS_CODE or name in OWN_PIPES, (name, node.lineno, function)


MARK = "fints-was-here"


def objects(path):
    """YAML that would touch a file."""
    return [
        f"!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{path}']]",
        f'!!python/object/new:os.system ["touch {path}"]',
        f"!!python/object/apply:subprocess.check_call [[touch, '{path}']]",
        "!!python/name:os.system",
        "!!python/module:os",
    ]


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("kind", [NightlySettings, BacktestSettings, TuneSettings])
def test_a_settings_file_cannot_make_objects(tmp_path, number, kind):
    path = tmp_path / MARK
    attack = objects(path)[number]
    file = tmp_path / "settings.yaml"
    file.write_text(f"dataset: {attack}\n")
    with pytest.raises(ConfigError, match=r"a tag \(!\) that is not known"):
        read_settings(kind, file)
    with pytest.raises(ConfigError, match=r"a tag \(!\) that is not known"):
        read_settings(kind, None, [f"dataset={attack}"])
    assert not path.exists()


def test_a_settings_file_includes_no_other_and_expands_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_MINE", "s3cr3t")
    (tmp_path / "other.yaml").write_text("dataset: other\n")
    file = tmp_path / "settings.yaml"
    file.write_text("dataset: !include other.yaml\n")
    with pytest.raises(ConfigError):
        read_settings(NightlySettings, file)
    for text in ("$SECRET_OF_MINE", "${SECRET_OF_MINE}", "{{ SECRET_OF_MINE }}", "%(SECRET_OF_MINE)s"):
        read = read_settings(NightlySettings, None, [f"symbols=['{text}']"])
        assert read.symbols == (text,)


def test_a_bomb_of_aliases_is_refused_or_small(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    file = tmp_path / "settings.yaml"
    file.write_text("\n".join(lines))
    with pytest.raises(ConfigError) as refused:
        read_settings(NightlySettings, file)
    assert len(str(refused.value)) < 100_000


@pytest.mark.parametrize("dataset", ["../../x", "/etc", "a/b", "..", "a\\b", "a\x00b", "", ".hidden", "a\nb"])
def test_a_dataset_is_never_a_path(dataset):
    with pytest.raises(ConfigError):
        read_settings(
            NightlySettings, None, [f"dataset={dataset!r}" if dataset.isprintable() else f'dataset="{dataset}"']
        )


class Evil:
    """What a pickle would run on the way in."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory, daily_panel):
    folder = tmp_path_factory.mktemp("bundle") / "model"
    small_model().fit(daily_panel).save(folder)
    return folder


def test_the_bundle_loads_before_it_is_tampered_with(bundle):
    assert CycleTransformer.load(bundle)


@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_a_bundle_with_a_pickle_in_it_is_refused_and_not_run(bundle, tmp_path, how):
    import shutil

    mark = tmp_path / MARK
    for name in [path.name for path in bundle.iterdir() if path.is_file()]:
        folder = tmp_path / f"{how}-{name}"
        shutil.copytree(bundle, folder)
        buffer = io.BytesIO()
        if how == "pickle":
            pickle.dump(Evil(mark), buffer)
        else:
            torch.save(Evil(mark), buffer)
        (folder / name).write_bytes(buffer.getvalue())
        with pytest.raises(BundleError):
            CycleTransformer.load(folder)
        assert not mark.exists()
