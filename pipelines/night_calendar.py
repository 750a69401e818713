"""When nights are, with several exchanges: one for each date on which any of them had a session.

The as-of of a night is an instant in UTC, and each exchange takes its last session that was final then. The night of a
date is over, and is caught up as of, the latest close of the date's sessions plus the delay after which bars are final
(``settle``); around the clock a session closes at midnight UTC. A run that comes earlier, say after Tokyo's close and
before New York's, is still the night of that date: as of the newest close that was final.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.sessions import bar_grid, get_calendar, parse_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

_DAY: Final = pd.Timedelta(days=1)
_REACH: Final = 30 * _DAY  # longer than any market rests


@dataclass(frozen=True, slots=True)
class Slot:
    """The night of one date.

    Parameters
    ----------
    date : pandas.Timestamp
        Naive; of its sessions.
    after : pandas.Timestamp
        When the night before was over, UTC; every as-of later than this and not later than `until` is this night's.
    until : pandas.Timestamp
        When this one is over.
    """

    date: pd.Timestamp
    after: pd.Timestamp
    until: pd.Timestamp


@dataclass(frozen=True, slots=True)
class NightCalendar:
    """Nights of series on some exchanges.

    Parameters
    ----------
    exchanges : tuple of str
    interval : str
    settle : pandas.Timedelta
        A bar is final this long after its close.
    """

    exchanges: tuple[str, ...]
    interval: str
    settle: pd.Timedelta

    @classmethod
    def of(cls, exchanges: Iterable[str], interval: str, settle: pd.Timedelta) -> NightCalendar:
        """Return the calendar of the distinct exchanges, in order."""
        return cls(tuple(sorted(set(map(str, exchanges)))), interval, settle)

    def as_of(self, now: pd.Timestamp) -> pd.Timestamp:
        """Return the instant at which the newest bar that is final now became so: what tonight is run as of.

        All runs between two closes have the same, so that one repeated is known to be done.
        """
        return max(self._newest(exchange, now) for exchange in self.exchanges)

    def last_of(self, moment: pd.Timestamp) -> pd.Timestamp:
        """Return when the night of the date that an as-of belongs to is over."""
        ends = self._ends(moment - _REACH, moment + _REACH)
        return pd.Timestamp(ends.iloc[int(ends.searchsorted(moment))])

    def between(self, last: pd.Timestamp, tonight: pd.Timestamp) -> list[Slot]:
        """Return the nights after the one of an as-of and before the one of another, oldest first.

        Parameters
        ----------
        last, tonight : pandas.Timestamp
            Instants in UTC.
        """
        if tonight <= last:
            return []
        ends = self._ends(last - _REACH, tonight + _REACH)
        first, stop = (int(ends.searchsorted(moment)) for moment in (last, tonight))
        dates, untils = ends.index, list(ends)
        return [Slot(dates[i], untils[i - 1], untils[i]) for i in range(first + 1, stop)]

    def _ends(self, first: pd.Timestamp, last: pd.Timestamp) -> pd.Series:
        """Return when the night of each date is over, by date."""
        closes = []
        for exchange in self.exchanges:
            calendar = get_calendar(exchange)
            until = min(last.tz_localize(None).normalize(), calendar.last_day)
            closes.append(calendar.schedule(first.tz_localize(None).normalize(), until)["close"])
        ends: pd.Series = pd.concat(closes).groupby(level=0).max() + self.settle
        return ends

    def _newest(self, exchange: str, now: pd.Timestamp) -> pd.Timestamp:
        calendar = get_calendar(exchange)
        last = calendar.last_closed_session(now, self.settle)
        newest = pd.Timestamp(calendar.schedule(last, last)["close"].iloc[0])
        if parse_interval(self.interval) is not None:
            until = min(now.tz_localize(None).normalize() + 2 * _DAY, calendar.last_day)
            ends = bar_grid(calendar, last, until, self.interval)["end"]
            newest = max(newest, ends[ends + self.settle <= now].max())
        return newest + self.settle
