import json
import os
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from filelock import FileLock
from typer.testing import CliRunner

from fints.bars.store import BarStore
from fints.errors import ConfigError
from fints.settings import load_settings
from pipelines import doctor_data, doctor_machine
from pipelines.cli import app
from pipelines.doctor import Check, Found, Patient, examine
from pipelines.doctor_command import checks
from pipelines.home import Home
from tests.verification.conftest import bars_of, count, forecasts_of


def patient(root, *lines, now=None, offline=True):
    return Patient(load_settings(None, [*lines]), Home(root), now or pd.Timestamp.now("UTC"), offline)


@pytest.fixture
def stored(tmp_path):
    BarStore(tmp_path / "store").commit(bars_of({"^GSPC": [1000.0] * count()}))
    return tmp_path


def tree(root):
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in root.rglob("*")}


def test_a_fresh_installation_is_in_order_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    result = tmp_path / "result.json"
    left = CliRunner().invoke(app, ["doctor", "--offline", "--json", str(result)])
    found = json.loads(result.read_text())
    assert left.exit_code == 0, left.output
    assert found["ok"]
    assert [check["check"] for check in found["checks"]] == [check.name for check in checks()]
    assert all(check["cure"] for check in found["checks"] if check["state"] != "ok")
    assert not (tmp_path / "home").exists()


def test_a_home_with_bars_is_looked_at_without_a_change(stored):
    before = tree(stored)
    diagnosis = examine(patient(stored), checks())
    assert not diagnosis.failed, diagnosis
    assert tree(stored) == before


def test_a_check_that_breaks_fails_and_the_others_go_on():
    found = examine(None, [Check("broken", lambda _: 1 / 0), Check("sound", lambda _: Found("ok", "fine"))]).found
    assert [(name, one.state) for name, one, _ in found] == [("broken", "failed"), ("sound", "ok")]
    assert "ZeroDivisionError" in found[0][1].sentence


def test_a_check_that_hangs_is_left_behind():
    diagnosis = examine(None, [Check("slow", lambda _: time.sleep(30), seconds=0.1)])
    assert diagnosis.failed
    assert "no answer within 0.1 s" in diagnosis.found[0][1].sentence


def test_a_file_of_the_store_that_was_cut_short_is_found(stored):
    part = next((stored / "store" / "bars").rglob("*.parquet"))
    assert doctor_data.store(patient(stored)).state == "ok"
    part.write_bytes(part.read_bytes()[:-10])
    found = doctor_data.store(patient(stored))
    assert found.state == "failed"
    assert f"{part} cannot be read (it is cut short" in found.sentence
    assert "of ^GSPC (interval 1d, period 2018)" in found.sentence
    assert "`fints ingest`" in found.cure
    part.unlink()
    assert doctor_data.store(patient(stored)).state == "failed"


def test_a_damaged_store_is_told_by_its_own_check_alone(stored):
    cut_file(stored / "store" / "bars")
    failed = [(name, one) for name, one, _ in examine(patient(stored), checks()).found if one.state == "failed"]
    assert [name for name, _ in failed] == ["store"]
    calendars = doctor_data.calendars(patient(stored, "exchange=XNYS"))
    assert "XNYS closes next on" in calendars.sentence
    assert "for the store cannot be read" in calendars.sentence


@pytest.fixture
def made_again(stored):
    """The store of a night that was made twice; return its folder ``superseded``."""
    for at in ("2018-12-31T22:00Z", "2018-12-31T23:00Z"):
        BarStore(stored / "store").write_forecasts(forecasts_of(["^GSPC"], "2018-12-31", 7.0, made_at=at))
    assert doctor_data.store(patient(stored)).state == "ok"
    return stored / "store" / "superseded"


def cut_file(folder):
    part = next(folder.rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-10])


def spoil_log(folder):
    for entry in (folder / "_delta_log").glob("*.json"):
        entry.write_text("{")


@pytest.mark.parametrize("spoil", [cut_file, spoil_log, lambda folder: shutil.rmtree(folder / "_delta_log")])
def test_a_damaged_table_of_superseded_forecasts_is_named_with_what_it_holds_up(stored, made_again, spoil):
    spoil(made_again)
    found = doctor_data.store(patient(stored))
    assert found.state == "failed"
    assert str(made_again) in found.sentence
    assert "no night can be made again" in found.cure
    made_again.rename(stored / "aside")  # as the cure says
    assert doctor_data.store(patient(stored)).state == "ok"
    again = forecasts_of(["^GSPC"], "2018-12-31", 8.0, made_at="2019-01-02T22:00Z")
    BarStore(stored / "store").write_forecasts(again)
    assert doctor_data.store(patient(stored)).state == "ok"


