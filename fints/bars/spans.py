"""Stored bars of many series, each within its own sessions, with few reads of few partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.layout import bars_from_arrow
from fints.bars.schema import empty_bars, sort_bars

if TYPE_CHECKING:
    from fints.bars.table import StoreTable


def spans_of(bars: pd.DataFrame) -> pd.DataFrame:
    """Return the sessions that bars cover: ``symbol, interval, first, last``, one row per series."""
    by = bars.groupby(["symbol", "interval"])["session"]
    return by.agg(first="min", last="max").reset_index()


def read_spans(table: StoreTable, spans: pd.DataFrame) -> pd.DataFrame:
    """Read bars, at least those of each series within its span.

    Parameters
    ----------
    table : StoreTable
        The table ``bars``.
    spans : pandas.DataFrame
        ``symbol, interval, first, last``. Series that begin in one year are read together, so that what is read lies
        in their partitions, and a night costs one read.

    Returns
    -------
    pandas.DataFrame
        Bars frame, sorted.
    """
    import pyarrow.compute as pc

    if spans.empty or not table.version():
        return empty_bars()
    parts = []
    for (interval, year), group in spans.groupby(["interval", spans["first"].dt.year]):
        first, last = group["first"].min(), group["last"].max()
        where = (pc.field("interval") == interval) & pc.field("symbol").isin(group["symbol"].to_list())
        where &= (pc.field("period") >= f"{year:04d}") & (pc.field("period") <= f"{last:%Y-%m}")
        where &= (pc.field("session") >= first.date()) & (pc.field("session") <= last.date())
        parts.append(bars_from_arrow(table.rows(where)))
    return sort_bars(pd.concat(parts, ignore_index=True))[0]
