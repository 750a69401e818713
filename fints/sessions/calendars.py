"""Exchange calendars: sessions, hours and closures, as known today or at any earlier date."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import CalendarError, DateError
from fints.sessions.library import dates_of, library
from fints.sessions.names import canonical_name
from fints.sessions.overrides import overrides, overrides_hash
from fints.sessions.table import CLOSE, LAST_YEAR, civil_day, events, known_state, session_table, year_of

if TYPE_CHECKING:
    from datetime import date

    from fints.sessions.table import SessionTable

    Dated = str | date | np.datetime64 | pd.Timestamp

SETTLE = pd.Timedelta("15min")  # late prints arrive until then
_MARGIN = 45  # days: longer than any closure of a living market (four months of 1914 are before our data)


@dataclass(frozen=True, slots=True)
class ExchangeCalendar:
    """Sessions of one exchange. Immutable, hashable, cheap to make; the tables behind it are kept per process.

    Attributes
    ----------
    mic : str
        Canonical name: ``"XNYS"``, ``"XLON"``, ``"24/7"``, ``"FX"`` …
    known_at : pandas.Timestamp or None
        Exchange-local date whose knowledge the calendar holds; None for everything known today.
    """

    mic: str
    known_at: pd.Timestamp | None = None

    @property
    def timezone(self) -> str:
        """IANA name of the exchange's time zone."""
        return library(self.mic).timezone

    @property
    def last_day(self) -> pd.Timestamp:
        """Last date that the calendar answers for."""
        return dates_of(np.array([calendar_range(self.mic)[1]]))[0]

    def as_known(self, at: Dated) -> ExchangeCalendar:
        """Return the calendar as it was known at a date or instant.

        Exceptions announced after `at` are undone: an ad-hoc closure becomes a session with its regular hours. What
        was announced on the day of `at` itself counts as known.

        Parameters
        ----------
        at : date, str or Timestamp
            A date, or an instant (with a time zone), which is taken as the exchange's local date.
        """
        day = self._day(at, "at")
        return replace(self, known_at=dates_of(np.array([day]))[0])

    def sessions(self, start: Dated, end: Dated) -> pd.DatetimeIndex:
        """Session dates from `start` to `end`, both included (naive, nanoseconds).

        Raises
        ------
        DateError
            If `start` is after `end` or either is no date.
        CalendarError
            If the calendar does not reach that far.
        """
        table, rows = self._rows(start, end)
        return dates_of(table.day[rows])

    def schedule(self, start: Dated, end: Dated) -> pd.DataFrame:
        """Hours of the sessions from `start` to `end`.

        Returns
        -------
        DataFrame
            Index ``session`` (naive); columns ``open, close, break_start, break_end`` (datetime64[ns, UTC], NaT where
            there is no break) and ``early_close`` (bool).
        """
        table, rows = self._rows(start, end)
        names = ("open", "close", "break_start", "break_end")
        frame = {name: utc_of(table.hours[rows, i]) for i, name in enumerate(names)}
        return pd.DataFrame(
            {**frame, "early_close": table.early[rows]}, index=dates_of(table.day[rows]).rename("session")
        )

    def is_session(self, date: Dated) -> bool:
        """Whether the exchange trades on a date."""
        return len(self.sessions(date, date)) == 1

    def session_on_or_before(self, date: Dated) -> pd.Timestamp:
        """Last session on or before a date."""
        day = self._checked(date)
        table = self.table(day - _MARGIN, day)
        row = int(np.searchsorted(table.day, day, side="right")) - 1
        if row < 0:
            raise CalendarError(f"{self.mic} has no session on or before {date}; ask for a later date")
        return dates_of(table.day[row : row + 1])[0]

    def next_sessions(self, after: Dated, n: int) -> pd.DatetimeIndex:
        """Return the `n` sessions strictly after a date.

        Raises
        ------
        CalendarError
            If the calendar ends before the n-th of them.
        """
        day = self._checked(after)
        reach = day + 2 * n + _MARGIN
        table = self.table(day, min(reach, civil_day(LAST_YEAR + 1) - 1))
        row = int(np.searchsorted(table.day, day, side="right"))
        found = table.day[row : row + n]
        if len(found):
            self._checked(dates_of(found[-1:])[0])
        if len(found) < n:
            raise CalendarError(f"{self.mic} lists only {len(found)} of {n} sessions after {after}; ask for fewer")
        return dates_of(found)

    def last_closed_session(self, instant: pd.Timestamp, settle: pd.Timedelta = SETTLE) -> pd.Timestamp:
        """Last session whose close, plus a delay for late prints, lies at or before an instant.

        Parameters
        ----------
        instant : Timestamp
            With a time zone.
        settle : Timedelta, default 15 minutes
            How long after the close a bar counts as final.

        Raises
        ------
        DateError
            If the instant has no time zone.
        CalendarError
            If the calendar does not reach that far.
        """
        moment = pd.Timestamp(instant)
        if pd.isna(moment) or moment.tz is None:
            raise DateError(f"{instant!r} is no instant: give it a time zone, as in pd.Timestamp(..., tz='UTC')")
        day = self._checked(moment)
        table = self.table(day - _MARGIN, day + 2)
        limit = (moment.tz_convert("UTC") - settle).as_unit("ns").value
        row = int(np.searchsorted(table.hours[:, CLOSE], limit, side="right")) - 1
        if row < 0:
            raise CalendarError(f"{self.mic} has no closed session at {instant}; ask for a later instant")
        return dates_of(table.day[row : row + 1])[0]

    def last_known_session(self, instant: pd.Timestamp, settle: pd.Timedelta = SETTLE) -> pd.Timestamp:
        """Last session that has closed and settled as far as is known: the last of all once the calendar is over.

        Some exchanges publish their holidays year by year; where nobody upgraded them, this still dates what is stored.

        Raises
        ------
        DateError
            If the instant has no time zone.
        CalendarError
            If the calendar begins later.
        """
        last = self.last_day
        if pd.Timestamp(instant).tz is not None and self._day(instant, "instant") > self._day(last, "date"):
            return self.session_on_or_before(last)
        return self.last_closed_session(instant, settle)

    def scheduled_closures(self, start: Dated, end: Dated) -> pd.DatetimeIndex:
        """Holidays by rule from `start` to `end`: trading weekdays without a session, ad-hoc closures left out."""
        first, last = self._checked(start), self._checked(end)
        closures = self.table(first, last).closures
        adhoc = np.array([event.day for event in events(self.mic) if event.kind == "closure"], dtype=np.int64)
        inside = closures[(closures >= first) & (closures <= last)]
        return dates_of(np.setdiff1d(inside, adhoc))

    def table(self, first: int, last: int) -> SessionTable:
        """Arrays of every session from `first` to `last` and more; civil days since 1970-01-01. For vectorised work."""
        known = None if self.known_at is None else self._day(self.known_at, "known_at")
        return session_table(self.mic, known_state(self.mic, known), first, last)

    def _rows(self, start: Dated, end: Dated) -> tuple[SessionTable, slice]:
        first, last = self._checked(start), self._checked(end)
        if first > last:
            raise DateError(f"{self.mic}: start {start} is after end {end}; swap them")
        table = self.table(first, last)
        low, high = np.searchsorted(table.day, [first, last + 1])
        return table, slice(int(low), int(high))

    def _day(self, date: Dated, name: str) -> int:
        try:
            stamp = pd.Timestamp(date)
        except (ValueError, TypeError) as error:
            raise DateError(f"{self.mic}: {name} {date!r} is not a date; write it as 2018-11-20") from error
        if pd.isna(stamp):
            raise DateError(f"{self.mic}: {name} is missing; give a date")
        local = stamp if stamp.tz is None else stamp.tz_convert(self.timezone).tz_localize(None)
        return int(local.to_datetime64().astype("datetime64[D]").astype(np.int64))

    def _checked(self, date: Dated) -> int:
        day = self._day(date, "date")
        first, last = calendar_range(self.mic)
        if not first <= day <= last:
            raise CalendarError(
                f"the calendar of {self.mic} is known from {np.datetime64(first, 'D')} to {np.datetime64(last, 'D')}, "
                f"not on {np.datetime64(day, 'D')}; ask for a date inside, or upgrade exchange-calendars"
            )
        return day


