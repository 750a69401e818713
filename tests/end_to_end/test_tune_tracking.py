"""A real search in MLflow: one run for the study, one for each trial."""

import json
import shutil
from collections import OrderedDict
from xml.etree import ElementTree as ET

import optuna
import pytest
from mlflow.tracking._tracking_service import utils

from fints.tracking import Links, Tracking
from fints.tuning import StudyStore
from pipelines.ui import find
from tests.conftest import HASTY_SEARCH, TINY_SEARCH

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


@pytest.fixture(scope="module")
def client(tiny_tuning):
    return Tracking(tiny_tuning.home)._client()


@pytest.fixture(scope="module")
def parent(client, tiny_tuning):
    return client.get_run(tiny_tuning.run)


@pytest.fixture(scope="module")
def children(client, parent):
    found = client.search_runs([parent.info.experiment_id], f"tags.`fints.tuning_id` = '{parent.info.run_id}'")
    return {int(run.data.tags["optuna.number"]): run for run in found}


@pytest.fixture(scope="module")
def stored(tiny_tuning):
    """The study as Optuna has it."""
    (journal,) = (tiny_tuning.home / "tuning").glob("*.journal")
    return optuna.load_study(study_name=journal.stem, storage=StudyStore(journal.stem, journal).open())


def load(client, run, file, folder):
    return client.download_artifacts(run.info.run_id, file, str(folder))


def test_every_finished_trial_has_a_run_that_says_what_became_of_it(children, parent, stored, tiny_tuning):
    words = {"COMPLETE": "FINISHED", "PRUNED": "KILLED", "FAIL": "FAILED"}
    finished = {one.number: one for one in stored.get_trials() if one.state.is_finished()}
    runs = stored.user_attrs["mlflow_run_ids"]
    assert set(children) == set(finished)
    trials = {trial["number"]: trial for trial in tiny_tuning.found["trials"]}
    for number, run in children.items():
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert runs[str(number)] == run.info.run_id
        state = "PRUNED" if trials[number]["state"] == "pruned" else finished[number].state.name
        assert run.info.status == words[state]
        assert run.data.metrics["headline/error"] == pytest.approx(trials[number]["value"], rel=1e-5)
        assert run.data.tags["optuna.state"] == trials[number]["state"]
        assert run.data.tags["optuna.study"] == tiny_tuning.found["study"]
        assert run.data.params["delta.20 sessions"] == str(finished[number].params["delta[20 sessions]"])
    ranks = sorted(run.data.tags["fints.best"] for run in children.values() if "fints.best" in run.data.tags)
    assert ranks == [str(place + 1) for place in range(len(ranks))]
    assert 1 <= len(ranks) <= 3


def test_periods_are_logged_as_they_move(client, children, tiny_tuning):
    first = children[min(children)]
    points = client.get_metric_history(first.info.run_id, "theta/20 sessions")
    assert [point.step for point in points] == sorted({point.step for point in points})
    assert first.data.metrics["period_start/20 sessions"] == pytest.approx(20)
    folds = client.get_metric_history(first.info.run_id, "by_fold/error")
    assert [point.step for point in folds] == [0, 1]


def test_the_run_of_the_study_has_the_verdict_tables_figures_and_settings(client, parent, tiny_tuning, tmp_path):
    found = tiny_tuning.found
    assert parent.info.status == "FINISHED"
    brief, said, *_ = parent.data.tags["mlflow.note.content"].split("\n\n")
    assert brief.startswith("**")
    assert "[Report](#/experiments/" in brief
    assert said == found["verdict"]
    assert parent.data.tags["fints.verdict"] == found["verdict"]
    assert parent.data.metrics["headline/gain"] == pytest.approx(found["gain"]["value"])
    assert "trials" not in parent.data.params
    assert len(parent.data.params) < 100
    assert parent.data.params["folds.n_folds"] == "2"
    table = json.loads(open(load(client, parent, "tables/trials.json", tmp_path)).read())  # noqa: PTH123, SIM115
    assert len(table["data"]) == len(found["trials"])
    names = {file.path for file in client.list_artifacts(parent.info.run_id, "plots")}
    assert {"plots/history.svg", "plots/valley-5-sessions.svg", "plots/valley-20-sessions.svg"} <= names
    for name in names:
        drawn = ET.parse(load(client, parent, name, tmp_path)).getroot()
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert {"report", "config.yaml", "best.yaml"} <= {file.path for file in client.list_artifacts(parent.info.run_id)}


def test_taken_up_again_the_study_keeps_its_one_run(fints, tiny_tuning, children, tmp_path, monkeypatch):
    home = tmp_path / "copy"
    shutil.copytree(tiny_tuning.home, home)
    monkeypatch.setenv("FINTS_HOME", str(home))
    # MLflow remembers in a process where the artifacts of a run lie: those of the original would be written over.
    monkeypatch.setattr(utils, "_artifact_repos_cache", OrderedDict())
    code, *_ = fints("relocate", brief=False)
    assert code == 0
    code, _, err, found = fints("tune", *(f"--set={s}" for s in TINY_SEARCH), "--trials", "6", brief=False)
    assert code == 0, err
    assert found["warnings"] == tiny_tuning.found["warnings"]
    assert found["mlflow_run"] == tiny_tuning.run
    client = Tracking(home)._client()
    place = client.get_run(tiny_tuning.run).info.experiment_id
    runs = client.search_runs([place], f"tags.`fints.tuning_id` = '{tiny_tuning.run}'")
    assert len(runs) == len(found["trials"]) == len(children) + 1
    assert len(client.search_runs([place], "tags.`fints.kind` = 'tuning'")) == 1


def test_the_links_of_the_ui_lead_to_it(parent, tiny_tuning):
    places = find(Tracking(tiny_tuning.home), Links.on(5000))
    assert places.latest is None
    assert places.tuning.sentence == tiny_tuning.found["verdict"]
    run, report, trials = places.tuning.links.values()
    assert parent.info.run_id in run
    assert report.split("?")[0].endswith("artifacts/report/index.html")
    assert "viewStateShareKey=" in trials


def test_without_its_server_a_search_is_done_and_says_how_to_log_it(fints, home):
    hasty = [f"--set={setting}" for setting in HASTY_SEARCH]
    code, out, _, found = fints("tune", *hasty, "--set=tracking.uri=http://127.0.0.1:1", brief=False)
    assert code == 0
    assert found["mlflow_run"] is None
    assert "run the same command again" in found["warnings"][-1]
    (kept,) = (home / "reports" / "tuning").glob("*/result.json")
    assert json.loads(kept.read_text())["mlflow_run"] is None
    code, out, *_ = fints("report", brief=False)
    assert "run the same fints tune again" in " ".join(out.split())
