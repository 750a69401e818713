"""Bars that came late: those that one version of the store has, an earlier one lacks, and that are not simply new.

A bar is late if its symbol had an earlier bar stored before: the first delivery of a symbol, and history from before
its first stored bar, are additions and not late. A bar that is stored with another value than before (a split, a
correction of the source) is a restatement and not late either: the night that used the earlier value forecast from what
was known then, and to make it again with what was learnt since would rewrite a promise instead of keeping it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow.compute as pc

from fints.bars.keys import compare_bars
from fints.bars.layout import BAR_PARTITIONS, bars_from_arrow, bars_schema
from fints.bars.table import StoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ARRIVAL_COLUMNS: Final = ("symbol", "session", "end")


def late_bars(root: Path, interval: str, symbols: Iterable[str], before: int, now: int) -> pd.DataFrame:
    """Return the bars that came late between two versions of the table ``bars``.

    Data files never change, so only those that one version has and the other lacks are read.

    Parameters
    ----------
    root : path
        Folder of the store.
    interval : str
    symbols : iterable of str
        As they are stored.
    before, now : int
        Versions; what ``now`` has and ``before`` lacks is wanted.

    Returns
    -------
    pandas.DataFrame
        ``symbol, session, end``, sorted by end and symbol.
    """
    table = StoreTable(root / "bars", bars_schema(), BAR_PARTITIONS)
    if before >= now:
        return _none()
    wanted = sorted(set(symbols))
    shared = table.files(before).keys() & table.files(now).keys()
    older, newer = (_of(table, wanted, interval, shared, version) for version in (before, now))
    come = newer.loc[compare_bars(newer, older).inserted, list(ARRIVAL_COLUMNS)]
    if come.empty:
        return _none()
    held = table.rows(
        (pc.field("interval") == interval) & pc.field("symbol").isin(sorted(come["symbol"].unique())),
        columns=["symbol", "end"],
        version=before,
    )
    first = held.group_by("symbol").aggregate([("end", "min")]).to_pandas().set_index("symbol")["end_min"]
    later = come["end"] > come["symbol"].map(first).astype(come["end"].dtype)  # False where there was none
    return come[later].sort_values(["end", "symbol"], ignore_index=True)


def _of(table: StoreTable, symbols: list[str], interval: str, shared: Iterable[str], version: int) -> pd.DataFrame:
    rows = table.rows_outside(shared, version=version)
    return bars_from_arrow(rows.filter((pc.field("interval") == interval) & pc.field("symbol").isin(symbols)))


def _none() -> pd.DataFrame:
    instants = pd.DatetimeIndex([], tz="UTC").as_unit("ns")
    return pd.DataFrame({"symbol": pd.Series([], dtype="str"), "session": instants.tz_localize(None), "end": instants})
