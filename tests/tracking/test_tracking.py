import multiprocessing
import os
import shutil
import socket
from contextlib import suppress

import pytest

from fints.tracking import Tracking

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError, "FAILED"), (KeyboardInterrupt, "KILLED"), (SystemExit, "KILLED")]
)
def test_a_run_that_breaks_off_says_so(tracking, read, error, status):
    with pytest.raises(error), tracking.run("fints/nightly/test", "broken", {}) as run:
        raise error
    assert read(run.run_id).info.status == status


def test_runs_of_dead_processes_are_swept(tracking, read):
    client = tracking._client()
    experiment = tracking._experiment(client, "fints/nightly/swept")
    child = multiprocessing.get_context("spawn").Process(target=os.getpid)
    child.start()
    child.join()
    tags = {"fints.pid": str(child.pid), "fints.host": socket.gethostname()}
    dead = client.create_run(experiment, tags=tags).info.run_id
    alive = client.create_run(experiment, tags={**tags, "fints.pid": str(os.getpid())}).info.run_id
    elsewhere = client.create_run(experiment, tags={**tags, "fints.host": "another"}).info.run_id
    assert tracking.sweep("fints/nightly/swept") == 1
    assert read(dead).info.status == "KILLED"
    assert read(alive).info.status == read(elsewhere).info.status == "RUNNING"


def test_a_run_that_is_opened_again_stays_one_run(tracking, read):
    with tracking.run("fints/tuning/again", "first", {"fints.study": "mine", "fints.kind": "tuning"}) as run:
        run.log(params={"h": 5}, curves={"headline/error": {0: 2.0}})
        run.status = "KILLED"
    with tracking.run("fints/tuning/again", "later", {"fints.kind": "tuning"}, run.run_id) as again:
        assert read(run.run_id).info.status == "RUNNING"
        again.log(curves={"headline/error": {0: 1.0}})
    (found,) = tracking.find("fints/tuning/again", {"fints.study": "mine", "fints.kind": "tuning"})
    assert found.info.run_id == again.run_id == run.run_id
    assert found.info.status == "FINISHED"
    assert found.data.metrics["headline/error"] == 1.0
    assert found.data.params == {"h": "5"}
    assert tracking.find("fints/tuning/again", {"fints.study": "another"}) == []


def test_every_experiment_has_a_link(tracking):
    with tracking.run("fints/nightly/linked", "one", {}) as run:
        pass
    links = tracking.links(5050)
    assert list(links) == ["fints/nightly/linked"]
    assert links["fints/nightly/linked"].startswith(f"http://127.0.0.1:5050/#/experiments/{run.experiment_id}/")


def test_the_latest_run_of_a_kind_is_found_whatever_came_after_it(tracking):
    assert tracking.latest("backtest") is None
    for dataset in ("a", "b"):
        with tracking.run(f"fints/backtests/{dataset}", dataset, {"fints.kind": "backtest"}) as run:
            pass
    with tracking.run("fints/nightly/a", "night", {"fints.kind": "nightly"}):
        pass
    with pytest.raises(ValueError), tracking.run("fints/backtests/a", "broken", {"fints.kind": "backtest"}):  # noqa: PT011
        raise ValueError
    assert tracking.latest("backtest").info.run_id == run.run_id


def silent_server():
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made


def calls_to(server):
    calls = []
    server.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            calls.append(server.accept()[0])
    for call in calls:
        call.close()
    return len(calls)


def test_a_server_that_is_not_there_is_given_up_soon(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    with silent_server() as silent:
        with pytest.raises(Exception, match=r"127\.0\.0\.1"):
            Tracking(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}").sweep("fints/x")
        assert calls_to(silent) == 2


@pytest.mark.parametrize(("cause", "closed"), [(ConnectionResetError, []), (ValueError, ["FAILED"])])
def test_a_server_that_fell_silent_is_not_asked_to_close_the_run(tracking, tmp_path, monkeypatch, cause, closed):
    """Each question to it takes half a minute."""
    client, asked = tracking._client(), []
    monkeypatch.setattr(Tracking, "_client", lambda _: client)
    monkeypatch.setattr(client, "set_terminated", lambda _, status: asked.append(status))
    remote = Tracking(tmp_path, "http://127.0.0.1:1")
    with pytest.raises(RuntimeError), remote.run("fints/x", "one", {}):
        raise RuntimeError("no answer") from cause("gone")
    assert asked == closed


def test_a_server_that_goes_away_does_not_hide_what_went_wrong(tracking, monkeypatch):
    def gone(*_):
        raise ConnectionError("gone")

    client = tracking._client()
    monkeypatch.setattr(client, "set_terminated", gone)
    monkeypatch.setattr(Tracking, "_client", lambda _: client)
    with pytest.raises(ValueError, match="mine"), tracking.run("fints/nightly/test", "broken", {}):
        raise ValueError("mine")


def test_over_a_database_that_is_named_artifacts_lie_in_the_home_and_not_where_fints_was_started(
    tracking, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other.db"
    shutil.copy(tracking.database, other)
    with Tracking(tracking.home, f"sqlite:///{other}").run("fints/backtests/named", "run", {}) as run:
        run.log_files({"a.txt": "a"})
    assert [file.name for file in tracking.artifacts.rglob("a.txt")] == ["a.txt"]
    assert not (tmp_path / "mlruns").exists()