def test_a_home_that_cannot_be_written_is_found(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    assert doctor_machine.home(patient(tmp_path / "file")).state == "failed"
    monkeypatch.setattr("pipelines.doctor_machine.os.access", lambda *_: False)
    assert "cannot be written" in doctor_machine.home(patient(tmp_path)).sentence


def test_a_full_disk_and_a_network_disk_are_told(tmp_path, monkeypatch):
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("pipelines.doctor_machine.shutil.disk_usage", lambda _: usage(1, 1, 100_000_000))
    assert doctor_machine.home(patient(tmp_path)).state == "failed"
    monkeypatch.setattr("pipelines.doctor_machine.shutil.disk_usage", lambda _: usage(1, 1, int(1e12)))
    monkeypatch.setattr("pipelines.doctor_machine.filesystem", lambda _: "nfs4")
    assert "network" in doctor_machine.home(patient(tmp_path)).sentence


MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /srv tmpfs rw 0 0
server:/export /srv/fints nfs4 rw,vers=4.2 0 0
/dev/sdb1 /srv/fints/local xfs rw 0 0
//nas/share /srv/two\\040words cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/fints", "nfs4"),
        ("/srv/fints/home/x", "nfs4"),
        ("/srv/fints/local/home", "xfs"),
        ("/srv/fintstore", "tmpfs"),  # a beginning of the same letters is no folder above
        ("/srv/two words/home", "cifs"),
        ("/home/me", "ext4"),
    ],
)
def test_the_file_system_of_the_deepest_mount_counts(monkeypatch, path, kind):
    monkeypatch.setattr(Path, "read_text", lambda file, *_: MOUNTS if str(file) == "/proc/mounts" else None)
    assert doctor_machine.filesystem(Path(path)) == kind


def test_a_system_without_a_table_of_mounts_has_an_unknown_file_system(tmp_path, monkeypatch):
    def absent(*_):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", absent)
    assert doctor_machine.filesystem(tmp_path) == ""


def test_a_lock_that_is_held_is_told_and_one_that_is_left_is_not(tmp_path):
    assert doctor_machine.locks(patient(tmp_path)).state == "ok"
    with FileLock(tmp_path / ".lock"):
        assert doctor_machine.locks(patient(tmp_path)).state == "warning"
    (tmp_path / ".lock").touch()
    assert doctor_machine.locks(patient(tmp_path)).state == "ok"


def test_a_home_that_is_a_file_is_told_once_by_the_check_of_the_home(tmp_path):
    (tmp_path / "home").write_text("no folder")
    for home in (tmp_path / "home", tmp_path / "home" / "below"):
        ill = patient(home)
        failed = [(name, found) for name, found, _ in examine(ill, checks()).found if found.state == "failed"]
        ((name, found),) = failed
        assert name == "home"
        assert f"{tmp_path / 'home'} is no folder" in found.sentence
        assert found.cure == "set FINTS_HOME to a folder"


def test_a_home_whose_path_tables_cannot_lie_under_is_told(tmp_path):
    found = doctor_machine.home(patient(tmp_path / "data [old]"))
    assert found.state == "failed"
    assert "has '[' in it" in found.sentence
    assert found.cure == "set FINTS_HOME to another"


@pytest.mark.parametrize("name", ["store", "models", "plans", "reports", "verification"])
def test_a_file_that_lies_where_a_folder_is_needed_is_told_by_the_check_of_the_home(tmp_path, name):
    (tmp_path / name).write_text("no folder")
    ((told, found),) = [
        (name, one) for name, one, _ in examine(patient(tmp_path), checks()).found if one.state == "failed"
    ]
    assert told == "home"
    assert f"{tmp_path / name} is no folder" in found.sentence
    assert "move that file away" in found.cure


@pytest.mark.parametrize(
    "name",
    [".draft-abc", "models/a/1d/log_volume/.draft-abc", "models/a/.saving-abc", "plans/a/1d/.draft-abc", "mlflow.draft"]
    + [f"{folder}/a/.draft-abc" for folder in ("reports", "verification")],
)
def test_drafts_of_killed_runs_are_told(tmp_path, name):
    draft = tmp_path / name
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text("half")
    assert doctor_machine.locks(patient(tmp_path)).state == "ok"  # its run may be at work
    os.utime(draft, (1, 1))
    assert str(draft) in doctor_machine.locks(patient(tmp_path)).sentence


def test_a_clock_that_is_behind_the_home_is_found(tmp_path):
    (tmp_path / "mlflow.db").write_text("")
    assert doctor_machine.clock(patient(tmp_path)).state == "ok"
    past = patient(tmp_path, now=pd.Timestamp("2020-01-01", tz="UTC"))
    assert doctor_machine.clock(past).state == "failed"


