"""A series on a clock: its observed values, their places, and the regular grid that a Fourier transform needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from fints.errors import SeriesError
from fints.series import panel_bars
from fints.sessions import get_calendar, places, session_ordinals

if TYPE_CHECKING:
    from numpy.typing import NDArray

Clock = Literal["session", "calendar"]

MIN_LENGTH = 60
_LONGEST_GAP = 10
_MOST_MISSING = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """One series without its missing values.

    Parameters
    ----------
    unique_id : str
        The series.
    clock : {"session", "calendar"}
        What `place` counts.
    place : numpy.ndarray, shape (n,)
        Strictly increasing places on the clock.
    value : numpy.ndarray, shape (n,)
        Finite values.
    slot : numpy.ndarray of int, shape (n,)
        Strictly increasing slots of a regular grid; the first is 0.
    step : float
        Width of a slot in clock units: 1, or one over the bars of a full session.
    note : str
        What was left out, in words; empty if nothing was.
    """

    unique_id: str
    clock: Clock
    place: NDArray[np.float64]
    value: NDArray[np.float64]
    slot: NDArray[np.int64]
    step: float
    note: str = field(default="")

    @property
    def size(self) -> int:
        """Slots of the grid, missing ones included."""
        return int(self.slot[-1]) + 1

    @property
    def duration(self) -> float:
        """Length of the grid in clock units."""
        return self.size * self.step

    @property
    def missing(self) -> int:
        """Slots without a value."""
        return self.size - len(self.slot)

    def regular(self, value: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Values on the grid, missing ones interpolated linearly, shape (size,)."""
        return np.interp(np.arange(self.size), self.slot, self.value if value is None else value)


def session_samples(series: pd.DataFrame) -> Samples:
    """Place one series on its exchange's session clock.

    Parameters
    ----------
    series : pandas.DataFrame
        Rows of one ``unique_id`` of a valid panel in time order; rows without a value are gaps.

    Returns
    -------
    Samples
        Daily bars stand on their session's ordinal; intraday bars on the place of their close, in the slot of their
        number within the session. Where the series is interrupted for more than ten sessions only its longest
        uninterrupted stretch is kept, and the note says so.

    Raises
    ------
    SeriesError
        If a value is infinite, fewer than 60 values remain, they are all alike, or a fifth of them is missing.
    """
    uid = str(series["unique_id"].iloc[0])
    y = series["y"].to_numpy(dtype=np.float64)
    if np.isinf(y).any():
        raise SeriesError(f"{uid}: {int(np.isinf(y).sum())} of {len(y)} values are infinite; remove them")
    known = series.loc[np.isfinite(y)]
    _require_enough(uid, y[np.isfinite(y)], "values")
    calendar = get_calendar(str(known["exchange"].iloc[0]))
    bars = panel_bars(known, calendar)
    number = bars["bar"].to_numpy(dtype=np.int64)
    ordinal = np.asarray(session_ordinals(calendar, pd.DatetimeIndex(bars["session"])), dtype=np.int64)
    per_session = _bars_per_session(ordinal, number)
    regular = number < per_session
    slot = (ordinal * per_session + number)[regular]
    place = places(bars, calendar).session[regular]
    stretch = _longest_stretch(slot, _LONGEST_GAP * per_session)
    value = y[np.isfinite(y)][regular][stretch]
    _require_enough(uid, value, "values in the longest stretch without a gap of more than ten sessions")
    samples = Samples(
        unique_id=uid,
        clock="session",
        place=place[stretch],
        value=value,
        slot=slot[stretch] - slot[stretch][0],
        step=1.0 / per_session,
        note=_note(len(known), len(value)),
    )
    if samples.missing > _MOST_MISSING * samples.size:
        raise SeriesError(
            f"{uid}: {samples.missing} of {samples.size} bars are missing, too many to interpolate; "
            "use a longer interval or a more liquid series"
        )
    return samples


def _require_enough(uid: str, values: NDArray[np.float64], what: str) -> None:
    if len(values) < MIN_LENGTH:
        raise SeriesError(f"{uid}: {len(values)} {what}, too short to search for periods; give at least {MIN_LENGTH}")
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        raise SeriesError(f"{uid}: constant, each of its {len(values)} values is {values[0]:g}; leave it out")


def _bars_per_session(ordinal: NDArray[np.int64], number: NDArray[np.int64]) -> int:
    """Bars of an ordinary session: the most frequent count, so that half-days and long days do not set it."""
    last = np.append(np.diff(ordinal) > 0, True)
    counts = np.bincount(number[last] + 1)
    return int(counts.argmax())


def _longest_stretch(slot: NDArray[np.int64], longest_gap: int) -> slice:
    cuts = np.flatnonzero(np.diff(slot) > longest_gap) + 1
    edges = np.concatenate([[0], cuts, [len(slot)]])
    lengths = np.diff(edges)
    chosen = len(lengths) - 1 - int(lengths[::-1].argmax())
    return slice(int(edges[chosen]), int(edges[chosen + 1]))


def _note(given: int, kept: int) -> str:
    return "" if given == kept else f"{kept} of {given} values, the longest stretch without a long gap"
