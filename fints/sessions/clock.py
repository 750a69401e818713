"""The four clocks: where a bar stands by index, by session, by civil day and by the second.

``session`` counts trading sessions: the first on or after 1970-01-01 is 0, earlier ones are negative. A daily bar
stands on its session's number n; an intraday bar in (n, n + 1] by how much of its session's trading time has passed at
its close, so that half-days stretch and breaks do not count. ``calendar`` counts exchange-local civil days, ``seconds``
is Unix time of the close.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import DateError
from fints.sessions.calendars import utc_of
from fints.sessions.grid import instants_of, local_of
from fints.sessions.library import NAT, dates_of, days_of
from fints.sessions.table import BREAK_END, BREAK_START, CLOSE, OPEN, trading_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.sessions.calendars import ExchangeCalendar
    from fints.sessions.table import SessionTable

_DAY = 86_400_000_000_000
_SECOND = 1_000_000_000
_MILLISECOND = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Places of n bars on the four clocks.

    Attributes
    ----------
    index : (n,) int64
        Running number of the bar.
    session : (n,) float64
        Session ordinal: whole for daily bars, in (n, n + 1] for intraday bars.
    calendar : (n,) float64
        Exchange-local civil days since 1970-01-01: whole for daily bars, with the close's share of the day otherwise.
    seconds : (n,) float64
        Unix time of the close in seconds, UTC.
    """

    index: NDArray[np.int64]
    session: NDArray[np.float64]
    calendar: NDArray[np.float64]
    seconds: NDArray[np.float64]


def places(bars: pd.DataFrame, calendar: ExchangeCalendar, *, first_index: int = 0) -> Places:
    """Places of bars on the four clocks.

    Parameters
    ----------
    bars : DataFrame
        As from `bar_grid`: ``session, ds, start, end``; all daily or all intraday.
    calendar : ExchangeCalendar
        Whose sessions count.
    first_index : int, default 0
        Index of the first bar.

    Raises
    ------
    DateError
        If a bar's session is none of the calendar's.
    """
    index = np.arange(first_index, first_index + len(bars), dtype=np.int64)
    if not len(bars):
        empty = np.empty(0, dtype=np.float64)
        return Places(index, empty, empty.copy(), empty.copy())
    closes = instants_of(bars["end"])
    seconds = closes / _SECOND
    days = days_of(bars["session"])
    if is_daily(bars, calendar):
        return Places(index, _ordinals(calendar, days).astype(np.float64), days.astype(np.float64), seconds)
    local = instants_of(local_of(closes, calendar.timezone).tz_localize("UTC"))
    civil = local // _DAY + (local % _DAY) / _DAY
    return Places(index, _places_in(calendar, days, closes), civil, seconds)


def is_daily(bars: pd.DataFrame, calendar: ExchangeCalendar) -> bool:
    """Whether bars are daily: stamped with their session's date, and longer than half of it.

    The length matters only where a session starts at midnight, as on ``24/7``.
    """
    if not np.array_equal(days_of(bars["session"]) * _DAY, _naive(bars["ds"])):
        return False
    spans = instants_of(bars["end"]) - instants_of(bars["start"])
    days = days_of(bars["session"])
    table = calendar.table(int(days.min()), int(days.max()))
    row = np.minimum(np.searchsorted(table.day, days), len(table.day) - 1)
    return bool(np.all(2 * spans > table.hours[row, CLOSE] - table.hours[row, OPEN]))


def _naive(column: pd.Series) -> NDArray[np.int64]:
    return np.asarray(pd.DatetimeIndex(column), "datetime64[ns]").astype(np.int64)


def session_ordinals(calendar: ExchangeCalendar, sessions: pd.DatetimeIndex) -> NDArray[np.int64]:
    """Ordinals of sessions: the first on or after 1970-01-01 is 0.

    Parameters
    ----------
    calendar : ExchangeCalendar
        Whose sessions count.
    sessions : DatetimeIndex, (n,)
        Session dates.

    Returns
    -------
    (n,) int64

    Raises
    ------
    DateError
        If a date is no session.
    """
    return _ordinals(calendar, days_of(sessions))


def ordinal_sessions(calendar: ExchangeCalendar, ordinals: NDArray[np.int64]) -> pd.DatetimeIndex:
    """Session dates of ordinals; the inverse of `session_ordinals`.

    Raises
    ------
    DateError
        If an ordinal is not whole.
    CalendarError
        If one lies beyond the years that the calendar covers.
    """
    numbers = np.asarray(ordinals)
    whole = numbers.astype(np.int64)
    if not np.array_equal(whole, numbers):
        raise DateError("session ordinals must be whole numbers; place_instants takes fractions")
    table = _covering(calendar, whole)
    return dates_of(table.day[whole + table.origin])