def test_a_clock_that_differs_from_a_server_is_told(tmp_path, monkeypatch):
    live = patient(tmp_path, "source.kind=yahoo", 'symbols=["SPY"]', offline=False)
    for off, state in ((0, "ok"), (120, "warning"), (7200, "failed")):
        date = f"{pd.Timestamp.now('UTC') + pd.Timedelta(seconds=off):%a, %d %b %Y %H:%M:%S} GMT"
        monkeypatch.setattr("pipelines.doctor_data._ask", lambda _, date=date: (200, date))
        assert doctor_data.time_of_others(live).state == state


def test_a_tracking_server_that_is_away_fails_and_its_password_is_not_told(tmp_path):
    away = patient(tmp_path, "tracking.uri=http://me:s3cr3t@127.0.0.1:9/x", offline=False)
    found = doctor_data.tracking(away)
    assert found.state == "failed"
    assert "s3cr3t" not in found.sentence
    assert "s3cr3t" not in doctor_data.tracking(patient(tmp_path, "tracking.uri=postgresql://me:s3cr3t@db/x")).sentence


def test_what_a_check_breaks_of_is_told_without_a_password():
    def broken(_):
        raise RuntimeError("http://me:s3cret@127.0.0.1:9/api is away")

    def refused(_):
        raise ConfigError("http://me:s3cret@127.0.0.1:9/api is away")

    for look in (broken, refused):
        ((_, found, _),) = examine(None, [Check("broken", look)]).found
        assert "http://…@127.0.0.1:9/api is away" in found.sentence


def test_the_tracking_database_is_only_read(tmp_path, prepared_database):
    import shutil

    shutil.copy(prepared_database, tmp_path / "mlflow.db")
    before = (tmp_path / "mlflow.db").read_bytes()
    found = doctor_data.tracking(patient(tmp_path))
    assert found.state == "ok", found
    assert found.sentence.startswith("mlflow.db has 0 runs, schema ")
    assert (tmp_path / "mlflow.db").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE alembic_version SET version_num = 'deadbeef0000'", "does not know.*pip install"),
        ("UPDATE alembic_version SET version_num = '451aebb31d03'", "mlflow db upgrade"),
        ("DELETE FROM alembic_version", "does not say of which schema"),
        ("DROP TABLE alembic_version", "does not say of which schema"),
    ],
)
def test_a_tracking_database_to_which_mlflow_logs_nothing_fails_with_its_cure(
    tmp_path, prepared_database, change, said
):
    shutil.copy(prepared_database, tmp_path / "mlflow.db")
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute(change)
    ((_, found, _),) = examine(patient(tmp_path), [Check("tracking", doctor_data.tracking)]).found
    assert found.state == "failed"
    assert re.search(f"{re.escape(str(tmp_path / 'mlflow.db'))}.*{said}", found.sentence), found


def test_a_tracking_database_in_use_is_said_to_be_so_before_the_check_is_given_up(
    tmp_path, prepared_database, monkeypatch
):
    monkeypatch.setattr("pipelines.doctor_data._PATIENCE", 0.1)
    shutil.copy(prepared_database, tmp_path / "mlflow.db")
    with closing(sqlite3.connect(tmp_path / "mlflow.db", isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        ((_, found, _),) = examine(patient(tmp_path), [Check("tracking", doctor_data.tracking, 20)]).found
    assert found.state == "failed"
    assert "database is locked" in found.sentence


def test_the_sample_answers(tmp_path):
    found = doctor_data.source(patient(tmp_path, offline=False))
    assert found.state == "ok"
    assert "up to 2018-12-31" in found.sentence


def test_alerts_that_reach_nobody_are_told(tmp_path, monkeypatch):
    monkeypatch.delenv("FINTS_ALERT_WEBHOOK", raising=False)
    assert doctor_data.alerts(patient(tmp_path)).state == "warning"
    monkeypatch.setenv("FINTS_ALERT_WEBHOOK", "https://example.com/s3cr3t")
    found = doctor_data.alerts(patient(tmp_path))
    assert found.state == "ok"
    assert "s3cr3t" not in found.sentence


def test_a_calendar_that_ends_soon_fails(tmp_path):
    found = doctor_data.calendars(patient(tmp_path, "exchange=XNYS", now=pd.Timestamp("2199-12-15", tz="UTC")))
    assert found.state == "failed"
    assert "upgrade" in found.cure or "pip install" in found.cure


def test_no_night_yet_is_no_fault(stored):
    assert doctor_data.last_night(patient(stored)).state == "ok"
