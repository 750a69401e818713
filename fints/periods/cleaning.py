"""What is neither noise nor cycle and is taken out before lines are looked for: one-off effects and outliers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.background import PLAIN_ORDERS, fit_background
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
    """Take out one-off effects and single outliers.

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
        standard deviations, judged by their median; at most one in a hundred.
    columns : numpy.ndarray, shape (n, m)
        What was fitted and taken out, so that lines can be fitted beside it.
    """
    columns = _usable(samples, effects) if effects is not None else np.empty((len(samples.slot), 0))
    # the first fit is disturbed by what is to be taken out, the second is not
    first = _taken(samples, columns, samples.value, None)
    taken, out, _ = _taken(samples, columns, samples.value - first[0], first[2])
    outliers = out.shape[1] - columns.shape[1]
    words = [f"{columns.shape[1]} regressors for one-off calendar effects"] if columns.shape[1] else []
    words += [f"{outliers} outliers taken out"] if outliers else []
    note = "; ".join([samples.note, *words] if samples.note else words)
    return replace(samples, value=samples.value - taken, note=note, taken=out.shape[1]), out


def _taken(
    samples: Samples, columns: FloatArray, flat: FloatArray, like: Background | None
) -> tuple[FloatArray, FloatArray, Background]:
    """Give what is to be taken out, the regressors that it is made of, and the noise of the flat values."""
    noise = fit_background(fft_periodogram(samples, flat), like=like, orders=PLAIN_ORDERS)
    beside = _beside(samples)
    spikes = _spikes(samples, np.hstack([columns, beside]), noise)
    out = np.hstack([columns, spikes])
    plain = whitened(samples, np.column_stack([out, beside, samples.value]), noise)
    size = _solved(plain[:, :-1], plain[:, -1])[: out.shape[1]]
    # an effect is a departure from the mean day, so that the level stays
    out = out - out.mean(axis=0)
    return np.asarray(out @ size), out, noise


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


def _spikes(samples: Samples, columns: FloatArray, noise: Background) -> FloatArray:
    """One column for each outlier, shape (n, number of outliers)."""
    plain = whitened(samples, np.column_stack([columns, samples.value]), noise)
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
    return spikes
