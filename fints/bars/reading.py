"""Ways to read the table of bars: by symbol and dates, or the last sessions of each symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.layout import bars_from_arrow
from fints.bars.schema import sort_bars

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fints.bars.table import StoreTable

    Day = str | pd.Timestamp | None


def read_bars(
    table: StoreTable, interval: str, symbols: Iterable[str] | None, dates: tuple[Day, Day], version: int | None
) -> pd.DataFrame:
    """Read the bars of one interval, sorted by symbol and end.

    Parameters
    ----------
    table : StoreTable
        The table ``bars``.
    interval : str
        Bar interval.
    symbols : iterable of str or None
        None takes all.
    dates : pair of date or None
        First and last session, inclusive.
    version : int or None
        None takes the newest.
    """
    import pyarrow.compute as pc

    where = pc.field("interval") == interval
    start, end = dates
    if symbols is not None:
        where &= pc.field("symbol").isin(list(symbols))
    if start is not None:
        where &= pc.field("session") >= pd.Timestamp(start).date()
        where &= pc.field("period") >= f"{pd.Timestamp(start):%Y}"
    if end is not None:
        where &= pc.field("session") <= pd.Timestamp(end).date()
        where &= pc.field("period") <= f"{pd.Timestamp(end):%Y-%m}"
    bars, _ = sort_bars(bars_from_arrow(table.rows(where, version=version)))
    return bars


def read_last(table: StoreTable, interval: str, symbols: Iterable[str], sessions: int) -> pd.DataFrame:
    """Read the bars of the last sessions of each symbol that is stored.

    Only as many partitions are read, from the newest, as are needed to find them.

    Parameters
    ----------
    table : StoreTable
        The table ``bars``.
    interval : str
        Bar interval.
    symbols : iterable of str
        Symbols wanted; those without bars are absent from the answer.
    sessions : int
        Number of sessions, counted per symbol over those that have bars.
    """
    import pyarrow.compute as pc

    pending = set(symbols)
    parts = {f["partition.period"] for f in table.files().values() if f["partition.interval"] == interval}
    found: list[pd.DataFrame] = []
    for period in sorted(parts, reverse=True) if pending else ():
        here = (pc.field("interval") == interval) & (pc.field("period") == period)
        found.append(bars_from_arrow(table.rows(here & pc.field("symbol").isin(sorted(pending)))))
        seen = pd.concat([f[["symbol", "session"]] for f in found]).drop_duplicates().value_counts("symbol")
        pending -= set(seen.index[seen >= sessions])
        if not pending:
            break
    if not found:
        return bars_from_arrow(table.schema.empty_table())
    bars, _ = sort_bars(pd.concat(found, ignore_index=True))
    rank = bars.groupby("symbol")["session"].rank(method="dense", ascending=False)
    return bars[rank <= sessions].reset_index(drop=True)


def read_contents(table: StoreTable) -> pd.DataFrame:
    """Return span, size and origin of each series: ``exchange, first, last, rows, source, fetched_at`` by series."""
    columns = ["symbol", "interval", "exchange", "session", "source", "fetched_at"]
    rows: pd.DataFrame = table.rows(columns=columns).to_pandas(date_as_object=False)
    return (
        rows.sort_values("session", kind="stable")
        .groupby(["symbol", "interval"])
        .agg(
            exchange=("exchange", "last"),
            first=("session", "min"),
            last=("session", "max"),
            rows=("session", "size"),
            source=("source", "last"),
            fetched_at=("fetched_at", "max"),
        )
    )
