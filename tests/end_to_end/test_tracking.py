"""A real backtest in MLflow: what is kept of it, and what becomes of it when something is in the way."""

import json
import shutil
import socket
from xml.etree import ElementTree as ET

import mlflow
import numpy as np
import pandas as pd
import pytest
import yaml

import fints
from fints.report.colours import ENCODING_COLOURS
from fints.tracking import Links, Tracking
from pipelines.ui import find

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

CYCLE, ROPE = "CycleTransformer[cycle]", "CycleTransformer[rope]"
NAMES = {CYCLE, ROPE, "HAR", "Naive"}


@pytest.fixture(scope="module")
def client(tiny_backtest):
    return Tracking(tiny_backtest.home)._client()


@pytest.fixture(scope="module")
def parent(client, tiny_backtest):
    return client.get_run(tiny_backtest.run)


@pytest.fixture(scope="module")
def children(client, parent):
    found = client.search_runs([parent.info.experiment_id], f"tags.`fints.backtest_id` = '{parent.info.run_id}'")
    return {run.info.run_name: run for run in found}


def load(client, run, file, folder):
    return client.download_artifacts(run.info.run_id, file, str(folder))


def test_there_is_a_child_for_every_model_in_the_colour_of_its_encoding(parent, children):
    assert set(children) == NAMES
    assert all(run.data.tags["mlflow.parentRunId"] == parent.info.run_id for run in children.values())
    colours = {name: run.data.tags["mlflow.runColor"] for name, run in children.items()}
    assert (colours[CYCLE], colours[ROPE]) == (ENCODING_COLOURS["cycle"], ENCODING_COLOURS["rope"])
    assert len(set(colours.values())) == len(NAMES)
    assert children[CYCLE].data.tags["fints.encoding"] == "cycle"
    for run in (parent, *children.values()):
        wanted = {
            f"fints.{name}" for name in ("kind", "data_version", "calendar_version", "config_hash", "pid", "host")
        }
        assert wanted <= set(run.data.tags)


def test_figures_are_those_of_the_table(client, parent, children, tmp_path):
    table = json.loads(open(load(client, parent, "tables/leaderboard.json", tmp_path)).read())  # noqa: PTH123, SIM115
    board = pd.DataFrame(table["data"], columns=table["columns"]).set_index("model")
    assert set(board["target"]) == {"log_volume"}
    for name, run in children.items():
        for metric, column in (("rmse", "RMSE"), ("mae", "MAE"), ("crps", "CRPS"), ("coverage80", "cov80")):
            assert run.data.metrics[f"headline/{metric}"] == pytest.approx(board.loc[name, column], rel=1e-5)
    assert children[CYCLE].data.metrics["headline/skill"] == pytest.approx(board.loc[CYCLE, "skill"], rel=1e-5)
    assert 0 <= children[CYCLE].data.metrics["headline/dm_p"] <= 1


def test_curves_are_those_of_the_predictions(client, children, tmp_path):
    for name, run in children.items():
        rows = pd.read_parquet(load(client, run, "predictions.parquet", tmp_path / run.info.run_id))
        assert set(rows["model"]) == {name}
        by_series = (
            rows.assign(squared=(rows["mean"] - rows["y"]) ** 2).groupby(["step", "unique_id"])["squared"].mean()
        )
        expected = (by_series**0.5).groupby("step").mean()
        points = client.get_metric_history(run.info.run_id, "by_horizon/rmse")
        assert {p.step: p.value for p in points} == pytest.approx(expected.to_dict())
        beyond = client.get_metric_history(run.info.run_id, "extrapolation/rmse_in_sd")
        assert sorted(p.step for p in beyond) == [4, 5, 6]
        squares = [p.value**2 for p in beyond]
        assert run.data.metrics["headline/extrapolation_rmse"] == pytest.approx(np.mean(squares) ** 0.5, rel=0.02)
    trace = client.get_metric_history(children[CYCLE].info.run_id, "theta/offset.0")
    assert [p.step for p in trace] == [0, 2, 4]


def test_the_description_begins_with_the_verdict_then_says_where_to_look(parent):
    first, _, rest = parent.data.tags["mlflow.note.content"].partition("\n")
    assert "HAR" in first.split("[Report]")[0]
    assert "[Report](#/experiments/" in first
    assert "[Curves](#/experiments/" in first
    assert all(f"| {name} |" in rest for name in NAMES)


