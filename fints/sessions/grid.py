"""The bars of a session: where each one starts and ends, never in a lunch break, right on half-days."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

from fints.errors import DateError, UnknownNameError
from fints.sessions.calendars import utc_of
from fints.sessions.library import NAT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from numpy.typing import NDArray

    from fints.sessions.calendars import ExchangeCalendar

    Dated = str | date | np.datetime64 | pd.Timestamp

Anchor = Literal["open", "clock"]
_DAY = 86_400_000_000_000
_MINUTES = (1, 2, 3, 5, 10, 15, 20, 30, 60, 90)
INTERVALS: Mapping[str, pd.Timedelta | None] = MappingProxyType(
    {
        **{f"{minutes}m": pd.Timedelta(minutes=minutes) for minutes in _MINUTES},
        **{f"{hours}h": pd.Timedelta(hours=hours) for hours in (1, 2, 3, 4, 6, 8, 12)},
        "1d": None,
    }
)


def parse_interval(text: str) -> pd.Timedelta | None:
    """Length of a bar.

    Parameters
    ----------
    text : str
        ``"1d"``, ``"1h"``, ``"30m"`` … as in the column ``interval`` of the bars.

    Returns
    -------
    Timedelta or None
        None for daily bars, which have no fixed length.

    Raises
    ------
    UnknownNameError
        If the interval does not exist.
    """
    key = str(text).strip().lower()
    if key not in INTERVALS:
        raise UnknownNameError("interval", str(text), INTERVALS)
    return INTERVALS[key]


def bar_grid(
    calendar: ExchangeCalendar,
    start: Dated,
    end: Dated,
    interval: str | pd.Timedelta | None,
    anchor: Anchor = "open",
) -> pd.DataFrame:
    """Every bar of the sessions from `start` to `end`, both included.

    Parameters
    ----------
    calendar : ExchangeCalendar
        Whose sessions; as known at a date if it is.
    start, end : date
        Session dates.
    interval : str, Timedelta or None
        ``"1d"`` or None for daily bars.
    anchor : {"open", "clock"}
        ``"open"``: bars step from the open, and again from the end of a break (09:30, 10:30 …);
        ``"clock"``: bars align on the exchange's wall clock, the first is cut at the open (09:30, 10:00 …).

    Returns
    -------
    DataFrame
        ``session`` (naive date), ``ds`` (the session date of a daily bar, the exchange-local naive start of an intraday
        one), ``start``, ``end`` (UTC), ``bar`` (0-based place in its session). Bars are cut at breaks and closes.
    """
    if anchor not in get_args(Anchor):
        raise UnknownNameError("anchor", str(anchor), get_args(Anchor))
    length = parse_interval(interval) if isinstance(interval, str) else interval
    schedule = calendar.schedule(start, end)
    if length is None:
        return _daily(schedule)
    return _intraday(schedule, calendar.timezone, length, anchor)


def _daily(schedule: pd.DataFrame) -> pd.DataFrame:
    sessions = pd.DatetimeIndex(schedule.index)
    return pd.DataFrame(
        {
            "session": sessions,
            "ds": sessions,
            "start": pd.DatetimeIndex(schedule["open"]),
            "end": pd.DatetimeIndex(schedule["close"]),
            "bar": np.zeros(len(sessions), dtype=np.int64),
        }
    )


def instants_of(column: pd.Series | pd.DatetimeIndex) -> NDArray[np.int64]:
    """Nanoseconds since the epoch of instants with a time zone, whatever their unit."""
    return np.asarray(pd.DatetimeIndex(column).tz_convert("UTC").tz_localize(None), "datetime64[ns]").astype(np.int64)


def local_of(nanoseconds: NDArray[np.int64], timezone: str) -> pd.DatetimeIndex:
    """Naive exchange-local time of instants."""
    return utc_of(nanoseconds).tz_convert(timezone).tz_localize(None)


def _intraday(schedule: pd.DataFrame, timezone: str, length: pd.Timedelta, anchor: Anchor) -> pd.DataFrame:
    step = length.as_unit("ns").value
    if not 0 < step < _DAY:
        raise UnknownNameError("interval", str(length), INTERVALS)
    columns = (instants_of(schedule[name]) for name in ("open", "close", "break_start", "break_end"))
    opens, closes, break_starts, break_ends = columns
    broken = break_starts != NAT
    rows = np.arange(len(opens))
    # Each session is one stretch of trading, or two around its break.
    order = np.argsort(np.concatenate([rows, rows[broken]]), kind="stable")
    row = np.concatenate([rows, rows[broken]])[order]
    first = np.concatenate([opens, break_ends[broken]])[order]
    last = np.concatenate([np.where(broken, break_starts, closes), closes[broken]])[order]
    offset = np.zeros_like(first)
    if anchor == "clock":
        local = instants_of(local_of(first, timezone).tz_localize("UTC"))
        offset = (local % _DAY) % step
    count = -((first - offset - last) // step)
    stretch = np.repeat(np.arange(len(first)), count)
    nth = np.arange(len(stretch)) - np.repeat(np.cumsum(count) - count, count)
    edge = first[stretch] - offset[stretch] + nth * step
    starts = np.maximum(edge, first[stretch])
    ends = np.minimum(edge + step, last[stretch])
    session = row[stretch]
    per_session = np.bincount(session, minlength=len(rows))
    bar = np.arange(len(session)) - np.repeat(np.cumsum(per_session) - per_session, per_session)
    return pd.DataFrame(
        {
            "session": pd.DatetimeIndex(schedule.index)[session],
            "ds": local_of(starts, timezone),
            "start": utc_of(starts),
            "end": utc_of(ends),
            "bar": bar.astype(np.int64),
        }
    )


def infer_anchor(
    calendar: ExchangeCalendar, interval: str | pd.Timedelta | None, ds: pd.Series | pd.DatetimeIndex
) -> Anchor:
    """Which anchor observed bars follow: the one whose grid holds more of their starts; ``"open"`` when level.

    Parameters
    ----------
    calendar : ExchangeCalendar
        Of the exchange.
    interval : str, Timedelta or None
        Of the bars; daily bars have no anchor and give ``"open"``.
    ds : Series or DatetimeIndex
        Exchange-local naive starts of observed bars. A first bar stamped with the full hour before the open counts for
        ``"clock"`` by the others of its day.
    """
    length = parse_interval(interval) if isinstance(interval, str) else interval
    observed = pd.DatetimeIndex(ds).as_unit("ns")[-5000:]
    if length is None or not len(observed):
        return "open"
    start, end = observed.min().normalize(), observed.max().normalize()
    hits = {
        anchor: int(observed.isin(pd.DatetimeIndex(bar_grid(calendar, start, end, length, anchor)["ds"])).sum())
        for anchor in get_args(Anchor)
    }
    return "clock" if hits["clock"] > hits["open"] else "open"


def future_bars(
    calendar: ExchangeCalendar,
    interval: str | pd.Timedelta | None,
    after: Dated,
    n: int,
    anchor: Anchor = "open",
) -> pd.DataFrame:
    """Return the `n` bars that follow the bar stamped `after`.

    Parameters
    ----------
    calendar : ExchangeCalendar
        As known at the forecast's date, so that closures not yet announced still get their bars.
    interval : str, Timedelta or None
        Of the bars.
    after : date or Timestamp
        ``ds`` of the last bar: a session date, or an exchange-local naive start.
    n : int
        How many.
    anchor : {"open", "clock"}
        As in `bar_grid`.

    Returns
    -------
    DataFrame
        As `bar_grid`.

    Raises
    ------
    DateError
        If `after` carries a time zone, is no date, or `n` is negative.
    CalendarError
        If the calendar ends before the n-th bar.
    """
    stamp = pd.Timestamp(after)
    if pd.isna(stamp) or stamp.tz is not None or n < 0:
        raise DateError(f"future bars after {after!r}, n={n}: give a naive exchange-local stamp and n ≥ 0")
    length = parse_interval(interval) if isinstance(interval, str) else interval
    if n == 0:
        return bar_grid(calendar, stamp.normalize(), stamp.normalize(), length, anchor).iloc[:0]
    if length is None:
        dates = calendar.next_sessions(stamp.normalize(), n)
        return bar_grid(calendar, dates[0], dates[-1], None, anchor)
    return _following(calendar, length, stamp, n, anchor)


def _following(
    calendar: ExchangeCalendar, length: pd.Timedelta, stamp: pd.Timestamp, n: int, anchor: Anchor
) -> pd.DataFrame:
    # A session may open on the evening before its date, so the bar's own session can be the next one.
    today = calendar.session_on_or_before(stamp.normalize())
    sessions, last = 0, today
    while True:
        grid = bar_grid(calendar, today, last, length, anchor)
        found = grid[grid["ds"] > stamp]
        if len(found) >= n:
            return found.iloc[:n].reset_index(drop=True)
        longest = int(grid["bar"].max()) + 1
        sessions += max(1, (n - len(found)) // longest)  # never further than needed: the calendar may end soon
        last = calendar.next_sessions(stamp.normalize(), sessions)[-1]


__all__ = ["INTERVALS", "Anchor", "bar_grid", "future_bars", "infer_anchor", "parse_interval"]
