"""What is neither noise nor cycle and is taken out first: one-off effects, outliers and shifts of level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.background import PLAIN_ORDERS, fit_background
from fints.periods.leverage import Leverage
from fints.periods.shifts import level_shifts, step_gains, step_sizes, steps
from fints.periods.spectrum import fft_periodogram
from fints.periods.whitening import whitened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

_FEWEST = 5
_OFTEN = 20
_DEPENDENT = 1e-10
_OUTLYING = 6.0
_MAD = 1.4826
_MOST_OUTLIERS = 0.01
_NEXT_TO = 3


def cleaned(samples: Samples, effects: FloatArray | None) -> tuple[Samples, FloatArray]:
    """Take out one-off effects, single outliers and shifts of level.

    Parameters
    ----------
    samples : Samples
        The series.
    effects : numpy.ndarray, shape (n, k), optional
        One-off effects at the samples. Those that occur on fewer than five are left in; one that occurs on twenty may
        change its size linearly over the series.

    Returns
    -------
    samples : Samples
        The same with other values, and a note of what was done. Outliers are values whose innovation exceeds six
        standard deviations, judged by their median; at most one in a hundred. Shifts are those of
        :func:`fints.periods.shifts.level_shifts`.
    columns : numpy.ndarray, shape (n, m)
        What was fitted and taken out, so that lines can be fitted beside it.
    """
    columns = _usable(samples, effects) if effects is not None else np.empty((len(samples.slot), 0))
    beside = _beside(samples)
    # the first fit is disturbed by what is to be taken out, the second is not
    noise = _noise(samples, samples.value, None)
    first = _Cleaning.of(samples, columns, beside, noise)
    flat = samples.value - first.taken
    noise = _noise(samples, flat, noise)
    shifts = level_shifts(samples, flat, noise)
    moved = steps(samples, shifts)
    if shifts:
        noise = _noise(samples, flat - moved @ step_sizes(samples, flat, noise, shifts), None)
    last = _Cleaning.of(samples, np.hstack([columns, moved]), beside, noise)
    note = _note(samples, columns.shape[1], last.outliers, shifts)
    return replace(samples, value=samples.value - last.taken, note=note, leverage=last.leverage(samples)), last.out


def _note(samples: Samples, effects: int, outliers: int, shifts: list[int]) -> str:
    words = [samples.note] if samples.note else []
    words += [f"{effects} regressors for one-off calendar effects"] if effects else []
    words += [f"{outliers} outliers taken out"] if outliers else []
    days = [samples.date(first) for first in sorted(shifts)]
    words += [f"shift of level at {', '.join(days)} taken out"] if days else []
    return "; ".join(words)


def _noise(samples: Samples, value: FloatArray, like: Background | None) -> Background:
    return fit_background(fft_periodogram(samples, value), like=like, orders=PLAIN_ORDERS)


@dataclass(frozen=True, slots=True, eq=False)
class _Cleaning:
    """What is taken out of a series, shape (n,), its regressors, those in units of the noise, and how many spikes."""

    taken: FloatArray
    out: FloatArray
    plain: FloatArray
    beside: FloatArray
    outliers: int

    @classmethod
    def of(cls, samples: Samples, columns: FloatArray, beside: FloatArray, noise: Background) -> _Cleaning:
        plain = whitened(samples, np.column_stack([columns, beside, samples.value]), noise)
        spikes = _spikes(samples, plain, noise)
        out = np.hstack([columns, spikes])
        own = np.hstack([plain[:, : columns.shape[1]], whitened(samples, spikes, noise)])
        kept = plain[:, columns.shape[1] : -1]
        size = _solved(np.hstack([own, kept]), plain[:, -1])[: out.shape[1]]
        # an effect is a departure from the mean day, so that the level stays
        out = out - out.mean(axis=0)
        return cls(np.asarray(out @ size), out, own, kept, spikes.shape[1])

    def leverage(self, samples: Samples) -> Leverage | None:
        return Leverage.of(samples, self.plain, self.beside)


def _solved(columns: FloatArray, target: FloatArray) -> FloatArray:
    """Least squares by the normal equations, a tenth of the time of a decomposition of the columns."""
    scale = np.maximum(np.sqrt(np.sum(columns**2, axis=0)), np.finfo(np.float64).tiny)
    unit = columns / scale
    return np.asarray(np.linalg.lstsq(unit.T @ unit, unit.T @ target, rcond=_DEPENDENT)[0] / scale)


def _usable(samples: Samples, effects: FloatArray) -> FloatArray:
    occurs = np.count_nonzero(effects, axis=0)
    kept = (occurs >= _FEWEST) & (np.ptp(effects, axis=0) > 0)
    # habits change: the quarterly expiry hardly moved the volume of 2000, but moves that of 2018
    return np.hstack([effects[:, kept], effects[:, kept & (occurs >= _OFTEN)] * _time(samples)[:, None]])


def _beside(samples: Samples) -> FloatArray:
    """Mean, trend and weekdays: fitted beside the effects, so that one that falls on Fridays leaves the Fridays."""
    weekday = np.mod(np.floor(samples.calendar).astype(np.int64), 7)
    days = [(weekday == day).astype(np.float64) for day in np.unique(weekday)[1:]]
    return np.column_stack([np.ones(len(weekday)), _time(samples), *days])


def _time(samples: Samples) -> FloatArray:
    return (samples.session - samples.middle("session")) / samples.duration("session")


def _spikes(samples: Samples, plain: FloatArray, noise: Background) -> FloatArray:
    """One column for each outlier of the last column beside the others, shape (n, number of outliers)."""
    innovation = plain[:, -1] - plain[:, :-1] @ _solved(plain[:, :-1], plain[:, -1])
    size = np.abs(innovation)
    far = np.flatnonzero(size > _OUTLYING * _MAD * np.median(size))
    far = far[np.argsort(-size[far])][: int(_MOST_OUTLIERS * len(size))]
    chosen: list[int] = []
    for row in far:
        # an outlier disturbs the innovations after it too
        if all(abs(row - other) > _NEXT_TO for other in chosen):
            chosen.append(int(row))
    spikes = np.zeros((len(size), len(chosen)))
    spikes[chosen, np.arange(len(chosen))] = 1.0
    if not chosen:
        return spikes
    own = whitened(samples, spikes, noise)
    gain = 0.5 * (innovation @ own) ** 2 / np.sum(own**2, axis=0)
    # in noise with memory the first day of a new level is as surprising as an outlier
    return np.asarray(spikes[:, gain >= step_gains(samples, samples.value, noise)[chosen]])
