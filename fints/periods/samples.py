"""A series on both clocks: its observed values, their places, and the regular grid that its noise lives on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.errors import SeriesError
from fints.sessions import places, session_ordinals

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.periods.leverage import Leverage
    from fints.sessions import ExchangeCalendar

    FloatArray = NDArray[np.float64]

Clock = Literal["session", "calendar"]

MIN_LENGTH = 60
TAPERED_SHARE = 0.2
LONG_GAP = 10
_SHORTEST_STRETCH = 20
_MOST_MISSING = 0.2
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Samples:
    """One series without its missing values.

    Parameters
    ----------
    unique_id : str
        The series.
    session, calendar : numpy.ndarray, shape (n,)
        Strictly increasing places on the two clocks: trading sessions, and the exchange's civil days.
    value : numpy.ndarray, shape (n,)
        Finite values.
    slot : numpy.ndarray of int, shape (n,)
        Strictly increasing slots of a regular grid of bars; the first is 0.
    step : float
        Width of a slot in sessions: 1, or one over the bars of a full session.
    note : str
        What was left out, in words; empty if nothing was.
    leverage : Leverage, optional
        How much of the noise is left where effects were taken out.
    """

    unique_id: str
    session: NDArray[np.float64]
    calendar: NDArray[np.float64]
    value: NDArray[np.float64]
    slot: NDArray[np.int64]
    step: float
    note: str = field(default="")
    leverage: Leverage | None = None

    @property
    def size(self) -> int:
        """Slots of the grid, missing ones included."""
        return int(self.slot[-1]) + 1

    @property
    def rate(self) -> float:
        """Sessions per calendar day, on average over the series."""
        return float((self.session[-1] - self.session[0]) / (self.calendar[-1] - self.calendar[0]))

    @cached_property
    def same_clocks(self) -> bool:
        """Whether a session is a civil day, as on ``24/7``."""
        return bool(np.ptp(self.session - self.calendar) < _SAME)

    def place(self, clock: Clock) -> FloatArray:
        """Places on one of the clocks, shape (n,)."""
        return self.session if clock == "session" else self.calendar

    def duration(self, clock: Clock) -> float:
        """Length of the series in units of a clock."""
        sessions = self.size * self.step
        return sessions if clock == "session" else sessions / self.rate

    def middle(self, clock: Clock) -> float:
        """Middle of the series on a clock."""
        place = self.place(clock)
        return 0.5 * float(place[0] + place[-1])

    @cached_property
    def stretches(self) -> tuple[slice, ...]:
        """Slots from one long gap to the next."""
        return tuple(slice(int(self.slot[a]), int(self.slot[b - 1]) + 1) for a, b in _stretches(self.slot, self.step))

    @cached_property
    def missing(self) -> int:
        """Slots without a value, long gaps apart."""
        return sum(int(part.stop - part.start) for part in self.stretches) - len(self.slot)

    @cached_property
    def taper(self) -> FloatArray:
        """Weights of the slots, shape (size,): a tenth of each end of a stretch tapered by a cosine, zero in a gap."""
        from scipy.signal import windows

        weights = np.zeros(self.size)
        for part in self.stretches:
            weights[part] = windows.tukey(part.stop - part.start, TAPERED_SHARE)
        return weights

    def regular(self, value: FloatArray) -> FloatArray:
        """Values, or columns of them, on the grid, missing ones interpolated linearly, shape (size, …)."""
        if len(self.slot) == self.size:
            return value
        before, share = self._between
        shaped = share.reshape(-1, *[1] * (value.ndim - 1))
        out = value[before]
        open_ = np.flatnonzero(share)
        out[open_] = out[open_] * (1 - shaped[open_]) + value[before[open_] + 1] * shaped[open_]
        return np.asarray(out)

    @cached_property
    def _between(self) -> tuple[NDArray[np.intp], FloatArray]:
        """Sample at or before each slot, and how far the slot is on the way to the next."""
        grid = np.arange(self.size)
        before = np.searchsorted(self.slot, grid, side="right") - 1
        after = np.minimum(before + 1, len(self.slot) - 1)
        width = np.maximum(self.slot[after] - self.slot[before], 1)
        return before, (grid - self.slot[before]) / width

    def date(self, row: int) -> str:
        """Civil day of a sample."""
        return str(np.datetime64(int(self.calendar[row]), "D"))

    def describe(self) -> str:
        """Say how gaps are treated; empty if there is none."""
        words = []
        if self.missing:
            words.append(f"{self.missing} of {self.size} slots interpolated linearly")
        if len(self.stretches) > 1:
            words.append(f"{len(self.stretches) - 1} longer gaps left open (Lomb-Scargle)")
        return "; ".join([*words, self.note] if self.note else words)


@dataclass(frozen=True, slots=True, eq=False)
class BarPlaces:
    """Where n bars of an exchange stand.

    Parameters
    ----------
    session, calendar : numpy.ndarray, shape (n,)
        Places on the two clocks.
    ordinal, number : numpy.ndarray of int, shape (n,)
        Which session a bar belongs to, and which of its bars it is.
    """

    session: FloatArray
    calendar: FloatArray
    ordinal: NDArray[np.int64]
    number: NDArray[np.int64]

    @classmethod
    def of(cls, bars: pd.DataFrame, calendar: ExchangeCalendar) -> BarPlaces:
        """Places of bars, as `fints.series.located` gives them."""
        import pandas as pd

        at = places(bars, calendar)
        ordinal = session_ordinals(calendar, pd.DatetimeIndex(bars["session"]))
        return cls(at.session, at.calendar, ordinal.astype(np.int64), bars["bar"].to_numpy(dtype=np.int64))

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> BarPlaces:
        """Places of some of the bars."""
        return BarPlaces(self.session[rows], self.calendar[rows], self.ordinal[rows], self.number[rows])


def make_samples(unique_id: str, at: BarPlaces, value: FloatArray) -> tuple[Samples, NDArray[np.bool_]]:
    """Take the observed values of a series.

    Parameters
    ----------
    unique_id : str
        The series.
    at : BarPlaces
        Of its n bars, in time order.
    value : numpy.ndarray, shape (n,)
        NaN where there is none.

    Returns
    -------
    samples : Samples
        Bars beyond those of an ordinary session, and stretches of fewer than 20 values between long gaps, are left
        out, and the note says so.
    used : numpy.ndarray of bool, shape (n,)
        Which values they are.

    Raises
    ------
    SeriesError
        If a value is infinite, fewer than 60 values remain, they are all alike, or a fifth of them is missing.
    """
    if np.isinf(value).any():
        raise SeriesError(f"{unique_id}: {int(np.isinf(value).sum())} of {len(value)} values are infinite; remove them")
    used = np.isfinite(value)
    given = int(used.sum())
    _require_enough(unique_id, value[used], "values")
    per_session = _bars_per_session(at.ordinal[used], at.number[used])
    used &= at.number < per_session
    slot = at.ordinal * per_session + at.number
    rows = np.flatnonzero(used)
    for first, last in _stretches(slot[rows], 1 / per_session):
        if last - first < _SHORTEST_STRETCH:
            used[rows[first:last]] = False
    _require_enough(unique_id, value[used], "values between long gaps")
    samples = Samples(
        unique_id=unique_id,
        session=at.session[used],
        calendar=at.calendar[used],
        value=value[used],
        slot=slot[used] - slot[used][0],
        step=1.0 / per_session,
        note="" if used.sum() == given else f"{int(used.sum())} of {given} values used",
    )
    if samples.missing > _MOST_MISSING * (samples.missing + len(samples.slot)):
        raise SeriesError(
            f"{unique_id}: {samples.missing} of {samples.size} bars are missing, too many to interpolate; "
            "use a longer interval or a more liquid series"
        )
    return samples, used


def _require_enough(uid: str, values: FloatArray, what: str) -> None:
    if len(values) < MIN_LENGTH:
        raise SeriesError(f"{uid}: {len(values)} {what}, too short to search for periods; give at least {MIN_LENGTH}")
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        raise SeriesError(f"{uid}: constant, each of its {len(values)} values is {values[0]:g}; leave it out")


def _bars_per_session(ordinal: NDArray[np.int64], number: NDArray[np.int64]) -> int:
    """Bars of an ordinary session: the most frequent count, so that half-days and long days do not set it."""
    last = np.append(np.diff(ordinal) > 0, True)
    counts = np.bincount(number[last] + 1)
    return int(counts.argmax())


def _stretches(slot: NDArray[np.int64], step: float) -> list[tuple[int, int]]:
    cuts = np.flatnonzero(np.diff(slot) > LONG_GAP / step) + 1
    edges = np.concatenate([[0], cuts, [len(slot)]])
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
