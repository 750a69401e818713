"""The session table of one exchange: every day and hour in arrays, built by era and kept for the process.

A table covers whole eras of 30 years around 1970 without a hole, because the ordinal of a session counts from there.
What was known at a date is a table of its own; only the few exceptional days differ, so it is made from the same eras.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.errors import CalendarError
from fints.sessions.library import NAT, Hours, library, without_lost_breaks
from fints.sessions.overrides import Event, Kind, overrides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

OPEN, CLOSE, BREAK_START, BREAK_END = range(4)
FIRST_YEAR, LAST_YEAR = 1880, 2209
_ERA = 30  # years built in one go; 1970 starts one
_SATURDAY = 5
_DAY_KINDS: tuple[Kind, ...] = ("closure", "session")
_HOUR_KINDS: tuple[Kind, ...] = ("early_close", "late_open")
_USUAL = 0.5  # a weekday on more than half of whose dates in a year there is a session is a trading weekday


@dataclass(frozen=True, slots=True, eq=False)
class SessionTable:
    """Sessions of one exchange from `first` to `last` (civil days since 1970-01-01, both included).

    Attributes
    ----------
    day : (n,) int64
        Civil day of each session, ascending.
    hours : (n, 4) int64
        Open, close, break start, break end in nanoseconds since the epoch (UTC); `NAT` for no break.
    early : (n,) bool
        Whether the session closes before its usual time.
    closures : (m,) int64
        Days without a session on weekdays that usually have one: holidays.
    origin : int
        Row of the session whose ordinal is 0, the first on or after 1970-01-01.
    """

    first: int
    last: int
    day: NDArray[np.int64]
    hours: NDArray[np.int64]
    early: NDArray[np.bool_]
    closures: NDArray[np.int64]
    origin: int

    def shares(self, row: NDArray[np.int64], moments: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of a session's trading time that has passed: 0 up to its open, 1 from its close, still in a break.

        Parameters
        ----------
        row : (n,) int64
            Rows of the table.
        moments : (n,) int64
            Nanoseconds since the epoch.
        """
        opens, closes, starts, ends = self.hours[row].T
        clipped = np.clip(moments, opens, closes)
        rested = np.where(starts != NAT, np.clip(clipped, starts, ends) - starts, 0)
        return np.asarray((clipped - opens - rested) / trading_time(self.hours[row]), dtype=np.float64)