def test_the_configuration_and_the_data_are_kept(client, parent, children, tmp_path):
    config = yaml.safe_load(open(load(client, parent, "config.yaml", tmp_path)).read())  # noqa: PTH123, SIM115
    assert config["h"] == 6
    assert parent.data.params["trained_h"] == "3"
    assert children[ROPE].data.params["training.max_steps"] == "3"
    assert children[CYCLE].data.params["training.max_steps"] == "4"
    assert max(len(run.data.params) for run in children.values()) < 100
    (data,) = parent.inputs.dataset_inputs
    assert data.dataset.name == "sample"
    assert json.loads(data.dataset.profile)["num_rows"] == 2514
    drawn = ET.parse(load(client, children["HAR"], "plots/by_horizon.svg", tmp_path)).getroot()
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert "HAR" in "".join(drawn.itertext())
    plots = {file.path for file in client.list_artifacts(children["HAR"].info.run_id, "plots")}
    assert plots == {"plots/by_horizon.svg", "plots/by_fold.svg"}


def test_the_model_that_was_scored_can_be_loaded(client, children, tiny_backtest, tmp_path):
    """Not another one that was fitted for MLflow: it forecasts a window as it did in the backtest."""
    mlflow.set_tracking_uri(Tracking(tiny_backtest.home).uri)
    panel = fints.make_panel(fints.sample_bars(), target="log_volume")
    for name in (CYCLE, ROPE):
        run = children[name]
        (output,) = run.outputs.model_outputs
        rows = pd.read_parquet(load(client, run, "predictions.parquet", tmp_path / name))
        cutoff = rows["cutoff"].max()
        known = panel[panel["ds"] <= cutoff]
        found = mlflow.pyfunc.load_model(f"models:/{output.model_id}").predict(known)
        both = found.merge(rows[rows["cutoff"] == cutoff], on=["unique_id", "ds", "step"], suffixes=("", "_then"))
        assert len(both) == 6  # two series, the three bars that it was trained for
        np.testing.assert_allclose(both["mean"], both["mean_then"], rtol=1e-6)
    assert not children["HAR"].outputs.model_outputs


def test_the_links_of_the_ui_lead_to_it(parent, tiny_backtest):
    places = find(Tracking(tiny_backtest.home), Links.on(5000))
    assert set(places.experiments) == {"fints/backtests/sample"}
    assert places.latest.sentence in parent.data.tags["mlflow.note.content"]
    assert "](" not in places.latest.sentence
    run, report, curves = places.latest.links.values()
    assert parent.info.run_id in run
    assert report.split("?")[0].endswith("artifacts/report/index.html")
    assert "viewStateShareKey=" in curves


@pytest.fixture
def copied(tiny_backtest, tmp_path, monkeypatch):
    """The home, copied elsewhere."""
    shutil.copytree(tiny_backtest.home, tmp_path / "copy")
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "copy"))
    return tmp_path / "copy"


def test_a_moved_home_says_so_and_is_mended(fints, copied, tiny_backtest, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(copied))
    code, _, err, _ = fints("ui", brief=False)
    assert code == 2
    assert "fints relocate" in err
    code, out, _, result = fints("relocate", "--dry-run", brief=False)
    assert code == 0
    assert "would be changed" in out
    before = result["changes"]
    code, out, _, result = fints("relocate", brief=False)
    assert result["changes"] == before
    assert {"experiments": 1, "runs": 5, "logged_models": 2}.items() <= before.items()
    client = Tracking(copied)._client()
    folder = client.get_run(tiny_backtest.run).info.artifact_uri
    assert str(copied) in folder
    assert "report" in [file.path for file in client.list_artifacts(tiny_backtest.run)]
    code, out, _, result = fints("relocate", brief=False)
    assert "nothing to mend" in out
    assert result["changes"] == {}


def test_the_runs_of_a_server_are_not_mended(fints):
    code, _, err, _ = fints("relocate", "--set=tracking.uri=http://127.0.0.1:1", brief=False)
    assert code == 2
    assert "leave tracking.uri out" in err


PLAIN = (
    *("--set=h=5", "--set=input_size=40", "--set=n_windows=9", "--set=periods.detect=false"),
    *("--set=workers.count=1", "--set=models=[har, naive]"),
)


def test_without_its_server_a_backtest_is_done_and_kept_and_sent_later(fints, home):
    with socket.socket() as probe:  # nobody listens there
        probe.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{probe.getsockname()[1]}"
    code, out, _, result = fints("backtest", *PLAIN, f"--set=tracking.uri={uri}", brief=False)
    assert code == 0
    assert result["mlflow_run"] is None
    assert "fints report --resend" in result["warnings"][-1]
    assert "fints report --resend" in " ".join(out.split())
    (kept,) = (home / "reports" / "backtests").glob("*/result.json")
    assert json.loads(kept.read_text())["run_id"] is None
