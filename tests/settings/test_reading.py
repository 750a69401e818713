import pytest

from fints.errors import ConfigError
from fints.settings import NightlySettings, load_settings


def written(tmp_path, text):
    path = tmp_path / "nightly.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_sample_is_forecast():
    settings = load_settings()
    assert settings.source.kind == "sample"
    assert settings.targets == ("log_volume", "log_range")
    assert (settings.h, settings.input_size) == (20, 252)


def test_a_file_and_overrides_are_merged(tmp_path):
    path = written(tmp_path, "h: 10\nencoding: {kind: cycle, share: 0.75}\n")
    settings = load_settings(path, ["encoding.share=1.0", "holdout.n_windows=3", "targets=[log_return]"])
    assert (settings.h, settings.encoding.share, settings.holdout.n_windows) == (10, 1.0, 3)
    assert settings.targets == ("log_return",)


def test_another_kind_forgets_the_options_of_the_old_one(tmp_path):
    path = written(tmp_path, "encoding: {kind: cycle, share: 0.75}\n")
    assert load_settings(path, ["encoding.kind=rope"]).encoding.kind == "rope"


def test_the_order_of_overrides_does_not_matter():
    one, other = "source.path=a.csv", "source.kind=files"
    assert load_settings(None, [one, other]) == load_settings(None, [other, one])


def test_a_key_of_an_encoding_stands_for_its_defaults(tmp_path):
    assert load_settings(written(tmp_path, "encoding: rope\n")) == load_settings(None, ["encoding={kind: rope}"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hh: 3", r"unknown key 'hh', did you mean 'h'"),
        ("training: {max_step: 3}", r"unknown key 'training\.max_step', did you mean 'max_steps'"),
        (
            "encoding: {kind: cycle, shre: 1}",
            r"encoding\.cycle\.shre', did you mean 'share' \(known here: base, kind, learn, share",
        ),
        ("source: {kind: files, path: a, colums: {}}", r"did you mean 'columns'"),
        ("h: -1", r"h: Input should be greater than or equal to 1 \(got -1\)"),
        ("symbols: [NO]", "read the symbol False as bool; put it in quotes"),
        ("symbols: [1e5, 0700]", "put it in quotes"),
        ("encoding: {kind: roope}", "encoding: unknown kind 'roope', did you mean 'rope'"),
        ("encoding: {share: 1}", "encoding: it needs a kind"),
        ("h: true", "h: a number is wanted, not true"),
        ("training: {max_steps: 3, learning_rate: true}", r"training\.learning_rate: a number is wanted, not true"),
        ("periods: {priors: [5, false]}", r"periods\.priors\.1: a number is wanted, not false"),
        ("{h: 3, targets: log_range, h: 4}", "'h' stands twice, again in line 1"),
        ("training:\n  patience: 3\n  patience: 4\n", "'patience' stands twice, again in line 3"),
        ("random_seed: 9223372036854775808", "random_seed: Input should be less than"),
        ("dataset: ../x", "dataset"),
        ("- a", "holds a list"),
        ("targets: [log_volume, log_volume]", "targets: a name stands twice"),
        ('symbols: ["A", "A"]', "symbols: a name stands twice"),
        ("random_seed: -1", "random_seed"),
        ("h: [", "cannot be read"),
        ("training: 3", r"training: .* \(got 3\)"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, text, says):
    with pytest.raises(ConfigError, match=says):
        load_settings(written(tmp_path, text))


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("h", "key=value"),
        ("h.x=1", "h: Input should be a valid integer"),
        ("=3", "key=value"),
        ("h=[", "YAML"),
        ("training={patience: 3, patience: 4}", "twice"),
    ],
)
def test_an_override_that_does_not_fit_is_named(override, says):
    with pytest.raises(ConfigError, match=says):
        load_settings(None, [override])


def test_switches_stay_switches():
    settings = load_settings(None, ["periods.detect=false", "network={covariates: false}"])
    assert not settings.periods.detect
    assert not settings.network.covariates


def test_a_mapping_may_be_merged_and_overruled(tmp_path):
    path = written(
        tmp_path, "training: &usual {patience: 3}\nnetwork: {}\nholdout: {<<: {n_windows: 3}, n_windows: 4}\n"
    )
    assert load_settings(path).holdout.n_windows == 4


def test_one_name_is_a_list_of_one():
    assert load_settings(None, ["targets=log_range"]).targets == ("log_range",)


def test_a_dataset_without_a_name_is_named_after_its_source():
    assert load_settings(None, ["source.kind=files", "source.path=x.csv"]).dataset == "files"
    assert load_settings(None, ["source.kind=yahoo", "dataset=mine"]).dataset == "mine"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"no settings file .*none\.yaml"):
        load_settings(tmp_path / "none.yaml")


def test_the_digest_follows_what_decides_a_model():
    base = NightlySettings()
    assert base.digest == NightlySettings(retrain_every=3).digest
    assert base.digest != NightlySettings(random_seed=1).digest
    assert base.digest != load_settings(None, ["encoding.kind=rope"]).digest


def test_text_that_looks_like_a_number_stays_a_symbol(tmp_path):
    path = written(tmp_path, 'symbols: ["NA", "1E5", "TRUE", "^GSPC"]\n')
    assert load_settings(path).symbols == ("NA", "1E5", "TRUE", "^GSPC")


def doubled(level, inner):
    return "".join(f"a{i}: &a{i} {inner(i)}\n" for i in range(1, level))


@pytest.mark.parametrize(
    "text",
    [
        "targets: &a [*a]\n",
        "h: 5\ntraining: &a {max_steps: *a}\n",
        "a0: &a0 [x]\n" + doubled(40, lambda i: f"[*a{i - 1}, *a{i - 1}]") + "targets: *a39\n",
        "a0: &a0 {k: 1}\n" + doubled(40, lambda i: f"{{<<: [*a{i - 1}, *a{i - 1}]}}"),
    ],
)
def test_names_that_stand_for_themselves_or_for_more_than_anybody_writes_are_refused_at_once(tmp_path, text):
    with pytest.raises(ConfigError, match=r"cannot be read: .*names? \(& and \*\)"):
        load_settings(written(tmp_path, text))


def test_a_name_may_stand_for_what_it_names(tmp_path):
    settings = load_settings(written(tmp_path, "h: &n 7\nholdout: {n_windows: *n}\n"))
    assert (settings.h, settings.holdout.n_windows) == (7, 7)


def test_a_second_document_is_named(tmp_path):
    with pytest.raises(ConfigError, match="new text"):
        load_settings(written(tmp_path, "h: 5\n---\nh: 6\n"))
