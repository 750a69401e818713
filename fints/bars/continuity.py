"""Checks of bars against the exchange's calendar: rows off the grid, bars not yet final, sessions and bars missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.finding import Finding
from fints.bars.schema import utc_stamps
from fints.sessions.calendars import get_calendar
from fints.sessions.grid import bar_grid, infer_anchor, parse_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

LONG_HOLE: Final = pd.Timedelta(days=92)
#: Two prices across a long hole that differ by more than this factor hardly belong to one instrument.
RECYCLED_FACTOR: Final = 2.0


@dataclass(frozen=True, slots=True)
class Expected:
    """The bars that a calendar expects of one series, oldest first.

    Attributes
    ----------
    session : datetime64[ns] array, shape (bars,)
    start, end : datetime64[ns] array, shape (bars,)
        UTC.
    daily : bool
        Bars are found by session, otherwise by start; their end has to be as expected in any case.
    """

    session: NDArray[np.datetime64]
    start: NDArray[np.datetime64]
    end: NDArray[np.datetime64]
    daily: bool

    def places(self, bars: pd.DataFrame) -> NDArray[np.int64]:
        """Return the position of each bar among those expected, -1 where none is, shape (rows,)."""
        if not len(self.end):
            return np.full(len(bars), -1, dtype=np.int64)
        name, known = ("session", self.session) if self.daily else ("start", self.start)
        wanted = utc_stamps(bars[name])
        at = np.searchsorted(known, wanted).clip(max=len(known) - 1)
        there = (known[at] == wanted) & (self.end[at] == utc_stamps(bars["end"]))
        return np.where(there, at, -1)


def expected_bars(exchange: str, interval: str, bars: pd.DataFrame) -> Expected:
    """Return the bars expected of a series from its first to its last session.

    Intraday bars are expected on the grid (from the open, or on the wall clock) that most rows follow.
    """
    calendar = get_calendar(exchange)
    first, last = bars["session"].min(), bars["session"].max()
    if parse_interval(interval) is None:
        grid = calendar.schedule(first, last).rename(columns={"open": "start", "close": "end"})
        return Expected(utc_stamps(grid.index), utc_stamps(grid["start"]), utc_stamps(grid["end"]), daily=True)
    local = pd.DatetimeIndex(bars["start"].dt.tz_convert(calendar.timezone).dt.tz_localize(None))
    grid = bar_grid(calendar, first, last, interval, infer_anchor(calendar, interval, pd.Series(local)))
    return Expected(utc_stamps(grid["session"]), utc_stamps(grid["start"]), utc_stamps(grid["end"]), daily=False)


def off_grid(bars: pd.DataFrame, expected: Expected) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark rows on dates without a session, and intraday rows that are no bar of their session; both shape (rows,)."""
    sessions = np.unique(expected.session)
    shut = ~np.isin(utc_stamps(bars["session"]), sessions)
    return shut, ~shut & (expected.places(bars) < 0)


def find_gaps(bars: pd.DataFrame, series: NDArray[np.int64], expected: Expected) -> Iterator[Finding]:
    """Yield one finding per run of expected bars that a series lacks between two bars it has.

    Parameters
    ----------
    bars : pandas.DataFrame
        Series that share a grid, sorted by symbol and end, every row among ``expected``.
    series : int64 array, shape (rows,)
        Number of the series of each row.
    expected : Expected
        The bars expected of them.
    """
    places = expected.places(bars)
    same = np.diff(series) == 0
    for row in np.flatnonzero(same & (np.diff(places) > 1)):
        before, after = bars.iloc[int(row)], bars.iloc[int(row) + 1]
        first, last = int(places[row]) + 1, int(places[row + 1]) - 1
        yield gap_between(before["symbol"], before["interval"], expected, first, last)
        jump = max(after["close"], before["close"]) / min(after["close"], before["close"])
        if _long(expected, first, last) and jump > RECYCLED_FACTOR:
            yield Finding.at(
                after,
                severity="suspect",
                kind="recycled_symbol",
                reason=f"after a hole the price goes from {before['close']:g} ({before['session']:%Y-%m-%d}) to "
                f"{after['close']:g}: these may be two instruments; no return should be taken over the hole",
                values={"factor": float(after["close"] / before["close"])},
            )


def gap_between(symbol: str, interval: str, expected: Expected, first: int, last: int) -> Finding:
    """Report that a series has no bar from one position among those expected to another, both inclusive."""
    count = last - first + 1
    kind = "missing_sessions" if expected.daily else "missing_bars"
    if _long(expected, first, last):
        kind = "long_hole"
    sessions = [pd.Timestamp(expected.session[place]) for place in (first, last)]
    bounds = [f"{session:%Y-%m-%d}" for session in sessions]
    if not expected.daily:
        bounds = [f"{pd.Timestamp(expected.start[place]):%Y-%m-%d %H:%M} UTC" for place in (first, last)]
    what = "sessions" if expected.daily else "bars"
    where = bounds[0] if count == 1 else f"{bounds[0]} to {bounds[1]} ({count} {what})"
    return Finding(
        symbol=symbol,
        interval=interval,
        session=sessions[0],
        end=pd.Timestamp(expected.end[first], tz="UTC"),
        severity="gap",
        kind=kind,
        reason=f"no bar for {where}",
        values={"first": bounds[0], "last": bounds[1], "count": count},
    )


def _long(expected: Expected, first: int, last: int) -> bool:
    return bool(pd.Timestamp(expected.session[last]) - pd.Timestamp(expected.session[first]) > LONG_HOLE)
