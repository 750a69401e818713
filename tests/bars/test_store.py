from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow.fs import LocalFileSystem, PyFileSystem

from fints.bars.actions import conform_actions, empty_actions
from fints.bars.ingest import ingest
from fints.bars.layout import BAR_PARTITIONS, bars_schema
from fints.bars.quality import check_bars
from fints.bars.schema import validate_bars
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import SyntheticConfig
from fints.bars.sources.synthetic import SyntheticSource
from fints.bars.store import BarStore
from fints.bars.table import StoreTable
from fints.errors import SchemaError, StoreError, UnknownNameError
from tests.bars import killed

NOW = pd.Timestamp("2024-06-01", tz="UTC")
WEEK = {"2018-12-17": 100.0, "2018-12-18": 101.0, "2018-12-19": 102.0, "2018-12-20": 103.0, "2018-12-21": 104.0}
NEW_YEAR = {"2018-12-28": 100.0, "2018-12-31": 101.0, "2019-01-02": 102.0, "2019-01-03": 103.0}


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


def test_a_new_store_is_empty_sound_and_unwritten(store) -> None:
    assert store.version() == 0
    assert store.read().empty
    assert store.status().empty
    assert store.verify() == []
    assert not store.root.exists()


def test_what_is_committed_is_read_back(store, make_bars) -> None:
    bars = pd.concat([make_bars(NEW_YEAR, "B"), make_bars(NEW_YEAR, "A")])
    commit = store.commit(bars)
    assert (commit.version, commit.inserted, commit.revised) == (1, {"A": 4, "B": 4}, {})
    pd.testing.assert_frame_equal(store.read(), validate_bars(bars))
    assert store.verify() == []