def utc_of(nanoseconds: np.ndarray) -> pd.DatetimeIndex:
    """UTC instants of nanoseconds since the epoch; the int64 minimum is NaT."""
    return pd.DatetimeIndex(np.asarray(nanoseconds, dtype=np.int64).astype("datetime64[ns]")).tz_localize("UTC")


@cache
def calendar_range(mic: str) -> tuple[int, int]:
    """First and last civil day that we answer for: the override file's range, else the package's bounds."""
    said = overrides(mic)
    low, high = library(mic).bounds
    if said.until_listed:
        high = _end_of_listed_year(mic)
    first = civil_day(1885) if low is None else int(low.to_datetime64().astype("datetime64[D]").astype(int))
    last = civil_day(2200) - 1 if high is None else int(high.to_datetime64().astype("datetime64[D]").astype(int))
    return (first if said.first is None else said.first, last if said.last is None else said.last)


def _end_of_listed_year(mic: str) -> pd.Timestamp:
    """Last day of the last year whose holidays the package lists one by one."""
    listed = library(mic).adhoc_closures()
    return pd.Timestamp(year=year_of(int(listed[-1])), month=12, day=31)


def get_calendar(exchange: str) -> ExchangeCalendar:
    """Return the canonical calendar of an exchange, with everything known today.

    Parameters
    ----------
    exchange : str
        A MIC or a common name, in any case: ``"XNYS"``, ``"nasdaq"``, ``"LSE"``, ``"24/7"``, ``"FX"`` …

    Raises
    ------
    UnknownNameError
        If no calendar has this name.
    CalendarError
        If the installed calendar packages are too old to know a day that we know.
    """
    return _calendar(canonical_name(exchange))


@cache
def _calendar(mic: str) -> ExchangeCalendar:
    from fints.sessions.known_days import check_exchange

    calendar = ExchangeCalendar(mic)
    check_exchange(calendar)
    return calendar


def calendar_version() -> str:
    """Versions of everything a calendar is made of, for the record of a forecast."""
    from importlib.metadata import version

    packages = f"pmc {version('pandas-market-calendars')} + xc {version('exchange-calendars')}"
    return f"{packages} + overrides {overrides_hash()}"


def check_known_days() -> None:
    """Check every day that we know for sure against the installed packages.

    `get_calendar` does it for its exchange at first use; this checks all of them.

    Raises
    ------
    CalendarError
        If one is wrong; the message names the day and the package to upgrade.
    """
    from fints.sessions.known_days import KNOWN_DAYS, check_exchange

    for mic in sorted({known.mic for known in KNOWN_DAYS}):
        check_exchange(ExchangeCalendar(mic))


__all__ = ["ExchangeCalendar", "calendar_range", "calendar_version", "check_known_days", "get_calendar"]
