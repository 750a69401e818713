"""What a night finds spoiled: files cut in half, a disk that is full, a home that is read-only, a database in use."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from fints.bars.store import BarStore
from tests.faults import child
from tests.faults.whole import MADE, NIGHTS, assert_same, left

KINDS = {
    "a bundle": "models/brief/log_volume/*/*/model/model.json",
    "weights": "models/brief/log_volume/*/*/model/weights.safetensors",
    "how members are averaged": "models/brief/log_volume/*/*/blend.json",
    "a hold-out": "models/brief/log_volume/*/*/holdout.json",
    "the book of decisions": "models/brief/1d/log_volume/book.jsonl",
    "a plan": "plans/brief/1d/log_volume/*.json",
    "a promise": "verification/**/promises/*.json",
    "a page": "reports/nightly/*.html",
    "the result beside a page": "reports/nightly/*.json",
    "bars": "store/bars/**/*.parquet",
    "forecasts": "store/forecasts/**/*.parquet",
    "the ledger": "store/nights/*.parquet",
    "the log of the bars": "store/bars/_delta_log/*1.json",
    "the mark of the store": "store/fints-store.json",
}
"""Files that the first night left, by what they are."""


@pytest.mark.parametrize("what", KINDS)
def test_a_file_cut_in_half_is_made_up_for_or_named_and_never_believed(whole, finish, tmp_path, what) -> None:
    home = tmp_path / "home"
    shutil.copytree(whole.homes[1], home)
    files = sorted(home.glob(KINDS[what]))
    assert files, what
    for file in files:
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
    code = finish(child.run, home, *whole.command(1))
    said = child.said(home)
    assert "Traceback" not in said
    if code in {0, 4}:
        kept = BarStore(home / "store").read_forecasts(as_of=NIGHTS[1]).drop(columns=MADE)
        wanted = BarStore(whole.homes[2] / "store").read_forecasts(as_of=NIGHTS[1]).drop(columns=MADE)
        pd.testing.assert_frame_equal(kept, wanted, check_exact=True)
    if code:
        assert code in {1, 2, 4}
        assert str(home) in said.replace("\n", ""), said  # which file or table, and where


@pytest.mark.parametrize("limit", [20_000, 2_000_000])
def test_on_a_full_disk_a_night_says_so_and_the_next_completes_it(whole, finish, tmp_path, limit) -> None:
    """The first limit ends it in the store, the second at the page, which is larger."""
    home = tmp_path / "home"
    shutil.copytree(whole.homes[1], home)
    assert finish(child.run_confined, limit, home, *whole.command(1)) == 1
    said = " ".join(child.said(home).split())
    assert "Traceback" not in said
    assert "disk" in said or "File too large" in said
    assert BarStore(home / "store").verify() == []
    assert finish(child.run, home, *whole.command(1)) == 0, child.said(home)
    assert_same(left(home), left(whole.homes[2]))


def test_a_home_that_may_not_be_written_is_named_and_left_as_it_is(whole, finish, tmp_path) -> None:
    home = tmp_path / "home"
    shutil.copytree(whole.homes[1], home)
    before = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}
    paths = [home, *home.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        code = finish(child.run_unprivileged, home, *whole.command(1))
    finally:
        for path in paths:
            path.chmod(0o755)
    said = " ".join(child.said(home).split())
    assert code in {1, 2}, said
    assert "Traceback" not in said
    assert str(home) in said
    after = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file() and path.name != ".lock"}
    assert after == {path: content for path, content in before.items() if path.name != ".lock"}


@pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves
def test_a_tracking_database_that_is_in_use_costs_a_warning(whole, finish, prepared_database, tmp_path) -> None:
    home = tmp_path / "home"
    shutil.copytree(whole.homes[1], home)
    shutil.copy(prepared_database, home / "mlflow.db")
    with sqlite3.connect(home / "mlflow.db", isolation_level=None) as database:
        database.execute("BEGIN EXCLUSIVE")
        code = finish(child.run, home, *whole.command(1), "--set", "tracking.enabled=true")
        said = " ".join(child.said(home).split())
        database.execute("ROLLBACK")
    assert code == 0, said
    assert "Traceback" not in said
    assert "could not be logged to MLflow" in said
    forecasts = BarStore(home / "store").read_forecasts(as_of=NIGHTS[1])
    assert len(forecasts) == 6
    assert Path(home / "reports" / "nightly" / f"brief-1d-{NIGHTS[1]}.html").is_file()
