import shutil
import sqlite3
from pathlib import Path

import pytest

from fints.errors import ConfigError
from fints.tracking import Database, Tracking, relocate
from fints.tracking.relocation import PLACES

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


@pytest.fixture
def moved(tmp_path, prepared_database):
    """A home with a space in its name and one run, moved; the run, and the place where it was."""
    before, after = tmp_path / "old home", tmp_path / "new home"
    before.mkdir()
    shutil.copy(prepared_database, before / "mlflow.db")
    with Tracking(before).run("fints/nightly/test", "one", {}) as run:
        run.log_text("<p>hello</p>", "report/index.html")
        run.client.create_logged_model(run.experiment_id, "model", source_run_id=run.run_id)
    before.rename(after)
    return Tracking(after), run.run_id, before


def addresses(tracking):
    with sqlite3.connect(tracking.database) as connection:
        return [
            value
            for table, column in PLACES
            for (value,) in connection.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL")
        ]


def test_a_mended_home_finds_its_artifacts_again(moved, tmp_path):
    tracking, run_id, before = moved
    client = tracking._client()
    assert client.list_artifacts(run_id) == []
    done = relocate(tracking.store)
    assert done.old == (before,)
    assert done.changes == {"experiments": 1, "runs": 1, "logged_models": 1}
    assert not done.missing
    fresh = Tracking(tracking.home)._client()
    assert [found.path for found in fresh.list_artifacts(run_id)] == ["report"]
    page = fresh.download_artifacts(run_id, "report/index.html", str(tmp_path))
    assert Path(page).read_text("utf-8") == "<p>hello</p>"
    assert all(address.startswith("file:///") for address in addresses(tracking))
    assert not any(str(before) in address or "old%20home" in address for address in addresses(tracking))


def test_a_second_time_there_is_nothing_to_mend(moved):
    tracking, *_ = moved
    relocate(tracking.store)
    mended = addresses(tracking)
    assert relocate(tracking.store).changes == {}
    assert addresses(tracking) == mended


def test_a_dry_run_tells_the_same_and_changes_nothing(moved):
    tracking, *_ = moved
    before = addresses(tracking)
    told = relocate(tracking.store, dry_run=True)
    assert addresses(tracking) == before
    assert relocate(tracking.store).changes == told.changes


def test_the_old_place_may_be_named(moved):
    tracking, _, before = moved
    with pytest.raises(ConfigError, match="no run"):
        relocate(tracking.store, before.with_name("old"))
    assert relocate(tracking.store, before).changes["runs"] == 1


def test_folders_that_were_left_behind_are_named(moved):
    tracking, *_ = moved
    shutil.rmtree(tracking.artifacts)
    assert relocate(tracking.store).missing == (tracking.artifacts / "fints-nightly-test",)


def test_what_lies_elsewhere_stays_there(moved):
    tracking, *_ = moved
    tracking.store.connect().execute("UPDATE runs SET artifact_uri = 's3://bucket/old home/artifacts/1'")
    relocate(tracking.store)
    assert "s3://bucket/old home/artifacts/1" in addresses(tracking)


def test_a_moved_home_is_noticed_before_anything_is_written_to_the_old_place(moved):
    tracking, _, before = moved
    with pytest.raises(ConfigError, match="fints relocate"), tracking.run("fints/nightly/test", "two", {}):
        pass
    with pytest.raises(ConfigError, match="fints relocate"):
        tracking.server_command(5000)
    assert not before.exists()
    relocate(tracking.store)
    with tracking.run("fints/nightly/test", "two", {}) as run:
        run.log_text("here", "a.txt")
    assert next(tracking.artifacts.rglob("a.txt")).read_text() == "here"


def test_a_home_reached_by_a_link_was_not_moved(moved, tmp_path):
    tracking, *_ = moved
    relocate(tracking.store)
    (tmp_path / "link").symlink_to(tracking.home)
    assert Database(tmp_path / "link").moved_from() == ()


def test_a_home_without_a_database_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no MLflow database"):
        relocate(Database(tmp_path))
