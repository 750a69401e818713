"""The one place that talks to pandas-market-calendars (which mirrors exchange-calendars).

It answers three plain questions about one exchange: which days are sessions, what are their hours, and what would the
hours be if nothing special happened. Everything above works on the integers that leave this module: civil days since
1970-01-01 and nanoseconds since the Unix epoch.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.sessions.names import LIBRARY_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Dates = pd.DatetimeIndex | pd.Series | NDArray[Any] | list[pd.Timestamp]

NAT = np.iinfo(np.int64).min
_LIBRARY_COLUMNS = ("market_open", "market_close", "break_start", "break_end")
_SATURDAY = 5
_YEAR = 366  # a rule may move a holiday over the end of the range
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True, eq=False)
class Hours:
    """Hours of some days, in nanoseconds since the Unix epoch (UTC); `NAT` where there is none.

    Attributes
    ----------
    day : (n,) int64
        Civil days since 1970-01-01.
    actual, regular : (n, 4) int64
        Open, close, break start, break end: as they were, and as they would be without special times.
    """

    day: NDArray[np.int64]
    actual: NDArray[np.int64]
    regular: NDArray[np.int64]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the deprecation chatter of the calendar packages away from the user: it is not about us."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def days_of(index: Dates) -> NDArray[np.int64]:
    """Civil days since 1970-01-01 of dates in any unit; a time zone is dropped, not converted."""
    naive = pd.DatetimeIndex(index)
    naive = naive.tz_localize(None) if naive.tz is not None else naive
    return naive.to_numpy().astype("datetime64[D]").astype(np.int64)


def dates_of(days: NDArray[np.int64]) -> pd.DatetimeIndex:
    """Naive nanosecond dates of civil days since 1970-01-01."""
    return pd.DatetimeIndex(np.asarray(days, dtype=np.int64).astype("datetime64[D]").astype("datetime64[ns]"))


def _nanoseconds(column: Dates) -> NDArray[np.int64]:
    utc = pd.DatetimeIndex(column)
    utc = utc.tz_convert("UTC").tz_localize(None) if utc.tz is not None else utc
    return utc.to_numpy().astype("datetime64[ns]").astype(np.int64)


def _mend_orthodox_easter() -> None:
    """Let exchange-calendars 4.13 add its Orthodox Easter under pandas 3.1, which renamed the method that it overrides.

    Without it the calendars of Athens, Belgrade, Bucharest and Nicosia cannot be built.
    """
    from exchange_calendars.pandas_extensions.offsets import OrthodoxEaster

    if hasattr(OrthodoxEaster, "_add_datetime") and "_add_datetime" not in vars(OrthodoxEaster):
        OrthodoxEaster._add_datetime = OrthodoxEaster._apply  # noqa: SLF001


class Library:
    """Days and hours of one exchange as the installed packages know them."""

    def __init__(self, mic: str) -> None:
        import pandas_market_calendars as pmc

        _mend_orthodox_easter()
        with _quiet():
            self._calendar = pmc.get_calendar(LIBRARY_NAMES.get(mic, mic))
        if "market_close" not in self._calendar.market_times:  # the mirror drops close times that are computed (XSGO)
            self._calendar.add_time("market_close", self._calendar._ec.close_times)  # noqa: SLF001
        self._mic = mic
        # Where weekdays changed some day (New York, Tel Aviv), the class has its own way to list days, from 1970 on.
        self._counts_itself = type(self._calendar).valid_days is not pmc.MarketCalendar.valid_days
        self.timezone = str(self._calendar.tz)

    @property
    def bounds(self) -> tuple[pd.Timestamp | None, pd.Timestamp | None]:
        """First and last date for which exchange-calendars vouches; None where it sets no limit."""
        source = getattr(self._calendar, "_ec_class", None)
        return (None, None) if source is None else (source.bound_min(), source.bound_max())

    def sessions(self, first: int, last: int) -> NDArray[np.int64]:
        """Civil days of the sessions from `first` to `last`, both included."""
        with _quiet():
            days = np.setdiff1d(self._usual_days(first, last), self._rule_holidays(first, last))
            if self._mic == "FX":  # the package adds a Sunday session; its hours belong to Monday's
                days = days[(days + 3) % 7 < _SATURDAY]
        return np.setdiff1d(days, self.adhoc_closures())

    def _usual_days(self, first: int, last: int) -> NDArray[np.int64]:
        if self._counts_itself:
            return days_of(self._calendar.valid_days(*dates_of(np.array([first, last]))))
        every = np.arange(first, last + 1)
        trading = [name in str(self._calendar.weekmask).split() for name in _WEEKDAYS]
        usual: NDArray[np.int64] = every[np.array(trading)[(every + 3) % 7]]
        return usual

    def _rule_holidays(self, first: int, last: int) -> NDArray[np.int64]:
        # Asked for their own 230 years, as the package does, the lunar rules of Seoul take ten seconds.
        rules = self._calendar.regular_holidays
        if (self._counts_itself and first >= 0) or rules is None or not getattr(rules, "rules", None):
            return np.empty(0, dtype=np.int64)
        return days_of(rules.holidays(*dates_of(np.array([first - _YEAR, last + _YEAR]))))

    def hours(self, days: NDArray[np.int64]) -> Hours:
        """Actual and regular hours of given days."""
        if not len(days):
            return Hours(days, _stacked({}, 0), _stacked({}, 0))
        with _quiet():
            schedule = self._calendar.schedule_from_days(dates_of(days))
        return Hours(days, _stacked(schedule, len(days)), self.regular_hours(days))

    def regular_hours(self, days: NDArray[np.int64]) -> NDArray[np.int64]:
        """Hours (n, 4) of given days if nothing special happened on them."""
        dates = dates_of(days)
        with _quiet():
            times = {name: self._calendar.days_at_time(dates, name) for name in self._columns}
        return _stacked(times, len(days))

    @property
    def _columns(self) -> list[str]:
        return [name for name in _LIBRARY_COLUMNS if name in self._calendar.market_times]

    def adhoc_closures(self) -> NDArray[np.int64]:
        """Civil days that the package lists one by one as closed, not by a rule."""
        with _quiet():
            listed = self._calendar.adhoc_holidays
        dates = [pd.Timestamp(day).tz_localize(None) for day in listed]
        return np.unique(days_of(dates)) if dates else np.empty(0, dtype=np.int64)

    def one_off_hours(self) -> NDArray[np.int64]:
        """Civil days whose special open or close stands in a rule that holds on that one day only."""
        with _quiet():
            calendars = [entry[1] for entry in (*self._calendar.special_opens, *self._calendar.special_closes)]
        rules = [rule for calendar in calendars for rule in getattr(calendar, "rules", ())]
        dates = [rule.start_date for rule in rules if rule.start_date is not None and rule.start_date == rule.end_date]
        return np.unique(days_of(dates)) if dates else np.empty(0, dtype=np.int64)


def _stacked(times: Mapping[str, Any] | pd.DataFrame, n: int) -> NDArray[np.int64]:
    """Stack the four columns; breaks that a short session swallows are dropped."""
    out = np.full((n, len(_LIBRARY_COLUMNS)), NAT, dtype=np.int64)
    for i, name in enumerate(_LIBRARY_COLUMNS):
        if name in times:
            out[:, i] = _nanoseconds(times[name])
    return without_lost_breaks(out)


def without_lost_breaks(hours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hours (n, 4) in which a break outside, or at the edge of, the session is none."""
    opens, closes, starts, ends = hours.T
    lost = (starts != NAT) & ((starts <= opens) | (ends >= closes) | (starts >= ends))
    hours[lost, 2:] = NAT
    return hours


@cache
def library(mic: str) -> Library:
    """Return the library for a canonical exchange, made once per process."""
    return Library(mic)
