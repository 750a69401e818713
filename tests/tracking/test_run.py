import json

import mlflow
import pandas as pd
import pytest

from fints.tracking import Dataset

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def artifact(tracking, name):
    (found,) = (tracking.artifacts / "fints-nightly-test").rglob(name)
    return found


def test_a_run_keeps_what_it_is_told(tracking, read):
    with tracking.run("fints/nightly/test", "one", {"fints.kind": "nightly"}) as run:
        run.log_params({"h": 20, "long": "x" * 9000})
        run.log_metrics({"headline/rmse": 0.5})
        run.log_curves({"by_horizon/rmse": {1: 0.1, 2: 0.2}})
        run.log_text("<p>hello</p>", "report/index.html")
        run.describe("**better** than nothing")
    found = read(run.run_id)
    assert found.info.status == "FINISHED"
    assert found.data.metrics["headline/rmse"] == 0.5
    assert found.data.metrics["by_horizon/rmse"] == 0.2
    assert found.data.params["h"] == "20"
    assert found.data.tags["mlflow.note.content"] == "**better** than nothing"
    assert artifact(tracking, "index.html").read_text() == "<p>hello</p>"


def test_figures_that_are_not_finite_become_tags(tracking, read):
    with tracking.run("fints/nightly/test", "nan", {}) as run:
        run.log_metrics({"good": 1.0, "bad": float("nan"), "worse": float("inf")})
    found = read(run.run_id)
    assert found.data.metrics == {"good": 1.0}
    assert found.data.tags["fints.not_finite.bad"] == "nan"
    assert found.data.tags["fints.not_finite.worse"] == "inf"


def test_everything_arrives_in_few_calls_however_much_it_is(tracking, read, monkeypatch):
    calls = []
    with tracking.run("fints/nightly/test", "much", {}) as run:
        log_batch = run.client.log_batch
        monkeypatch.setattr(run.client, "log_batch", lambda *a, **k: calls.append(k) or log_batch(*a, **k))
        curves = {f"m{i}": {step: float(step) for step in range(300)} for i in range(8)}
        run.log({f"p{i}": i for i in range(150)}, curves, {f"t{i}": "x" for i in range(120)})
    assert len(calls) == 3
    assert all(sum(map(len, call.values())) <= 1000 for call in calls)
    found = read(run.run_id)
    assert len(found.data.params) == 150
    assert {f"t{i}" for i in range(120)} <= set(found.data.tags)
    for name in ("m0", "m7"):
        points = run.client.get_metric_history(run.run_id, name)
        assert sorted((p.step, p.value) for p in points) == [(i, float(i)) for i in range(300)]


def test_files_of_every_kind_come_back_as_they_were(tracking, read):
    table = pd.DataFrame({"model": ["a", "b"], "RMSE": [0.5, None], "at": pd.to_datetime(["2018-01-02", "2018-01-03"])})
    files = {"a/t.json": table, "t.parquet": table, "t.csv": table, "b.bin": b"\x00\x01", "c.yaml": "h: 1\n"}
    with tracking.run("fints/nightly/test", "files", {}) as run:
        run.log_files(files)
        run.log_table(table, "u.json")
    pd.testing.assert_frame_equal(pd.read_parquet(artifact(tracking, "t.parquet")), table)
    assert json.loads(artifact(tracking, "t.json").read_text()) == {
        "columns": ["model", "RMSE", "at"],
        "data": [["a", 0.5, "2018-01-02"], ["b", None, "2018-01-03"]],
    }
    assert artifact(tracking, "b.bin").read_bytes() == b"\x00\x01"
    shown = json.loads(read(run.run_id).data.tags["mlflow.loggedArtifacts"])
    assert shown == [{"path": "a/t.json", "type": "table"}, {"path": "u.json", "type": "table"}]
    mlflow.set_tracking_uri(tracking.uri)
    assert run.client.load_table(run.experiment_id, "a/t.json", [run.run_id])["model"].tolist() == ["a", "b"]


def test_a_run_names_the_data_that_it_worked_on(tracking, read):
    with tracking.run("fints/nightly/test", "data", {}) as run:
        run.log_dataset(Dataset("sample", "3-abc", "embedded", 5031, ("log_volume",)))
    (found,) = read(run.run_id).inputs.dataset_inputs
    assert (found.dataset.name, found.dataset.digest) == ("sample", "3-abc")
    assert json.loads(found.dataset.profile) == {"num_rows": 5031}
    assert json.loads(found.dataset.source)["uri"] == "embedded"


def test_a_run_that_found_a_failure_is_closed_as_failed(tracking, read):
    with tracking.run("fints/nightly/test", "failed", {}) as run:
        run.status = "FAILED"
    assert read(run.run_id).info.status == "FAILED"
