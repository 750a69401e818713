import multiprocessing
import os
import socket
from contextlib import suppress

import pytest

from fints.errors import ConfigError
from fints.tracking import Tracking, flat

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


@pytest.fixture(scope="module")
def tracking(tmp_path_factory):
    made = Tracking(tmp_path_factory.mktemp("home"))
    made.prepare()
    return made


def read(tracking, run_id):
    return tracking._client().get_run(run_id)


def test_a_run_keeps_what_it_is_told(tracking):
    with tracking.run("fints/nightly/test", "one", {"fints.kind": "nightly"}) as run:
        run.log_params({"h": 20, "long": "x" * 9000})
        run.log_metrics({"headline/rmse": 0.5})
        run.log_curves({"by_horizon/rmse": {1: 0.1, 2: 0.2}})
        run.log_text("<p>hello</p>", "report/index.html")
        run.describe("**better** than nothing")
    found = read(tracking, run.run_id)
    assert found.info.status == "FINISHED"
    assert found.data.metrics["headline/rmse"] == 0.5
    assert found.data.metrics["by_horizon/rmse"] == 0.2
    assert found.data.params["h"] == "20"
    assert found.data.tags["mlflow.note.content"] == "**better** than nothing"
    (artifact,) = (tracking.artifacts / "fints-nightly-test").rglob("index.html")
    assert artifact.read_text() == "<p>hello</p>"


def test_figures_that_are_not_finite_become_tags(tracking):
    with tracking.run("fints/nightly/test", "nan", {}) as run:
        run.log_metrics({"good": 1.0, "bad": float("nan"), "worse": float("inf")})
    found = read(tracking, run.run_id)
    assert found.data.metrics == {"good": 1.0}
    assert found.data.tags["fints.not_finite.bad"] == "nan"
    assert found.data.tags["fints.not_finite.worse"] == "inf"


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError, "FAILED"), (KeyboardInterrupt, "KILLED"), (SystemExit, "KILLED")]
)
def test_a_run_that_breaks_off_says_so(tracking, error, status):
    with pytest.raises(error), tracking.run("fints/nightly/test", "broken", {}) as run:
        raise error
    assert read(tracking, run.run_id).info.status == status


def test_runs_of_dead_processes_are_swept(tracking):
    client = tracking._client()
    experiment = tracking._experiment(client, "fints/nightly/swept")
    child = multiprocessing.get_context("spawn").Process(target=os.getpid)
    child.start()
    child.join()
    tags = {"fints.pid": str(child.pid), "fints.host": socket.gethostname()}
    dead = client.create_run(experiment, tags=tags).info.run_id
    alive = client.create_run(experiment, tags={**tags, "fints.pid": str(os.getpid())}).info.run_id
    assert tracking.sweep("fints/nightly/swept") == 1
    assert read(tracking, dead).info.status == "KILLED"
    assert read(tracking, alive).info.status == "RUNNING"
    client.set_terminated(alive)


def test_the_database_is_created_once_and_whole(tracking):
    before = tracking.database.stat().st_ino
    Tracking(tracking.home).prepare()
    assert tracking.database.stat().st_ino == before
    assert not list(tracking.home.glob("*.draft"))


def test_a_home_that_is_being_made_by_another_is_waited_for(tmp_path, monkeypatch):
    from filelock import FileLock

    monkeypatch.setattr("fints.tracking._CREATE_SECONDS", 0.1)
    with FileLock(tmp_path / "mlflow.db.lock"), pytest.raises(ConfigError, match="another process"):
        Tracking(tmp_path).prepare()


def test_every_experiment_has_a_link(tracking):
    with tracking.run("fints/nightly/linked", "one", {}) as run:
        pass
    links = tracking.links(5050)
    assert "fints/none" not in links
    assert links["fints/nightly/linked"].startswith(f"http://127.0.0.1:5050/#/experiments/{run.experiment_id}/")


def test_the_server_listens_on_this_machine_only(tracking):
    command = tracking.server_command(5000)
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert command[command.index("--workers") + 1] == "1"


def test_settings_are_flattened():
    assert flat({"a": 1, "b": {"c": 2, "d": {"e": 3}}}) == {"a": 1, "b.c": 2, "b.d.e": 3}


def test_a_server_that_is_not_there_is_given_up_soon(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    calls = []
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Exception, match=r"127\.0\.0\.1"):
            Tracking(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}").sweep("fints/x")
        silent.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                calls.append(silent.accept()[0])
    for call in calls:
        call.close()
    assert len(calls) == 2


def test_a_server_that_goes_away_does_not_hide_what_went_wrong(tracking, monkeypatch):
    def gone(*_):
        raise ConnectionError("gone")

    client = tracking._client()
    monkeypatch.setattr(client, "set_terminated", gone)
    monkeypatch.setattr(Tracking, "_client", lambda _: client)
    with pytest.raises(ValueError, match="mine"), tracking.run("fints/nightly/test", "broken", {}):
        raise ValueError("mine")
