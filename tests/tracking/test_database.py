import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from fints.errors import ConfigError
from fints.tracking import Database, Tracking

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

PROCESSES = 4


def back_test(home, number, start):
    """Log a parent with two children, when all others do so."""
    tracking = Tracking(home)
    start.wait(60)
    with tracking.run("fints/backtests/raced", f"parent {number}", {"fints.kind": "backtest"}) as parent:
        for child in range(2):
            tags = {"mlflow.parentRunId": parent.run_id}
            with tracking.run("fints/backtests/raced", f"child {child} of {number}", tags) as run:
                run.log({f"p{i}": number for i in range(40)}, {"a/b": {step: step / 7 for step in range(500)}})
                run.log_files({"t.json": f"{number}"})


def test_backtests_that_race_for_a_new_database_all_keep_their_runs(tmp_path, forkserver):
    start = forkserver.Barrier(PROCESSES)
    racers = [forkserver.Process(target=back_test, args=(tmp_path, i, start)) for i in range(PROCESSES)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(300)
    assert [racer.exitcode for racer in racers] == [0] * PROCESSES
    client = Tracking(tmp_path)._client()
    (experiment,) = client.search_experiments(filter_string="name LIKE 'fints/%'")
    runs = client.search_runs([experiment.experiment_id])
    assert len(runs) == 3 * PROCESSES
    assert {run.info.status for run in runs} == {"FINISHED"}
    parents = {run.info.run_id for run in runs if "fints.kind" in run.data.tags}
    children = [run for run in runs if run.info.run_id not in parents]
    assert {run.data.tags["mlflow.parentRunId"] for run in children} == parents
    assert all(len(client.get_metric_history(run.info.run_id, "a/b")) == 500 for run in children)
    assert not list(tmp_path.glob("*.draft*"))


def hold_a_run_open(home, opened):
    from pipelines.outcome import reported

    with reported(), Tracking(home).run("fints/backtests/held", "one", {}) as run:
        opened.put(run.run_id)
        time.sleep(60)


@pytest.mark.parametrize(("number", "at_once"), [(signal.SIGTERM, "KILLED"), (signal.SIGKILL, "RUNNING")])
def test_a_run_whose_process_is_killed_does_not_stay_open(tracking, read, forkserver, number, at_once):
    opened = forkserver.Queue()
    process = forkserver.Process(target=hold_a_run_open, args=(tracking.home, opened))
    process.start()
    run_id = opened.get(timeout=60)
    (process.terminate if number == signal.SIGTERM else process.kill)()
    process.join(60)
    assert read(run_id).info.status == at_once
    tracking.sweep("fints/backtests/held")
    assert read(run_id).info.status == "KILLED"


def test_a_database_that_is_there_is_left_as_it_is(tracking):
    before = tracking.database.stat().st_ino
    Tracking(tracking.home).prepare()
    assert tracking.database.stat().st_ino == before


def test_readers_and_writers_do_not_lock_each_other_out(tracking):
    with sqlite3.connect(tracking.database) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_nothing_in_a_new_database_points_outside_its_home(tracking, prepared_database):
    with sqlite3.connect(prepared_database) as connection:
        found = connection.execute("SELECT artifact_location FROM experiments").fetchall()
    assert found == [((prepared_database.parent / "artifacts" / "0").as_uri(),)]


def test_a_home_that_is_being_made_by_another_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("fints.tracking.database.CREATE_SECONDS", 0.1)
    with FileLock(tmp_path / "mlflow.db.lock"), pytest.raises(ConfigError, match="another process"):
        Tracking(tmp_path).prepare()


def test_a_creation_that_was_killed_is_begun_anew(tmp_path, prepared_database):
    database = Database(tmp_path)
    database.file.with_suffix(".draft").write_text("half a database")
    database.create(lambda uri: shutil.copy(prepared_database, uri.removeprefix("sqlite:///")))
    assert database.ready()
    assert not list(tmp_path.glob("*.draft"))


def test_the_log_of_a_database_that_is_gone_is_not_written_into_a_new_one(tmp_path, prepared_database):
    """A killed night leaves a log, and whoever moves a damaged database away, as they are told, may leave it there."""
    database = Database(tmp_path)
    shutil.copy(prepared_database, database.file)
    with closing(sqlite3.connect(database.file, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("CREATE TABLE pushes_pages_away (x)")
        for number in range(300):
            connection.execute("INSERT INTO pushes_pages_away VALUES (?)", (f"{number}" * 200,))
        shutil.copy(f"{database.file}-wal", tmp_path / "kept")
    database.file.unlink()
    (tmp_path / "kept").rename(f"{database.file}-wal")
    database.create(lambda uri: shutil.copy(prepared_database, uri.removeprefix("sqlite:///")))
    with closing(sqlite3.connect(database.file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'pushes_pages_away'").fetchall() == []


@pytest.mark.parametrize("content", [b"not a database, and long enough to be looked at" * 50, None])
def test_a_database_that_is_none_is_named(tmp_path, content):
    if content is None:
        sqlite3.connect(tmp_path / "mlflow.db").execute("CREATE TABLE other (x)")
    else:
        (tmp_path / "mlflow.db").write_bytes(content)
    with pytest.raises(ConfigError, match="move it away"):
        Tracking(tmp_path).prepare()


@pytest.mark.parametrize(
    "refused", ["SQLITE_READONLY_DIRECTORY", "SQLITE_CANTOPEN", "SQLITE_BUSY", "SQLITE_IOERR_WRITE"]
)
def test_nobody_is_told_to_move_away_a_whole_database_that_the_machine_refuses(tmp_path, monkeypatch, refused):
    def fails(*_):
        error = sqlite3.OperationalError("attempt to write a readonly database")
        error.sqlite_errorname = refused
        raise error

    monkeypatch.setattr(Database, "connect", fails)
    with pytest.raises(ConfigError, match="see to its permissions") as caught:
        Database(tmp_path).moved_from()
    assert "move it away" not in str(caught.value)


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "home").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be written"):
        Tracking(tmp_path / "home" / "below").prepare()


def test_a_home_of_an_odd_but_sound_name_holds_its_own_database_and_artifacts(tmp_path):
    home = tmp_path / "ho me #%&=é;+'x'"
    tracking = Tracking(home)
    with tracking.run("fints/backtests/odd", "run", {"fints.kind": "backtest"}) as run:
        run.log_files({"t.json": "42"})
    assert [path.name for path in tmp_path.iterdir()] == [home.name]
    assert Database(home).ready()
    client = tracking._client()
    (kept,) = client.search_runs([one.experiment_id for one in client.search_experiments()])
    assert Path(client.download_artifacts(kept.info.run_id, "t.json")).read_text() == "42"
