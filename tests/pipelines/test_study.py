import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import fints.studies
from fints.errors import ConfigError, LockHeldError, UnknownNameError
from fints.settings import TrackingSettings
from fints.studies import Chapter, Findings, Line, LineChart, Table
from fints.tracking import Tracking
from pipelines.cli import app
from pipelines.home import Home
from pipelines.study import EXPERIMENT, Job, plan_job, run_study

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

X = np.arange(3.0)


class Toy:
    """A study that needs no time."""

    name = "toy"
    question = "Is one less than two?"
    passed = True
    slugs = ("a", "b")

    def run(self, bench):
        (bench.folder / "kept.txt").write_text(bench.budget)
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


def run(*arguments):
    return CliRunner().invoke(app, ["study", *arguments])


def test_a_study_leaves_a_page_its_figures_runs_and_what_it_keeps(home, tmp_path):
    outcome = run_study(Job(Toy(), "quick", 1, tmp_path), home, TrackingSettings(), lambda *_: None)
    assert outcome.page == tmp_path / "toy.md"
    assert "fints study toy --budget quick" in outcome.page.read_text()
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
    assert Tracking(home.root).link(5000, EXPERIMENT) is not None


def test_figures_that_a_page_has_no_longer_are_removed(home, tmp_path, monkeypatch):
    run_study(Job(Toy(), "quick", 1, tmp_path), home, TrackingSettings(), lambda *_: None)
    monkeypatch.setattr(Toy, "slugs", ("b",))
    run_study(Job(Toy(), "quick", 1, tmp_path), home, TrackingSettings(), lambda *_: None)
    assert {f.name for f in (tmp_path / "toy").iterdir()} == {"b.svg"}


def test_the_same_study_cannot_run_twice_at_a_time_but_two_budgets_can(home, tmp_path):
    folder = home.root / "studies/toy/full"
    folder.mkdir(parents=True)
    with Home(folder).locked():
        with pytest.raises(LockHeldError):
            run_study(Job(Toy(), "full", 1, tmp_path), home, TrackingSettings(), lambda *_: None)
        run_study(Job(Toy(), "quick", 1, tmp_path), home, TrackingSettings(), lambda *_: None)


def test_the_report_goes_to_the_checkout_or_else_to_the_home(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert plan_job("toy", "quick", None, None, home).out == home.root / "reports/studies"
    (tmp_path / "fints/studies").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    assert plan_job("toy", "quick", None, None, home).out == tmp_path / "reports/studies"
    assert plan_job("toy", "quick", 3, tmp_path / "else", home).out == tmp_path / "else"


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(home, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        plan_job("toy", "quick", None, tmp_path / "file" / "below", home)


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
    assert told["tables"] == [{"caption": "T", "rows": [{"a": "1"}]}]


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
    done = run("toy", "--out", str(tmp_path), "--set=tracking.enabled=false", "--json", str(tmp_path / "toy.json"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "toy.md").exists()
    assert json.loads((tmp_path / "toy.json").read_text())["mlflow_run"] is None
    assert runs() == before


def test_list_names_every_study_with_its_question(home):
    done = run("--list")
    assert done.exit_code == 0
    assert "toy  Is one less than two?" in done.output


@pytest.mark.parametrize("arguments", [[], ["toy", "--budget", "huge"], ["toy", "--workers", "0"], ["toi"]])
def test_a_request_that_makes_no_sense_ends_with_two(home, arguments):
    assert run(*arguments).exit_code == 2
