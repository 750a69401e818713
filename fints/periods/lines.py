"""Spectral lines of one series, on either clock, fitted together as far as its length allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Clock, Samples

    FloatArray = NDArray[np.float64]

CONVERGE = 25
_CONVERGED = 1e-6
_LONGEST_STEP = 0.25


@dataclass(frozen=True, slots=True)
class Tone:
    """One frequency on one clock.

    Parameters
    ----------
    clock : {"session", "calendar"}
        The clock on which it is periodic.
    frequency : float
        Cycles per unit of that clock.
    """

    clock: Clock
    frequency: float

    def on(self, clock: Clock, rate: float) -> float:
        """Frequency of the same cycle on a clock, `rate` sessions per day being the mean."""
        if clock == self.clock:
            return self.frequency
        return self.frequency * rate if clock == "calendar" else self.frequency / rate


@dataclass(frozen=True, slots=True, eq=False)
class LineFit:
    """Least-squares fit of K lines, a mean and a trend.

    Parameters
    ----------
    tones : tuple of Tone, length K
        The lines.
    cosine, sine : numpy.ndarray, shape (K,)
        Coefficients about the middle of the series.
    variance : numpy.ndarray, shape (K,)
        Variance of each frequency that was free, NaN for the others: the Cramér-Rao bound for the sampled places in
        the given noise, with mean, trend, amplitudes, phases and the other lines unknown too.
    residual : numpy.ndarray, shape (n,)
        Values less the lines and the regressors beside them (mean and trend stay in).
    misfit : float
        Half the sum of squares left, in units of the noise: the negative log-likelihood but for a constant.
    """

    tones: tuple[Tone, ...]
    cosine: FloatArray
    sine: FloatArray
    variance: FloatArray
    residual: FloatArray
    misfit: float

    @property
    def frequency(self) -> FloatArray:
        """Frequencies, each on its clock, shape (K,)."""
        return np.array([tone.frequency for tone in self.tones], dtype=np.float64)

    @property
    def amplitude(self) -> FloatArray:
        """Half the swing of each line, in units of y."""
        return np.hypot(self.cosine, self.sine)

    def phase(self, index: int, samples: Samples) -> float:
        """Phase φ of amplitude · cos(2π · frequency · place + φ), the place counted from zero, in (-π, π]."""
        tone = self.tones[index]
        turned = np.arctan2(-self.sine[index], self.cosine[index])
        turned -= 2 * np.pi * tone.frequency * samples.middle(tone.clock)
        return float(np.pi - np.mod(np.pi - turned, 2 * np.pi))

    def line(self, index: int, samples: Samples) -> FloatArray:
        """Values of one line at the samples, shape (n,)."""
        waves = wave_columns(samples, [self.tones[index]])
        return np.asarray(waves @ np.array([self.cosine[index], self.sine[index]]))


def fit_lines(  # noqa: PLR0913 — lines are fitted in noise, beside other things
    samples: Samples,
    value: FloatArray,
    tones: Sequence[Tone],
    noise: Background | None = None,
    *,
    beside: FloatArray | None = None,
    free: Sequence[bool] | None = None,
    steps: int = CONVERGE,
) -> LineFit:
    """Refine the frequencies of some lines together, by generalised nonlinear least squares on the observed values.

    Parameters
    ----------
    samples : Samples
        Where the values stand.
    value : numpy.ndarray, shape (n,)
        The samples' values, or what is left of them.
    tones : sequence of Tone
        First guesses, each within half of 1 / duration of the truth.
    noise : Background, optional
        Spectrum of the noise; white of variance 1 by default.
    beside : numpy.ndarray, shape (n, m), optional
        Regressors that are fitted too, and taken out of the residual.
    free : sequence of bool, optional
        Which frequencies may move; all by default.
    steps : int
        Most Gauss-Newton steps; enough to converge by default.

    Returns
    -------
    LineFit
        Gauss and Newton's minimum near the guesses.

    Notes
    -----
    On the session clock ordinary least squares would reach the bound too, as the noise is flat over the width of a line
    (Hannan 1973, J. Applied Probability 10, 510-519). On the calendar clock it would not: the weekends fold slow noise
    onto the week.
    """
    current = list(tones)
    moving = np.ones(len(current), dtype=bool) if free is None else np.asarray(free, dtype=bool)
    time = (samples.session - samples.middle("session")) / samples.duration("session")
    others = np.empty((len(time), 0)) if beside is None else beside
    fixed = whitened(samples, np.column_stack([value, np.ones_like(time), time, others]), noise)
    target, level = fixed[:, 0], fixed[:, 1:]
    first = level.shape[1]
    waves = wave_columns(samples, current)
    which = np.flatnonzero(moving)
    own = np.stack([2 * which, 2 * which + 1], axis=1).ravel()
    linear = np.hstack([level, whitened(samples, waves, noise)])
    converged, step = False, 0
    while True:
        coefficient = np.asarray(np.linalg.lstsq(linear.T @ linear, linear.T @ target, rcond=None)[0], np.float64)
        slopes = whitened(samples, _slopes(samples, current, coefficient[first:], waves, which), noise)
        design = np.hstack([linear, slopes])
        if converged or step == steps or not len(which):
            break
        change = np.linalg.lstsq(design.T @ design, design.T @ (target - linear @ coefficient), rcond=None)[0]
        change = change[linear.shape[1] :]
        for k, turns in zip(which, np.clip(change, -_LONGEST_STEP, _LONGEST_STEP), strict=True):
            current[k] = _moved(samples, current[k], float(turns))
        waves[:, own] = wave_columns(samples, [current[k] for k in which])
        linear[:, first + own] = whitened(samples, waves[:, own], noise)
        converged, step = bool(np.abs(change).max() < _CONVERGED), step + 1
    inverse = np.maximum(np.diag(np.linalg.pinv(design.T @ design)), 0.0)
    scale = np.array([samples.duration(tone.clock) for tone in current])
    variance = np.full(len(current), np.nan)
    variance[which] = inverse[linear.shape[1] :] / scale[which] ** 2
    return LineFit(
        tones=tuple(current),
        cosine=coefficient[first::2],
        sine=coefficient[first + 1 :: 2],
        variance=variance,
        residual=value - others @ coefficient[2:first] - waves @ coefficient[first:],
        misfit=0.5 * float(np.sum((target - linear @ coefficient) ** 2)),
    )


def whitened(samples: Samples, columns: FloatArray, noise: Background | None) -> FloatArray:
    """Columns at the samples, in units in which the noise is white of variance 1, shape (n, k)."""
    if noise is None or not columns.shape[1]:
        return columns
    regular = samples.regular(columns)
    whole = np.zeros(regular.T.shape)
    for part in samples.stretches:
        whole[:, part] = noise.whitened(np.ascontiguousarray(regular[part].T))
    return np.asarray(whole[:, samples.slot].T)


def wave_columns(samples: Samples, tones: Sequence[Tone]) -> FloatArray:
    """Cosine and sine of each line in turn, shape (n, 2K)."""
    waves = np.empty((len(samples.slot), 2 * len(tones)))
    for k, tone in enumerate(tones):
        angle = (2 * np.pi * tone.frequency) * (samples.place(tone.clock) - samples.middle(tone.clock))
        waves[:, 2 * k] = np.cos(angle)
        waves[:, 2 * k + 1] = np.sin(angle)
    return waves


def _slopes(
    samples: Samples, tones: Sequence[Tone], coefficient: FloatArray, waves: FloatArray, which: NDArray[np.intp]
) -> FloatArray:
    """Differentiate the fitted waves by frequency · duration, shape (n, len(which))."""
    slopes = np.empty((len(waves), len(which)))
    for column, k in enumerate(which):
        clock = tones[k].clock
        turns = (2 * np.pi / samples.duration(clock)) * (samples.place(clock) - samples.middle(clock))
        turned = coefficient[2 * k + 1] * waves[:, 2 * k] - coefficient[2 * k] * waves[:, 2 * k + 1]
        slopes[:, column] = turns * turned
    return slopes


def _moved(samples: Samples, tone: Tone, bins: float) -> Tone:
    duration = samples.duration(tone.clock)
    highest = 0.5 / samples.step if tone.clock == "session" else 0.5
    return Tone(tone.clock, float(np.clip(tone.frequency + bins / duration, 0.5 / duration, highest)))
