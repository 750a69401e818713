import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import fints.studies
from fints.errors import ConfigError, LockHeldError, UnknownNameError
from fints.settings import TrackingSettings
from fints.studies import Chapter, Findings, Line, LineChart, Table
from fints.studies.claims import Claims
from fints.tracking import Tracking
from pipelines.cli import app
from pipelines.home import Home
from pipelines.study import logged, plan_job, run_study, tracking_settings
from pipelines.study_runs import EXPERIMENT

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

X = np.arange(3.0)
NO_RUNS = "--set=tracking.enabled=false"


class Toy:
    """A study that needs no time."""

    name = "toy"
    question = "Is one less than two?"
    passed = True
    slugs = ("a", "b")

    def run(self, bench):
        (bench.folder / "kept.txt").write_text(bench.budget if bench.seeds is None else str(bench.seeds))
        bench.progress(1, 1)
        bench.tracker.log_params({"x": 1})
        with bench.tracker.child("one", {"fints.encoding": "rope"}) as below:
            below.log_curves({"by_horizon/rmse": {1: 0.5, 2: 0.25}})
        charts = [LineChart(slug, slug, "x", "y", [Line("l", X, X)]) for slug in self.slugs]
        chapter = Chapter("Part", "Text.", [Table("T", pd.DataFrame({"a": ["1"]}))], charts)
        return Findings("A toy", ["One is less than two."], [chapter], passed=self.passed)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A home whose tracking database exists: making one takes seconds."""
    root = tmp_path_factory.mktemp("home")
    Tracking(root).prepare()
    return root


@pytest.fixture
def home(prepared, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(prepared))
    monkeypatch.setattr(fints.studies, "STUDIES", {"toy": (__name__, "Toy")})
    monkeypatch.setattr("pipelines.study.STUDIES", {"toy": (__name__, "Toy")})
    monkeypatch.setattr(
        "pipelines.study.get_study", lambda name: Toy() if name == "toy" else fints.studies.get_study(name)
    )
    return Home(prepared)


def run_toy(home, out, budget="quick"):
    return run_study(plan_job("toy", budget, 1, out, home), home, lambda *_: None)


def run(*arguments):
    return CliRunner().invoke(app, ["study", *arguments])


def test_a_study_leaves_a_page_its_figures_runs_and_what_it_keeps(home, tmp_path):
    outcome = logged(run_toy(home, tmp_path), home, TrackingSettings())
    assert "fints study toy --budget quick" in (tmp_path / "toy.md").read_text()
    assert {f.name for f in (tmp_path / "toy").iterdir()} == {"a.svg", "b.svg"}
    assert (home.root / "studies/toy/quick/kept.txt").read_text() == "quick"
    client = Tracking(home.root)._client()
    parent = client.get_run(outcome.run_id)
    assert parent.data.params == {"x": "1"}
    assert parent.data.metrics["headline/passed"] == 1
    assert parent.data.tags["mlflow.note.content"] == "One is less than two."
    children = client.search_runs([parent.info.experiment_id], f"tags.mlflow.parentRunId = '{outcome.run_id}'")
    assert [c.data.tags["fints.encoding"] for c in children] == ["rope"]
    history = client.get_metric_history(children[0].info.run_id, "by_horizon/rmse")
    assert {m.step: m.value for m in history} == {1: 0.5, 2: 0.25}
    (artifacts,) = (home.root / "artifacts" / "fints-studies" / outcome.run_id).rglob("report")
    assert (artifacts / "toy.md").read_text() == (tmp_path / "toy.md").read_text()
    assert {f.name for f in (artifacts / "toy").iterdir()} == {"a.svg", "b.svg"}
    assert EXPERIMENT in Tracking(home.root).links(5000)


def test_a_tracking_server_that_fails_ends_no_study_and_is_said(home, tmp_path, monkeypatch):
    def away(*_):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(Tracking, "sweep", away)
    done = run("toy", "--out", str(tmp_path), "--json", str(tmp_path / "toy.json"))
    assert done.exit_code == 0, done.output
    assert "nobody answers" in done.output
    told = json.loads((tmp_path / "toy.json").read_text())
    assert told["mlflow_run"] is None
    assert "nobody answers" in told["warnings"][0]


def test_the_result_is_written_before_the_study_is_logged(home, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(Tracking, "sweep", lambda *_: written.append((tmp_path / "toy.json").exists()))
    run("toy", "--out", str(tmp_path), "--json", str(tmp_path / "toy.json"))
    assert written == [True]


def test_figures_that_a_page_has_no_longer_are_removed(home, tmp_path, monkeypatch):
    run_toy(home, tmp_path)
    monkeypatch.setattr(Toy, "slugs", ("b",))
    run_toy(home, tmp_path)
    assert {f.name for f in (tmp_path / "toy").iterdir()} == {"b.svg"}


def test_the_same_study_cannot_run_twice_at_a_time_but_two_budgets_can(home, tmp_path):
    folder = home.root / "studies/toy/full"
    folder.mkdir(parents=True, exist_ok=True)
    with Home(folder).locked():
        with pytest.raises(LockHeldError):
            run_toy(home, tmp_path / "full", "full")
        run_toy(home, tmp_path / "quick")


def test_only_a_full_report_goes_to_the_checkout(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick, full = home.reports / "studies/quick", home.reports / "studies/full"
    assert [plan_job("toy", b, None, None, home).out for b in ("quick", "full")] == [quick, full]
    (tmp_path / "fints/studies").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    kept = tmp_path / "reports/studies"
    assert [plan_job("toy", b, None, None, home).out for b in ("quick", "full")] == [quick, kept]
    assert plan_job("toy", "quick", 3, tmp_path / "else", home).out == tmp_path / "else"


def test_a_quick_run_never_replaces_a_full_page_and_a_full_run_replaces_any(home, tmp_path):
    run_toy(home, tmp_path)
    run_toy(home, tmp_path, "full")
    page = (tmp_path / "toy.md").read_text()
    assert "--budget full" in page
    refused = run("toy", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "full budget" in refused.output
    assert (tmp_path / "toy.md").read_text() == page
    assert run("toy", "--out", str(tmp_path), "--budget", "full", NO_RUNS).exit_code == 0


def test_another_number_of_seeds_reaches_the_study_and_its_command_and_never_replaces_a_full_page(home, tmp_path):
    run_toy(home, tmp_path, "full")
    refused = run("toy", "--out", str(tmp_path), "--budget", "full", "--seeds", "3")
    assert refused.exit_code == 2
    assert "a smaller run does not replace" in refused.output
    few = tmp_path / "few"
    assert run("toy", "--out", str(few), "--budget", "full", "--seeds", "3", NO_RUNS).exit_code == 0
    assert (home.root / "studies/toy/full/kept.txt").read_text() == "3"
    assert "fints study toy --budget full --seeds 3" in (few / "toy.md").read_text()


def test_another_number_of_seeds_never_goes_to_the_checkout(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fints/studies").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    assert plan_job("toy", "full", None, None, home, 3).out == home.reports / "studies/full-3-seeds"


def test_a_study_without_seeds_refuses_a_number_of_them(home, tmp_path, monkeypatch):
    monkeypatch.setattr("pipelines.study.get_study", lambda _: Claims())
    refused = run("claims", "--out", str(tmp_path), "--seeds", "3", NO_RUNS)
    assert refused.exit_code == 2
    assert "leave --seeds out" in refused.output


def test_a_full_run_writes_the_index_of_its_folder_and_a_quick_one_does_not(home, tmp_path):
    run_toy(home, tmp_path / "quick")
    assert not (tmp_path / "quick/README.md").exists()
    (tmp_path / "notes.md").write_text("# Notes")
    run_toy(home, tmp_path, "full")
    index = (tmp_path / "README.md").read_text()
    assert "[A toy](toy.md)" in index
    assert "**One is less than two.**" in index
    assert "Notes" not in index


def test_a_readme_that_is_no_index_stays(home, tmp_path):
    (tmp_path / "README.md").write_text("# Mine")
    run_toy(home, tmp_path, "full")
    assert (tmp_path / "README.md").read_text() == "# Mine"


@pytest.mark.parametrize("place", ["file", "toy"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_work(home, tmp_path, place):
    (tmp_path / place).write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        plan_job("toy", "quick", None, tmp_path / "file" / "below" if place == "file" else tmp_path, home)


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(home, tmp_path, monkeypatch):
    def refused(**_):
        raise PermissionError("read-only")

    monkeypatch.setattr("pipelines.files.tempfile.NamedTemporaryFile", refused)
    with pytest.raises(ConfigError, match="cannot be written: read-only"):
        plan_job("toy", "quick", None, tmp_path, home)


def test_an_unknown_study_is_refused(home):
    with pytest.raises(UnknownNameError, match="Choose from: toy"):
        plan_job("toi", "quick", None, None, home)


def test_the_command_prints_verdicts_and_the_page_and_writes_json(home, tmp_path):
    done = run("toy", "--out", str(tmp_path), "--workers", "1", "--json", str(tmp_path / "toy.json"))
    assert done.exit_code == 0, done.output
    assert "- One is less than two." in done.output
    assert f"report: {tmp_path / 'toy.md'}" in done.output
    told = json.loads((tmp_path / "toy.json").read_text())
    assert told["passed"] is True
    assert told["budget"] == "quick"
    assert told["tables"] == [{"chapter": "Part", "caption": "T", "rows": [{"a": "1"}]}]


def test_a_study_whose_assertions_do_not_hold_ends_with_one(home, tmp_path, monkeypatch):
    monkeypatch.setattr(Toy, "passed", False)
    assert run("toy", "--out", str(tmp_path)).exit_code == 1
    assert (tmp_path / "toy.md").exists()


def test_a_study_that_shall_not_be_tracked_leaves_its_report_and_no_run(home, tmp_path):
    def runs():
        client = Tracking(home.root)._client()
        found = client.get_experiment_by_name(EXPERIMENT)
        return len(client.search_runs([found.experiment_id])) if found else 0

    before = runs()
    done = run("toy", "--out", str(tmp_path), NO_RUNS, "--json", str(tmp_path / "toy.json"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "toy.md").exists()
    assert json.loads((tmp_path / "toy.json").read_text())["mlflow_run"] is None
    assert runs() == before


def test_list_names_every_study_with_its_question(home):
    done = run("--list")
    assert done.exit_code == 0
    assert "toy  Is one less than two?" in done.output


@pytest.mark.parametrize("override", ["tracking.enabled=false", "tracking={enabled: false}"])
def test_tracking_can_be_set_by_key_or_as_a_whole(override):
    assert not tracking_settings(None, [override]).enabled


def test_settings_that_a_study_does_not_follow_are_refused(home, tmp_path):
    refused = run("toy", "--out", str(tmp_path), NO_RUNS, "--set=h=3")
    assert refused.exit_code == 2
    assert "takes tracking.enabled and tracking.uri, not h=3" in refused.output


@pytest.mark.parametrize(
    "arguments", [[], ["toy", "--budget", "huge"], ["toy", "--workers", "0"], ["toy", "--seeds", "0"], ["toi"]]
)
def test_a_request_that_makes_no_sense_ends_with_two(home, arguments):
    assert run(*arguments).exit_code == 2
