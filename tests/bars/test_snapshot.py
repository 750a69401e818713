from __future__ import annotations

import json

import pandas as pd
import pytest

from fints.bars.actions import conform_actions
from fints.bars.snapshot import Snapshot, version_at
from fints.bars.store import BarStore
from fints.errors import DateError, UnknownNameError


def at(text: str) -> pd.Timestamp:
    return pd.Timestamp(text, tz="UTC")


def stamped(store: BarStore, table: str, moments: list[str]) -> None:
    """Let the versions of a table have been committed at given instants."""
    for version, moment in enumerate(moments):
        path = store.root / table / "_delta_log" / f"{version:020}.json"
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for line in lines:
            if "commitInfo" in line:
                line["commitInfo"]["timestamp"] = int(at(moment).value // 1_000_000)
        path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")


@pytest.fixture
def store(tmp_path, make_bars) -> BarStore:
    """Three versions of bars: 0 is empty."""
    held = BarStore(tmp_path / "store")
    held.commit(make_bars({"2018-12-03": 10.0}))
    held.commit(make_bars({"2018-12-04": 11.0}))
    held.commit(make_bars({"2018-12-03": 10.5}, "BBB"))
    return held


MOMENTS = ["2018-12-03 21:00", "2018-12-03 22:00", "2018-12-04 22:00", "2018-12-05 22:00"]


@pytest.mark.parametrize(
    ("moments", "asked", "version"),
    [
        (MOMENTS, "2018-12-04 21:59:59", 1),
        (MOMENTS, "2018-12-04 22:00", 2),
        (MOMENTS, "2019-01-01", 3),
        # far beyond the nanoseconds that an instant can be told in
        (MOMENTS, "2300-01-01", 3),
        (MOMENTS, "9999-12-31", 3),
        (MOMENTS, "1600-01-01", 0),
        # the clock was set back before version 2: it builds on version 1 and was not known before that
        (["2018-12-03 21:00", "2018-12-05 22:00", "2018-12-01 22:00", "2018-12-06 22:00"], "2018-12-04 22:00", 0),
        (["2018-12-03 21:00", "2018-12-05 22:00", "2018-12-01 22:00", "2018-12-06 22:00"], "2018-12-05 22:00", 2),
        # the clock ran ahead at version 2
        (["2018-12-03 21:00", "2018-12-03 22:00", "2031-12-04 22:00", "2018-12-05 22:00"], "2018-12-06 22:00", 1),
    ],
)
def test_a_version_is_known_once_it_and_all_before_it_were_committed(store, moments, asked, version) -> None:
    stamped(store, "bars", moments)
    if version:
        snapshot = Snapshot.known_at(store.root, at(asked))
        assert snapshot.bars_version == version
        pd.testing.assert_frame_equal(snapshot.read(), store.read(version=version))
    else:
        with pytest.raises(DateError, match="no bar had been stored"):
            Snapshot.known_at(store.root, at(asked))


def test_a_snapshot_reads_symbols_bars_and_actions_of_its_versions(store, make_bars) -> None:
    split = pd.DataFrame(
        [("AAA", "2018-12-04", "split", 2.0, "USD", "test", at("2018-12-05"))],
        columns=["symbol", "session", "kind", "value", "currency", "source", "fetched_at"],
    )
    store.commit(make_bars({"2018-12-06": 12.0}), actions=conform_actions(split))
    snapshot = Snapshot(store.root, 2, 0)
    assert snapshot.symbols() == ["AAA"]
    assert len(snapshot.read("AAA")) == 2
    assert snapshot.actions().empty
    assert len(store.actions()) == len(Snapshot(store.root, 2, 1).actions()) == 1
    with pytest.raises(UnknownNameError):
        snapshot.read("BBB")


def test_an_instant_has_a_time_zone(store) -> None:
    with pytest.raises(DateError, match="no instant"):
        Snapshot.known_at(store.root, pd.Timestamp("2018-12-05"))


def test_a_table_that_was_never_written_is_at_version_0(tmp_path) -> None:
    from fints.bars.action_table import ActionTable

    assert version_at(ActionTable.under(tmp_path).table, at("2030-01-01")) == 0