def test_committing_twice_is_committing_once(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    again = store.commit(make_bars(WEEK, fetched_at=NOW, source="other"))
    assert (again.version, again.unchanged) == (1, {"AAA": 5})
    pd.testing.assert_frame_equal(store.read(), validate_bars(make_bars(WEEK)))


@given(parts=st.lists(st.sets(st.sampled_from(sorted(NEW_YEAR)), min_size=1), min_size=1, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=4)
def test_commits_in_parts_and_in_any_order_make_one_whole(make_bars, parts) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = BarStore(Path(folder) / "store")
        for part in parts:
            store.commit(make_bars({day: NEW_YEAR[day] for day in part}))
        whole = {day: NEW_YEAR[day] for day in sorted(set().union(*parts))}
        pd.testing.assert_frame_equal(store.read(), make_bars(whole))
        assert store.verify() == []


def test_a_calendar_that_learns_of_an_early_close_later_revises_the_session(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    learned = make_bars({"2018-12-19": 102.0, "2018-12-24": 105.0})
    learned.loc[0, "end"] -= pd.Timedelta(hours=3)
    commit = store.commit(learned)
    assert (commit.revised, commit.inserted) == ({"AAA": 1}, {"AAA": 1})
    assert store.read()["session"].tolist() == [pd.Timestamp(day) for day in (*WEEK, "2018-12-24")]
    assert store.diff(1, 2).loc[0, "columns"] == "end"
    assert store.verify() == []


def test_a_damaged_file_is_named_with_the_cure(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    (file,) = (store.root / "bars").rglob("*.parquet")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(StoreError, match=rf"^{file} cannot be read .* of AAA .*Restore"):
        store.read()


def test_a_revision_is_a_new_version_and_the_old_one_stays(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    revised = make_bars({"2018-12-19": 102.5, "2018-12-24": 105.0}, fetched_at=NOW)
    commit = store.commit(revised)
    assert (commit.version, commit.revised, commit.inserted) == (2, {"AAA": 1}, {"AAA": 1})
    assert store.read(start="2018-12-19", end="2018-12-19")["close"].tolist() == [102.5]
    assert store.read(start="2018-12-19", end="2018-12-19")["fetched_at"].tolist() == [NOW]
    assert store.read(start="2018-12-20", end="2018-12-20")["fetched_at"].tolist() != [NOW]
    pd.testing.assert_frame_equal(store.read(version=1), make_bars(WEEK))
    assert store.verify() == []


def test_a_revision_touches_no_other_symbol_interval_or_year(store, make_bars) -> None:
    others = [make_bars(NEW_YEAR, "B"), make_bars(NEW_YEAR, "A", interval="1h")]
    store.commit(pd.concat([make_bars(NEW_YEAR, "A"), *others]))
    store.commit(make_bars({"2018-12-31": 99.0}, "A"))
    assert store.read("A")["close"].tolist() == [100.0, 99.0, 102.0, 103.0]
    pd.testing.assert_frame_equal(store.read("B"), make_bars(NEW_YEAR, "B"))
    pd.testing.assert_frame_equal(store.read("A", "1h"), make_bars(NEW_YEAR, "A", interval="1h"))


def test_many_small_commits_are_gathered_into_few_files(store, make_bars, monkeypatch) -> None:
    monkeypatch.setattr("fints.bars.merge._MAX_FILES", 4)
    sessions = make_bars(dict.fromkeys(pd.date_range("2018-01-02", "2018-01-31").strftime("%Y-%m-%d"), 10.0))
    days = check_bars(sessions, now=NOW)[0]
    for row in range(11):
        store.commit(days.iloc[[row]])
    pd.testing.assert_frame_equal(store.read(), days.iloc[:11])
    assert len(list((store.root / "bars").rglob("*.parquet"))) == 11  # no file is ever deleted …
    assert len(store._bars.files()) <= 4  # … but a reader opens few
    pd.testing.assert_frame_equal(store.read(version=7), days.iloc[:7])


def test_missing_values_are_equal_to_missing_values(store, make_bars) -> None:
    close_only = make_bars(WEEK, volume=pd.NA, adj_close=np.nan)
    store.commit(close_only)
    assert store.commit(close_only).version == 1
    assert store.commit(make_bars(WEEK, volume=pd.NA)).revised == {"AAA": 5}


def test_volumes_above_two_to_the_53_survive_with_gaps_beside_them(store, make_bars) -> None:
    bars = make_bars(WEEK, volume=2**53 + 1)
    bars.loc[0, "volume"] = pd.NA
    store.commit(bars)
    assert store.read()["volume"].tolist()[1:] == [2**53 + 1] * 4


@pytest.mark.parametrize("symbol", ["NA", "TRUE", "1E5", "^GSPC", "../x", "A/B", "a'b", 'a"b', "%2e%2e", "ä\n"])
def test_symbols_are_data_and_never_paths_or_queries(store, make_bars, symbol) -> None:
    store.commit(pd.concat([make_bars(WEEK, symbol), make_bars(WEEK, "AAA")]))
    store.commit(make_bars({"2018-12-19": 1.5}, symbol, high=2.0, low=1.0))
    assert store.read(symbol)["close"].tolist() == [100.0, 101.0, 1.5, 103.0, 104.0]
    assert store.read("AAA")["close"].tolist() == list(WEEK.values())
    assert {path.name for path in store.root.parent.iterdir()} == {"store"}


def test_a_symbol_that_is_not_stored_is_unknown(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    assert store.read("AAA", start="2020-01-01").empty
    with pytest.raises(UnknownNameError, match=r"unknown symbol 'AAB'\. Did you mean 'AAA'"):
        store.read("AAB")


def test_a_version_that_does_not_exist_is_an_error(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    with pytest.raises(StoreError, match="no version 7; its versions are 0 to 1"):
        store.read(version=7)
    with pytest.raises(UnknownNameError, match="unknown table"):
        store.version("prices")


def test_rows_that_share_a_key_are_refused(store, make_bars) -> None:
    with pytest.raises(SchemaError, match="occurs twice"):
        store.commit(pd.concat([make_bars(WEEK), make_bars(WEEK)]))


def test_diff_says_by_symbol_what_changed(store, make_bars) -> None:
    store.commit(pd.concat([make_bars(WEEK, "A"), make_bars(WEEK, "B"), make_bars(WEEK, "C")]))
    restated = make_bars(WEEK, "B", adj_close=[50.0] * 5)
    store.commit(pd.concat([make_bars({"2018-12-24": 1.5}, "A", high=2.0, low=1.0), restated]))
    changes = store.diff(1, 2).set_index("symbol")
    assert changes["inserted"].to_dict() == {"A": 1, "B": 0}
    assert changes["revised"].to_dict() == {"A": 0, "B": 5}
    assert changes["columns"].to_dict() == {"A": "", "B": "adj_close"}
    assert changes.loc["A", "first"] == pd.Timestamp("2018-12-24")
    assert store.diff(2, 1).set_index("symbol")["removed"].to_dict() == {"A": 1, "B": 0}


def test_what_was_restated_between_two_versions_is_summed_up_by_series_and_kind(store, make_bars) -> None:
    store.commit(pd.concat([make_bars(WEEK, "A"), make_bars(WEEK, "B")]))
    store.commit(make_bars(WEEK, "B", adj_close=[50.0] * 5))
    store.commit(make_bars({"2018-12-24": 1.5}, "A", high=2.0, low=1.0))
    found = store.restated(1, 3)
    assert found[["symbol", "kind", "rows"]].to_numpy().tolist() == [["B", "dividend", 5]]
    assert store.restated(2, 3).empty


def test_a_version_does_not_differ_from_itself(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    assert [store.diff(version, version).empty for version in (0, 1)] == [True, True]


def test_last_bars_are_counted_in_sessions_of_each_symbol(store, make_bars) -> None:
    store.commit(pd.concat([make_bars(NEW_YEAR, "A"), make_bars(WEEK, "B")]))
    tail = store.last_bars("1d", ["A", "B", "C"], 3)
    assert tail.groupby("symbol")["session"].first().dt.strftime("%Y-%m-%d").to_dict() == {
        "A": "2018-12-31",
        "B": "2018-12-19",
    }


def test_quarantined_rows_are_kept_with_their_reason_and_only_once(store, make_bars) -> None:
    bars = make_bars(WEEK)
    bars.loc[1, "high"] = 90.0
    for _ in range(2):
        store.commit(*check_bars(bars, now=NOW))
    aside = store.quarantine()
    assert aside[["kind", "high"]].to_numpy().tolist() == [["high_below_low", 90.0]]
    assert aside.loc[0, "reason"] == "the high 90.0 is below the low 100.0"
    assert store.version("quarantine") == 1
    assert store.version("findings") == 1
    assert store.status().loc[0, ["rows", "findings"]].tolist() == [4, 2]


def test_findings_that_no_longer_hold_are_dropped(store, make_bars) -> None:
    gap = make_bars({"2018-12-17": 100.0, "2018-12-19": 102.0, "2018-12-20": 103.0, "2018-12-24": 104.0})
    store.commit(*check_bars(gap, now=NOW))
    assert store.findings()["reason"].tolist() == ["no bar for 2018-12-18", "no bar for 2018-12-21"]
    store.commit(*check_bars(make_bars({"2018-12-20": 103.0, "2018-12-21": 103.5, "2018-12-24": 104.0}), now=NOW))
    assert store.findings()["reason"].tolist() == ["no bar for 2018-12-18"]


def test_a_foreign_folder_is_refused_and_left_alone(tmp_path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StoreError, match="no fints store"):
        BarStore(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_became_foreign_after_opening_is_refused(tmp_path, make_bars) -> None:
    store = BarStore(tmp_path)
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StoreError, match="no fints store"):
        store.commit(make_bars(WEEK))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_in_the_place_of_the_store_is_refused(tmp_path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        BarStore(tmp_path / "store")


def test_a_store_of_another_format_is_refused(tmp_path) -> None:
    (tmp_path / "fints-store.json").write_text('{"format": 99}')
    with pytest.raises(StoreError, match="format 99"):
        BarStore(tmp_path)


def test_a_table_with_data_and_no_log_is_half_written(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    log = store.root / "bars" / "_delta_log"
    for entry in log.iterdir():
        entry.rename(entry.with_suffix(".lost"))
    before = sorted(path.name for path in (store.root / "bars").rglob("*"))
    for action in (store.read, lambda: store.commit(make_bars(WEEK))):
        with pytest.raises(StoreError, match="no transaction log"):
            action()
    assert "no transaction log" in " ".join(store.verify())
    assert sorted(path.name for path in (store.root / "bars").rglob("*")) == before


def test_a_damaged_log_is_an_error_and_not_an_empty_store(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    newest = store.root / "bars" / "_delta_log" / f"{1:020d}.json"
    newest.write_text('{"add": {"pa')
    for action in (store.read, lambda: store.commit(make_bars(WEEK))):
        with pytest.raises(StoreError, match="restore a damaged folder from a backup"):
            action()
    assert len(store.verify()) == 1


def test_a_lost_or_cut_data_file_is_found(store, make_bars) -> None:
    store.commit(make_bars(NEW_YEAR))
    first, second = sorted((store.root / "bars").rglob("*.parquet"))
    first.unlink()
    second.write_bytes(second.read_bytes()[:-20])
    problems = store.verify()
    assert len(problems) == 2
    assert all("cannot be read" in problem for problem in problems)


def test_a_row_stored_twice_is_found(store, make_bars) -> None:
    from fints.bars.layout import bars_to_arrow

    store.commit(make_bars(WEEK))
    store._bars.append(bars_to_arrow(make_bars({"2018-12-19": 102.0})))
    assert store.verify() == [f"{store.root / 'bars'}: 'AAA' 1d 2018-12-19 21:00:00+00:00 is stored twice"]


@pytest.fixture
def unprivileged(tmp_path):
    """A folder that may be read and not written, entered as a user without privileges."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield folder
    if root:
        os.seteuid(0)
    folder.chmod(0o755)
    folder.rmdir()


def test_a_read_only_folder_is_an_error_that_says_so(unprivileged, make_bars) -> None:
    store = BarStore(unprivileged)
    with pytest.raises(StoreError, match=r"permission denied|Permission denied"):
        store.commit(make_bars(WEEK))
    assert list(unprivileged.iterdir()) == []


def state(kind: str, session: str, value: float, source: str = "test") -> pd.DataFrame:
    row = {"symbol": "AAA", "session": session, "kind": kind, "value": value, "currency": "USD", "source": source}
    return conform_actions(pd.DataFrame([{**row, "fetched_at": NOW}]))


def test_actions_are_kept_with_their_versions(store, make_bars) -> None:
    stated = pd.concat([state("split", "2018-12-18", 4.0), state("dividend", "2018-12-18", 0.25)])
    store.commit(make_bars(WEEK), actions=stated)
    pd.testing.assert_frame_equal(store.actions(), conform_actions(stated))
    assert store.actions(["BBB"]).empty
    store.commit(make_bars(WEEK), actions=stated.assign(fetched_at=NOW + pd.Timedelta(days=1)))
    assert (store.version("actions"), store.version()) == (1, 1)
    store.commit(make_bars(WEEK), actions=state("dividend", "2018-12-18", 0.26))
    assert store.actions()[["kind", "value"]].to_numpy().tolist() == [["dividend", 0.26]]
    pd.testing.assert_frame_equal(store.actions(version=1), conform_actions(stated))
    assert store.verify() == []


def test_an_action_is_withdrawn_only_where_its_own_source_was_asked_again(store, make_bars) -> None:
    stated = pd.concat([state("split", "2018-12-17", 4.0), state("dividend", "2018-12-20", 0.25, "other")])
    store.commit(make_bars(WEEK), actions=stated)
    tail = make_bars({"2018-12-20": 103.0, "2018-12-21": 104.0})
    for told in (None, empty_actions()):
        store.commit(tail, actions=told)
        assert store.version("actions") == 1
    store.commit(make_bars(WEEK), actions=empty_actions())
    assert store.actions()["source"].tolist() == ["other"]


def test_a_row_brought_to_a_new_basis_does_not_widen_what_was_delivered(store, make_bars) -> None:
    gap = make_bars({"2018-12-17": 100.0, "2018-12-19": 102.0, "2018-12-20": 103.0})
    kept, findings = check_bars(gap, now=NOW)
    store.commit(kept, findings, actions=state("split", "2018-12-17", 4.0))
    rescaled = make_bars({"2018-12-17": 50.0})
    delivered = make_bars({"2018-12-20": 51.5, "2018-12-21": 52.0}, fetched_at=NOW)
    store.commit(pd.concat([rescaled, delivered]), actions=empty_actions())
    assert store.actions()["value"].tolist() == [4.0]
    assert store.findings()["reason"].tolist() == ["no bar for 2018-12-18"]


def test_a_store_of_before_there_were_actions_is_opened_and_completed(store, make_bars) -> None:
    store.commit(make_bars(WEEK))
    shutil.rmtree(store.root / "actions")
    again = BarStore(store.root)
    assert again.actions().empty
    again.commit(make_bars(WEEK), actions=state("split", "2018-12-18", 4.0))
    assert len(again.actions()) == 1
    assert again.verify() == []


@pytest.mark.parametrize(
    ("place", "delay"),
    [
        ("before the marker", 0),
        ("between the tables of a new store", 0),
        ("before the bars", 0),
        ("while the bars are written", 0.005),
    ],
)
def test_a_process_killed_anywhere_leaves_a_sound_store_and_the_next_run_completes(
    tmp_path, forkserver, place, delay
) -> None:
    process = forkserver.Process(target=killed.ingest, args=(place, str(tmp_path / "store"), delay))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    store = BarStore(tmp_path / "store")
    assert store.verify() == []
    source = SyntheticSource(SyntheticConfig(names=("AAA",), start="2018-12-03", end="2019-01-11"))
    ingest(source, store, symbols=None, now=pd.Timestamp("2019-01-11 12:00", tz="UTC"))
    expected = source.fetch(BarRequest("AAA", end=pd.Timestamp("2019-01-10"))).bars.drop(columns="fetched_at")
    pd.testing.assert_frame_equal(store.read().drop(columns="fetched_at"), expected)
    assert store.quarantine()["kind"].tolist() == ["not_final"]
    assert store.findings()["kind"].tolist() == ["not_final"]
    assert store.verify() == []


@pytest.mark.parametrize(
    ("place", "written"),
    [("before the findings", (1, 0, 0)), ("before the actions", (1, 1, 0)), ("before the bars", (1, 1, 1))],
)
def test_a_commit_killed_between_two_tables_is_completed_and_doubles_nothing(
    tmp_path, make_bars, forkserver, place, written
) -> None:
    bars, actions = make_bars(WEEK), state("split", "2018-12-18", 4.0)
    bars.loc[1, "high"] = 90.0
    for name, frame in (("bars", bars), ("actions", actions)):
        frame.to_pickle(tmp_path / name)
    paths = [str(tmp_path / name) for name in ("store", "bars", "actions")]
    process = forkserver.Process(target=killed.commit, args=(place, *paths))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    store = BarStore(tmp_path / "store")
    tables = ("quarantine", "findings", "actions")
    assert tuple(store.version(name) for name in tables) == written
    assert (store.version(), store.verify()) == (0, [])
    for _ in range(2):
        store.commit(*check_bars(bars), actions=actions)
        assert [store.version(name) for name in (*tables, "bars")] == [1, 1, 1, 1]
    assert (len(store.quarantine()), len(store.actions()), len(store.read())) == (1, 1, 4)
    assert store.verify() == []


def test_several_frames_are_committed_as_one_is(store, make_bars, tmp_path) -> None:
    frames = [make_bars(NEW_YEAR, symbol) for symbol in ("C", "A", "B")]
    revised = [make_bars(NEW_YEAR | {"2018-12-31": 99.0}, "A"), make_bars(NEW_YEAR | {"2019-01-04": 9.0}, "B")]
    other = BarStore(tmp_path / "other")
    for several in (frames, revised):
        assert store.commit(several) == other.commit(pd.concat(several, ignore_index=True))
    pd.testing.assert_frame_equal(store.read(), other.read())
    assert len(store.read()) == 13
    assert store.commit([]).version == 2
    assert store.verify() == []


def test_a_symbol_in_two_frames_is_refused_and_nothing_is_written(store, make_bars) -> None:
    with pytest.raises(SchemaError, match="'AAA' is in two bars frames"):
        store.commit([make_bars(WEEK), make_bars(NEW_YEAR, "B"), make_bars(NEW_YEAR)])
    assert store.version() == 0


def test_an_error_that_was_the_only_row_of_its_year_leaves_no_row_there(store, make_bars) -> None:
    closes = {"2017-12-29": 100.0, "2018-12-31": 201.0, "2019-01-02": 101.0, "2019-01-03": 102.0}
    odd = make_bars(closes, open=pd.Series(list(closes.values())))
    store.commit(odd.iloc[:2])
    commit = store.commit(*check_bars(odd, now=NOW))
    assert (commit.withdrawn, commit.inserted) == ({"AAA": 1}, {"AAA": 2})
    assert store.read()["close"].tolist() == [100.0, 101.0, 102.0]
    assert {file["partition.period"] for file in store._bars.files().values()} == {"2017", "2019"}
    assert store.verify() == []


def test_rows_are_read_through_no_file_system_of_pythons(tmp_path, make_bars):
    # Arrow's threads let go of one late: an interpreter that ended then aborted, in most runs of `fints doctor`
    BarStore(tmp_path / "store").commit([make_bars({"2018-12-28": 100.0}, symbol="AAA")])
    table = StoreTable(tmp_path / "store" / "bars", bars_schema(), BAR_PARTITIONS)
    through = table._dataset(None).filesystem
    assert not isinstance(through, PyFileSystem)
    assert isinstance(through.base_fs, LocalFileSystem)
