"""Bars beside the calendar as it was known on their eve: the ground on which features are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.sessions.grid import instants_of
from fints.sessions.library import NAT, days_of
from fints.sessions.table import BREAK_END, CLOSE, OPEN, known_state, session_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from fints.sessions.calendars import ExchangeCalendar
    from fints.sessions.table import SessionTable

_MARGIN = 100  # days around the rows: a feature looks no further than a month and a long holiday
_FAR = 10**6
_HOUR = 3_600_000_000_000


@dataclass(frozen=True, slots=True)
class CalendarFeature:
    """One covariate that the calendar alone decides.

    Attributes
    ----------
    name : str
        Without the prefix ``cal_``.
    doc : str
        What its values mean.
    function : callable
        From `Rows` to (n,) float64.
    intraday : bool
        Whether it tells bars of one session apart, and so means nothing for daily ones.
    """

    name: str
    doc: str
    function: Callable[[Rows], NDArray[np.float64]]
    intraday: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Bars that share one state of knowledge, and the session table of that state.

    Attributes
    ----------
    mic : str
        Canonical exchange.
    day : (n,) int64
        Session dates in civil days since 1970-01-01.
    start, end : (n,) int64
        Of the bars, nanoseconds since the epoch (UTC).
    table : SessionTable
        Sessions and closures as known on the eve of these rows.
    """

    mic: str
    day: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    table: SessionTable

    def by_session(self) -> tuple[Rows, NDArray[np.intp]]:
        """One row per session, and for each row here its place among them."""
        _, first, which = np.unique(self.day, return_index=True, return_inverse=True)
        return Rows(self.mic, self.day[first], self.start[first], self.end[first], self.table), which

    @property
    def weekday(self) -> NDArray[np.int64]:
        """Monday 0 … Sunday 6."""
        return (self.day + 3) % 7

    @property
    def _months(self) -> NDArray[np.int64]:
        return self.day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)

    @property
    def month(self) -> NDArray[np.int64]:
        """January 1 … December 12."""
        return self._months % 12 + 1

    @property
    def year(self) -> NDArray[np.int64]:
        """Calendar year."""
        return self._months // 12 + 1970

    @property
    def first_of_month(self) -> NDArray[np.int64]:
        """Civil day of the first of the row's month."""
        return first_of(self._months)

    @property
    def next_month(self) -> NDArray[np.int64]:
        """Civil day of the first of the month after the row's."""
        return first_of(self._months + 1)

    @property
    def day_of_month(self) -> NDArray[np.int64]:
        """From 1."""
        return self.day - self.first_of_month + 1

    @property
    def next_session(self) -> NDArray[np.int64]:
        """Civil day of the first session after the row's."""
        return _at(self.table.day, np.searchsorted(self.table.day, self.day, side="right"), _FAR)

    @property
    def previous_session(self) -> NDArray[np.int64]:
        """Civil day of the last session before the row's."""
        return _at(self.table.day, np.searchsorted(self.table.day, self.day) - 1, -_FAR)

    @property
    def next_closure(self) -> NDArray[np.int64]:
        """Civil day of the first holiday after the row's session."""
        return _at(self.table.closures, np.searchsorted(self.table.closures, self.day, side="right"), _FAR)

    @property
    def previous_closure(self) -> NDArray[np.int64]:
        """Civil day of the last holiday before the row's session."""
        return _at(self.table.closures, np.searchsorted(self.table.closures, self.day) - 1, -_FAR)

    def sessions_before(self, day: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sessions strictly between each row's and a later civil day."""
        return np.searchsorted(self.table.day, day) - np.searchsorted(self.table.day, self.day, side="right")

    def sessions_after(self, day: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sessions strictly between an earlier civil day and each row's."""
        return np.searchsorted(self.table.day, self.day) - np.searchsorted(self.table.day, day, side="right")

    @property
    def _row(self) -> NDArray[np.int64]:
        return np.minimum(np.searchsorted(self.table.day, self.day), len(self.table.day) - 1)

    @property
    def early(self) -> NDArray[np.bool_]:
        """Whether the session was to close early."""
        return np.asarray(self.table.early[self._row] & (self.table.day[self._row] == self.day))

    @property
    def was_early(self) -> NDArray[np.bool_]:
        """Whether the session before was to close early."""
        return np.asarray(self.table.early[np.maximum(np.searchsorted(self.table.day, self.day) - 1, 0)])

    @property
    def middle(self) -> NDArray[np.float64]:
        """Share of the session's trading time that has passed in the middle of the bar."""
        return (self.table.shares(self._row, self.start) + self.table.shares(self._row, self.end)) / 2

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether the bar starts at the open."""
        return np.asarray(self.start <= self.table.hours[self._row, OPEN])

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether the bar ends at the planned close."""
        return np.asarray(self.end >= self.table.hours[self._row, CLOSE])

    @property
    def resumes(self) -> NDArray[np.bool_]:
        """Whether the bar starts at the end of a break."""
        ends = self.table.hours[self._row, BREAK_END]
        return np.asarray((ends != NAT) & (self.start == ends))

    @property
    def log_hours(self) -> NDArray[np.float64]:
        """Natural logarithm of the bar's length in hours."""
        return np.log((self.end - self.start) / _HOUR)


def first_of(months: NDArray[np.int64]) -> NDArray[np.int64]:
    """Civil day of the first of months that are counted from January 1970."""
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _at(values: NDArray[np.int64], row: NDArray[np.int64], otherwise: int) -> NDArray[np.int64]:
    """Values at rows; `otherwise` beyond either end."""
    padded = np.concatenate([values, [otherwise]])
    return np.asarray(padded[np.where((row < 0) | (row > len(values)), len(values), row)], dtype=np.int64)


def rows_of(bars: pd.DataFrame, calendar: ExchangeCalendar) -> Iterator[tuple[NDArray[np.int64], Rows]]:
    """Split bars by what was known on the eve of their session.

    Parameters
    ----------
    bars : DataFrame
        With ``session, start, end``.
    calendar : ExchangeCalendar
        Its `known_at` caps what any row may know.

    Yields
    ------
    (k,) int64, Rows
        Positions of the rows in `bars`, and the rows with their table.
    """
    if not len(bars):
        return
    day, start, end = days_of(bars["session"]), instants_of(bars["start"]), instants_of(bars["end"])
    eve = day - 1
    if calendar.known_at is not None:
        eve = np.minimum(eve, int(days_of([calendar.known_at])[0]))
    span = int(day.min()) - _MARGIN, int(day.max()) + _MARGIN
    eves, which = np.unique(eve, return_inverse=True)
    states = np.array([known_state(calendar.mic, int(value)) for value in eves])[which]
    for state in np.unique(states):
        place = np.flatnonzero(states == state)
        table = session_table(calendar.mic, int(state), *span)
        yield place, Rows(calendar.mic, day[place], start[place], end[place], table)
