from __future__ import annotations

import pandas as pd

from fints.bars.arrivals import late_bars
from fints.bars.store import BarStore


def late(store: BarStore, before: int, now: int | None = None, symbols: tuple[str, ...] = ("AAA", "BBB")) -> list:
    found = late_bars(store.root, "1d", symbols, before, store.version() if now is None else now)
    return [(row.symbol, f"{row.session:%Y-%m-%d}") for row in found.itertuples()]


def test_a_bar_that_fills_a_hole_is_late_and_one_with_another_value_is_not(tmp_path, make_bars) -> None:
    store = BarStore(tmp_path / "store")
    first = store.commit(make_bars({"2018-12-03": 10.0, "2018-12-06": 12.0})).version
    store.commit(make_bars({"2018-12-04": 11.0, "2018-12-06": 12.5, "2018-12-07": 13.0}))
    assert late(store, first) == [("AAA", "2018-12-04"), ("AAA", "2018-12-07")]
    assert late(store, store.version()) == []
    assert late(store, 5, 2) == []


def test_a_first_delivery_and_longer_history_are_not_late(tmp_path, make_bars) -> None:
    store = BarStore(tmp_path / "store")
    first = store.commit(make_bars({"2018-12-04": 10.0, "2018-12-06": 12.0})).version
    store.commit(make_bars({"2018-12-04": 20.0, "2018-12-06": 22.0}, "BBB"))
    store.commit(make_bars({"2018-12-03": 9.0}))
    assert late(store, first) == []


def test_bars_that_came_in_several_versions_over_years_are_all_found(tmp_path, make_bars) -> None:
    """A revision of another year rewrites its partition; rows that only moved to another file have not come late."""
    store = BarStore(tmp_path / "store")
    first = store.commit(make_bars({"2017-12-27": 8.0, "2018-12-03": 10.0, "2018-12-06": 12.0})).version
    store.commit(make_bars({"2017-12-27": 8.5, "2017-12-28": 8.6}))
    store.commit(make_bars({"2018-12-04": 10.0}))
    store.commit(make_bars({"2018-12-03": 10.25}))
    assert late(store, first) == [("AAA", "2017-12-28"), ("AAA", "2018-12-04")]


def test_other_symbols_and_intervals_do_not_count(tmp_path, make_bars) -> None:
    store = BarStore(tmp_path / "store")
    first = store.commit(make_bars({"2018-12-03": 10.0})).version
    store.commit(make_bars({"2018-12-04": 11.0}))
    assert late(store, first, symbols=("BBB",)) == []
    assert late_bars(store.root, "1h", ["AAA"], first, store.version()).empty
    assert isinstance(late_bars(store.root, "1d", ["AAA"], first, 2)["end"].iloc[0], pd.Timestamp)