def trading_time(hours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nanoseconds of trading in sessions (n, 4), breaks left out."""
    pause = np.where(hours[:, BREAK_START] == NAT, 0, hours[:, BREAK_END] - hours[:, BREAK_START])
    return np.asarray(hours[:, CLOSE] - hours[:, OPEN] - pause, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Era:
    hours: Hours
    weekdays: NDArray[np.int64]  # civil days of trading weekdays


def civil_day(year: int) -> int:
    """Civil day since 1970-01-01 of the first of January."""
    return int(np.datetime64(f"{year:04d}-01-01", "D").astype(np.int64))


def year_of(day: int) -> int:
    """Calendar year of a civil day since 1970-01-01."""
    return 1970 + int(np.datetime64(day, "D").astype("datetime64[Y]").astype(np.int64))


@cache
def _era(mic: str, year: int) -> _Era:
    source = library(mic)
    first, last = civil_day(year), civil_day(year + _ERA) - 1
    days = source.sessions(first, last)
    return _Era(source.hours(days), _trading_weekdays(first, last, days))


def _trading_weekdays(first: int, last: int, sessions: NDArray[np.int64]) -> NDArray[np.int64]:
    every = np.arange(first, last + 1)
    key = _year_weekday(every)
    traded = np.bincount(_year_weekday(sessions) - key.min(), minlength=int(key.max() - key.min()) + 1)
    share = traded / np.maximum(np.bincount(key - key.min()), 1)
    usual: NDArray[np.int64] = every[share[key - key.min()] > _USUAL]
    return usual


def _year_weekday(days: NDArray[np.int64]) -> NDArray[np.int64]:
    years = days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64)
    key: NDArray[np.int64] = years * 7 + (days + 3) % 7
    return key


@cache
def events(mic: str) -> tuple[Event, ...]:
    """Every exceptional day of an exchange: the file's entries, then the package's own one-off days.

    A closure that the package lists one by one, not by a rule, and that has no entry counts as announced on its own
    day where the file says ``unlisted: surprise``; elsewhere it was known in advance, since many exchanges list their
    lunar holidays that way. The same holds for special hours whose rule is valid on a single day.
    """
    implied = _one_offs(mic) if overrides(mic).unlisted == "surprise" else _shared_with_new_york(mic)
    return tuple(sorted((*overrides(mic).events, *implied), key=lambda event: (event.day, event.kind)))


def _one_offs(mic: str) -> list[Event]:
    """Date what the package lists for single days, and the file does not speak of, by those days themselves."""
    said = overrides(mic)
    # Summer Saturdays were published ahead, so they are no exception.
    closed = [int(day) for day in library(mic).adhoc_closures() if (day + 3) % 7 < _SATURDAY]
    altered = library(mic).one_off_hours().tolist()
    found = [Event(day, day, "closure", "listed one by one by the calendar package") for day in closed]
    for kind in _HOUR_KINDS:
        found += [Event(day, day, kind, "one-off hours in the calendar package") for day in altered]
    spoken_of = {(event.day, event.kind) for event in said.events}
    return [e for e in found if e.day not in said.scheduled and (e.day, e.kind) not in spoken_of]


def _shared_with_new_york(mic: str) -> list[Event]:
    """Closures of other American markets on the days of New York's own exceptions, announced with them."""
    if not library(mic).timezone.startswith("America/"):
        return []
    listed = set(library(mic).adhoc_closures().tolist()) - {event.day for event in overrides(mic).events}
    return [event for event in overrides("XNYS").events if event.kind == "closure" and event.day in listed]


@cache
def _event_hours(mic: str) -> Hours:
    """Regular hours of every exceptional day, to put back what was not yet called off."""
    days = np.unique(np.array([event.day for event in events(mic)], dtype=np.int64))
    regular = library(mic).regular_hours(days)
    return Hours(days, regular, regular)


@cache
def announcements(mic: str) -> NDArray[np.int64]:
    """Civil days on which something became known, ascending."""
    return np.unique(np.array([event.announced for event in events(mic)], dtype=np.int64))


def known_state(mic: str, known_day: int | None) -> int:
    """Count the announcement days up to `known_day`: two dates with the same number know the same calendar."""
    days = announcements(mic)
    return len(days) if known_day is None else int(np.searchsorted(days, known_day, side="right"))


_shelf: dict[tuple[str, int], SessionTable] = {}


def forget(instead: Mapping[tuple[str, int], SessionTable] | None = None) -> dict[tuple[str, int], SessionTable]:
    """Drop everything made from the exceptional days, which have changed; return the tables that were held.

    Parameters
    ----------
    instead : mapping, optional
        Tables made from the days as they are now.
    """
    held = dict(_shelf)
    _shelf.clear()
    _shelf.update(instead or {})
    for made in (events, announcements, _event_hours):
        made.cache_clear()
    return held


def session_table(mic: str, state: int, first: int, last: int) -> SessionTable:
    """Return a table that covers the days `first` … `last`, as known in `state`.

    Parameters
    ----------
    mic : str
        Canonical exchange.
    state : int
        From `known_state`.
    first, last : int
        Civil days since 1970-01-01.

    Raises
    ------
    CalendarError
        If the days lie outside the years that any calendar covers.
    """
    held = _shelf.get((mic, state))
    if held is not None and held.first <= first and last <= held.last:
        return held
    if first < civil_day(FIRST_YEAR) or last >= civil_day(LAST_YEAR + 1):
        raise CalendarError(
            f"{mic}: {np.datetime64(first, 'D')} … {np.datetime64(last, 'D')} is outside {FIRST_YEAR}–{LAST_YEAR}, "
            "the years that calendars cover; ask for fewer years"
        )
    low = min(first, 0 if held is None else held.first)
    high = max(last, 0 if held is None else held.last)
    made = _assemble(mic, state, range(year_of(low) - (year_of(low) - 1970) % _ERA, year_of(high) + 1, _ERA))
    _shelf[mic, state] = made
    return made


def _assemble(mic: str, state: int, years: range) -> SessionTable:
    eras = [_era(mic, year) for year in years]
    first, last = civil_day(years[0]), civil_day(years[-1] + _ERA) - 1
    listed = Hours(
        *(np.concatenate([getattr(era.hours, name) for era in eras]) for name in ("day", "actual", "regular"))
    )
    inside = [event for event in events(mic) if first <= event.day <= last]
    days = announcements(mic)
    known_until = int(days[state - 1]) if state else -(10**9)
    days_right = _with_days(mic, listed, inside, known_until)
    actual = _with_times(mic, days_right, inside, known_until)
    weekdays = np.concatenate([era.weekdays for era in eras])
    return SessionTable(
        first=first,
        last=last,
        day=_frozen(days_right.day),
        hours=_frozen(actual),
        early=_frozen(actual[:, CLOSE] < days_right.regular[:, CLOSE]),
        closures=_frozen(np.setdiff1d(weekdays, days_right.day)),
        origin=int(np.searchsorted(days_right.day, 0)),
    )


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _with_days(mic: str, hours: Hours, inside: list[Event], known_until: int) -> Hours:
    """Drop the days that were known to be closed, and put back those that were not yet."""
    drop = [e.day for e in inside if (e.kind == "closure") == (e.announced <= known_until) and e.kind in _DAY_KINDS]
    add = [e.day for e in inside if (e.kind == "session") == (e.announced <= known_until) and e.kind in _DAY_KINDS]
    kept = ~np.isin(hours.day, np.array([*drop, *add], dtype=np.int64))
    spare = _event_hours(mic)
    rows = np.searchsorted(spare.day, np.array(sorted(set(add)), dtype=np.int64))
    day = np.concatenate([hours.day[kept], spare.day[rows]])
    order = np.argsort(day)
    regular = np.concatenate([hours.regular[kept], spare.regular[rows]])[order]
    actual = np.concatenate([hours.actual[kept], spare.regular[rows]])[order]
    return Hours(day[order], actual, regular)


def _with_times(mic: str, hours: Hours, inside: list[Event], known_until: int) -> NDArray[np.int64]:
    """Set special opens and closes that were known, and undo those that were not yet."""
    actual = hours.actual.copy()
    for event in inside:
        row = int(np.searchsorted(hours.day, event.day))
        if event.kind in _DAY_KINDS or row == len(hours.day) or hours.day[row] != event.day:
            continue
        column = CLOSE if event.kind == "early_close" else OPEN
        if event.announced > known_until:
            actual[row, column] = hours.regular[row, column]
            actual[row, BREAK_START:] = hours.regular[row, BREAK_START:]
        elif event.time is not None:
            actual[row, column] = _instant(event.day, event.time, library(mic).timezone)
    return without_lost_breaks(actual)


def _instant(day: int, minutes: int, timezone: str) -> int:
    local = pd.Timestamp(day, unit="D") + pd.Timedelta(minutes=minutes)
    return int(local.tz_localize(timezone).as_unit("ns").value)