def session_places(calendar: ExchangeCalendar, instants: pd.DatetimeIndex) -> NDArray[np.float64]:
    """Places of instants on the session clock.

    Parameters
    ----------
    calendar : ExchangeCalendar
        Whose trading time passes.
    instants : DatetimeIndex, (n,)
        With a time zone.

    Returns
    -------
    (n,) float64
        n + (share of session n's trading time that has passed), in (n, n + 1] within it. The clock stands still in
        breaks and between sessions. Exact to 1 ms, which is what `place_instants` rounds to.
    """
    moments = instants_of(instants)
    if not len(moments):
        return np.empty(0, dtype=np.float64)
    if (moments == NAT).any():
        raise DateError(f"{calendar.mic}: an instant is missing (NaT); drop it")
    table = calendar.table(int(moments.min() // _DAY) - 1, int(moments.max() // _DAY) + 20)
    row = np.minimum(np.searchsorted(table.hours[:, CLOSE], moments), len(table.day) - 1)
    place: NDArray[np.float64] = table.shares(row, moments) + (row - table.origin)
    return place


def place_instants(calendar: ExchangeCalendar, places: NDArray[np.float64]) -> pd.DatetimeIndex:
    """Instants of places on the session clock, to the millisecond; the inverse of `session_places`.

    Parameters
    ----------
    calendar : ExchangeCalendar
        Whose trading time passes.
    places : (n,) float64
        As from `session_places`; a whole number n + 1 is the close of session n.

    Returns
    -------
    DatetimeIndex, (n,)
        UTC. Where the clock stood still, the earliest instant: a session's close, a break's start.
    """
    at = np.asarray(places, dtype=np.float64)
    if not np.isfinite(at).all():
        raise DateError(f"{calendar.mic}: a place on the session clock is not a finite number; drop it")
    number = np.ceil(at).astype(np.int64) - 1
    table = _covering(calendar, number)
    hours = table.hours[number + table.origin]
    passed = (at - number) * trading_time(hours)
    traded = np.rint(passed / _MILLISECOND).astype(np.int64) * _MILLISECOND
    morning = np.where(hours[:, BREAK_START] == NAT, hours[:, CLOSE], hours[:, BREAK_START]) - hours[:, OPEN]
    pause = np.where(traded > morning, hours[:, BREAK_END] - hours[:, BREAK_START], 0)
    return utc_of(hours[:, OPEN] + traded + pause)


def _ordinals(calendar: ExchangeCalendar, days: NDArray[np.int64]) -> NDArray[np.int64]:
    if not len(days):
        return np.empty(0, dtype=np.int64)
    table, row = _rows(calendar, days)
    return row - table.origin


def _places_in(calendar: ExchangeCalendar, days: NDArray[np.int64], moments: NDArray[np.int64]) -> NDArray[np.float64]:
    """Places of instants in sessions that are named, so that an evening's bar belongs to the right one."""
    table, row = _rows(calendar, days)
    return table.shares(row, moments) + (row - table.origin)


def _rows(calendar: ExchangeCalendar, days: NDArray[np.int64]) -> tuple[SessionTable, NDArray[np.int64]]:
    table = calendar.table(int(days.min()), int(days.max()))
    row = np.searchsorted(table.day, days)
    wrong = table.day[np.minimum(row, len(table.day) - 1)] != days
    if wrong.any():
        stray = dates_of(days[wrong][:1])[0]
        known = "" if calendar.known_at is None else f" as known on {calendar.known_at.date()}"
        raise DateError(
            f"{stray.date()} ({stray.day_name()}) is no session of {calendar.mic}{known}; drop the row, or use "
            "the exchange's own calendar"
        )
    return table, row


def _covering(calendar: ExchangeCalendar, ordinals: NDArray[np.int64]) -> SessionTable:
    """Return a table that holds these ordinals."""
    low, high = (int(ordinals.min()), int(ordinals.max())) if len(ordinals) else (0, 0)
    first, last = min(low, 0), max(high, 0)  # a session takes at least a day
    while True:
        table = calendar.table(first, last)
        missing_before, missing_after = -low - table.origin, high + table.origin - len(table.day) + 1
        if missing_before <= 0 and missing_after <= 0:
            return table
        first, last = table.first - max(missing_before, 0), table.last + max(missing_after, 0)
