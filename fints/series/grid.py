"""Where rows of a series stand in their exchange's trading time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import SeriesError
from fints.series.rows import named_dates, series_rows
from fints.sessions import bar_grid, get_calendar, infer_anchor, parse_interval

if TYPE_CHECKING:
    from datetime import date

    from numpy.typing import NDArray

    from fints.sessions import Anchor, ExchangeCalendar

    Instant = str | date | pd.Timestamp

_ANCHOR_SAMPLE = 500
_DAY = pd.Timedelta(days=1)
_TICK = pd.Timedelta(1, "ns")


def panel_bars(series: pd.DataFrame, calendar: ExchangeCalendar) -> pd.DataFrame:
    """Sessions, opens and closes of the rows of one series.

    Parameters
    ----------
    series : pandas.DataFrame
        Rows of one ``unique_id`` in time order; ``ds`` and ``interval`` are read.
    calendar : ExchangeCalendar
        Calendar of the series' exchange.

    Returns
    -------
    pandas.DataFrame
        One row per row of `series`, with its index: ``session``, ``ds`` (naive), ``start``, ``end`` (UTC), ``bar``.

    Raises
    ------
    SeriesError
        If a row lies outside every session of the calendar, or two rows lie in one bar.
    """
    if series.empty:
        raise SeriesError("the series has no rows, so it has no bars; give at least one row")
    interval = str(series["interval"].iloc[0])
    ds = pd.DatetimeIndex(series["ds"]).as_unit("ns")
    name = str(series["unique_id"].iloc[0]) if "unique_id" in series else calendar.mic
    bars = locate(ds, calendar, interval, series_anchor(ds, calendar, interval), name)
    _require_one_row_per_bar(bars, ds, name)
    return bars.set_axis(series.index)


def series_anchor(ds: pd.DatetimeIndex, calendar: ExchangeCalendar, interval: str) -> Anchor:
    """How the bars of one series are aligned, judged by its latest ones; daily bars count as ``"open"``."""
    if parse_interval(interval) is None:
        return "open"
    return _anchor(calendar, interval, ds[-_ANCHOR_SAMPLE:].to_numpy("datetime64[ns]").tobytes())


@lru_cache(maxsize=256)
def _anchor(calendar: ExchangeCalendar, interval: str, stamps: bytes) -> Anchor:
    """Alignment of stamps in nanoseconds; most series of a panel share theirs, and it takes two grids to tell."""
    return infer_anchor(calendar, interval, pd.DatetimeIndex(np.frombuffer(stamps, dtype="datetime64[ns]")))


@dataclass(frozen=True, slots=True)
class Located:
    """Bars shared by the series of one exchange and one alignment.

    Parameters
    ----------
    calendar : ExchangeCalendar
        The exchange.
    rows : numpy.ndarray of int, shape (n,)
        Row numbers in the panel.
    bars : pandas.DataFrame, shape (m, 5)
        The distinct bars, in time order: ``session, ds, start, end, bar``.
    bar_of_row : numpy.ndarray of int, shape (n,)
        Which of `bars` each row is.
    """

    calendar: ExchangeCalendar
    rows: NDArray[np.intp]
    bars: pd.DataFrame
    bar_of_row: NDArray[np.intp]


def located(panel: pd.DataFrame, known_at: Instant | None = None) -> list[Located]:
    """Bars of every row of a panel, found once per exchange and alignment however many series share them.

    Parameters
    ----------
    panel : pandas.DataFrame
        Rows sorted by ``unique_id, ds``; ``exchange`` and ``interval`` are read too.
    known_at : date or instant, optional
        Calendars as known then.

    Raises
    ------
    SeriesError
        If a row lies outside every session of its exchange, or two rows of a series lie in one bar.
    """
    ds = pd.DatetimeIndex(panel["ds"]).as_unit("ns")
    interval = str(panel["interval"].iloc[0])
    groups: dict[tuple[str, Anchor], dict[str, NDArray[np.intp]]] = {}
    for uid, rows in series_rows(panel).items():
        exchange = str(panel["exchange"].iloc[rows[0]])  # of the whole column, an object would be made for each row
        anchor = series_anchor(ds[rows], get_calendar(exchange), interval)
        groups.setdefault((exchange, anchor), {})[uid] = rows
    found = []
    for (exchange, anchor), series in groups.items():
        calendar = known_calendar(exchange, known_at)
        rows = np.concatenate(list(series.values()))
        stamps, bar_of_row = np.unique(ds.to_numpy()[rows], return_inverse=True)
        each = {uid: ds[own] for uid, own in series.items()}
        bars = _shared_bars(pd.DatetimeIndex(stamps), calendar, (interval, anchor), each)
        found.append(Located(calendar, rows, bars, bar_of_row))
    return found


def known_calendar(exchange: str, known_at: Instant | None) -> ExchangeCalendar:
    """Calendar of an exchange, as known today or at an earlier date or instant."""
    calendar = get_calendar(exchange)
    return calendar if known_at is None else calendar.as_known(known_at)


def locate(ds: pd.DatetimeIndex, calendar: ExchangeCalendar, interval: str, anchor: Anchor, name: str) -> pd.DataFrame:
    """Bars of the calendar that hold the given stamps.

    Parameters
    ----------
    ds : pandas.DatetimeIndex, shape (n,)
        Increasing stamps: session dates, or exchange-local bar starts.
    calendar : ExchangeCalendar
        The exchange.
    interval : str
        ``"1d"``, ``"1h"`` …
    anchor : {"open", "clock"}
        Alignment of intraday bars.
    name : str
        Series or exchange, for messages.

    Returns
    -------
    pandas.DataFrame
        Columns ``session, ds, start, end, bar``, one row per stamp. An intraday stamp inside a bar of the grid takes
        that bar's start and end and keeps its own ``ds``.

    Raises
    ------
    SeriesError
        If a stamp lies outside every session.
    """
    length = parse_interval(interval)
    daily = length is None
    # a session may start the evening before the date that names it
    margin = pd.Timedelta(0) if daily else _DAY
    end = min(ds[-1].normalize() + margin, calendar.last_day)
    grid = bar_grid(calendar, ds[0].normalize() - margin, end, interval, anchor)
    first = last = pd.DatetimeIndex(grid["ds"])
    if not daily:
        last = pd.DatetimeIndex(grid["end"]).tz_convert(calendar.timezone).tz_localize(None) - _TICK
    if anchor == "clock" and length is not None:
        # vendors stamp the bar that the open cuts short with the full hour
        first = first.floor(length)
    at = np.asarray(first.searchsorted(ds, side="right")) - 1
    outside = at < 0
    if len(grid):
        outside |= ds > last[np.maximum(at, 0)]
    if outside.any():
        raise SeriesError(_outside_message(name, ds[outside], calendar, interval))
    bars: pd.DataFrame = grid.iloc[at].assign(ds=np.asarray(ds))
    return bars[["session", "ds", "start", "end", "bar"]].reset_index(drop=True)


def _shared_bars(
    stamps: pd.DatetimeIndex,
    calendar: ExchangeCalendar,
    kind: tuple[str, Anchor],
    series: dict[str, pd.DatetimeIndex],
) -> pd.DataFrame:
    """Bars of the union of many series' stamps; an error names the series that caused it."""
    interval, anchor = kind
    try:
        bars = locate(stamps, calendar, interval, anchor, calendar.mic)
    except SeriesError:
        for uid, ds in series.items():
            locate(ds, calendar, interval, anchor, uid)
        raise
    if interval != "1d":
        for uid, ds in series.items():
            _require_one_row_per_bar(bars.iloc[stamps.searchsorted(ds)], ds, uid)
    return bars


def _require_one_row_per_bar(bars: pd.DataFrame, ds: pd.DatetimeIndex, name: str) -> None:
    """Refuse two stamps of one series in the same bar, which means that its interval is not the one it states.

    Raises
    ------
    SeriesError
        Naming the two stamps.
    """
    starts = pd.DatetimeIndex(bars["start"]).tz_convert("UTC").tz_localize(None).to_numpy()
    twice = np.flatnonzero(starts[1:] == starts[:-1])
    if len(twice):
        both = named_dates(ds[twice[0] : twice[0] + 2])
        raise SeriesError(f"{name}: two rows lie in one bar ({both}); state the interval that the bars really have")


def _outside_message(name: str, ds: pd.DatetimeIndex, calendar: ExchangeCalendar, interval: str) -> str:
    what = "is no session" if interval == "1d" else f"lies in no session ({calendar.timezone} bar starts expected)"
    return (
        f"{name}: {named_dates(ds)} {what} of {calendar.mic}; remove such rows, or name the exchange and interval they "
        'come from, as in validate_panel(panel, exchange="XLON", interval="1d") or in the columns of the same names'
    )
