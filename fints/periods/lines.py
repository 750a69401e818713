"""Spectral lines of one series, on either clock, fitted together as far as its length allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.whitening import wave_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.samples import Clock, Samples
    from fints.periods.whitening import Whitening

    FloatArray = NDArray[np.float64]

CONVERGE = 25
_CONVERGED = 1e-4
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
        Half the sum of squares left, in units of the noise: the negative log-likelihood but for a constant; NaN for no
        line.
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


def no_lines(value: FloatArray) -> LineFit:
    """Fit of no line at all."""
    none = np.empty(0)
    return LineFit((), none, none, none, value, np.nan)


def fit_lines(
    frame: Whitening,
    value: FloatArray,
    tones: Sequence[Tone],
    *,
    free: Sequence[bool] | None = None,
    steps: int = CONVERGE,
) -> LineFit:
    """Refine the frequencies of some lines together, by generalised nonlinear least squares on the observed values.

    Parameters
    ----------
    frame : Whitening
        The series' places, its noise, and what is fitted beside the lines.
    value : numpy.ndarray, shape (n,)
        The series' values, or what is left of them.
    tones : sequence of Tone
        First guesses, each within half of 1 / duration of the truth.
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
    samples, current = frame.samples, list(tones)
    moving = np.ones(len(current), dtype=bool) if free is None else np.asarray(free, dtype=bool)
    which = np.flatnonzero(moving)
    target = frame.plain(value[:, None])[:, 0]
    converged, step = False, 0
    while True:
        linear = np.hstack([np.empty((len(target), 0)), *(frame.waves(tone) for tone in current)])
        coefficient = np.asarray(np.linalg.lstsq(linear.T @ linear, linear.T @ target, rcond=None)[0], np.float64)
        slopes = frame.plain(_slopes(samples, current, coefficient, which))
        design = np.hstack([linear, slopes])
        if converged or step == steps or not len(which):
            break
        left = target - linear @ coefficient
        change = np.linalg.lstsq(design.T @ design, design.T @ left, rcond=None)[0][linear.shape[1] :]
        for k, turns in zip(which, np.clip(change, -_LONGEST_STEP, _LONGEST_STEP), strict=True):
            current[k] = _moved(samples, current[k], float(turns))
        converged, step = bool(np.abs(change).max() < _CONVERGED), step + 1
    inverse = np.maximum(np.diag(np.linalg.pinv(design.T @ design)), 0.0)
    scale = np.array([samples.duration(tone.clock) for tone in current])
    variance = np.full(len(current), np.nan)
    variance[which] = inverse[linear.shape[1] :] / scale[which] ** 2
    return LineFit(
        tones=tuple(current),
        cosine=coefficient[::2],
        sine=coefficient[1::2],
        variance=variance,
        residual=frame.without_regressors(value - wave_columns(samples, current) @ coefficient),
        misfit=0.5 * float(np.sum((target - linear @ coefficient) ** 2)),
    )


def _slopes(samples: Samples, tones: Sequence[Tone], coefficient: FloatArray, which: NDArray[np.intp]) -> FloatArray:
    """Differentiate the fitted waves by frequency · duration, shape (n, len(which))."""
    slopes = np.empty((len(samples.slot), len(which)))
    for column, k in enumerate(which):
        clock, waves = tones[k].clock, wave_columns(samples, [tones[k]])
        turns = (2 * np.pi / samples.duration(clock)) * (samples.place(clock) - samples.middle(clock))
        slopes[:, column] = turns * (coefficient[2 * k + 1] * waves[:, 0] - coefficient[2 * k] * waves[:, 1])
    return slopes


def _moved(samples: Samples, tone: Tone, bins: float) -> Tone:
    duration = samples.duration(tone.clock)
    highest = 0.5 / samples.step if tone.clock == "session" else 0.5
    return Tone(tone.clock, float(np.clip(tone.frequency + bins / duration, 0.5 / duration, highest)))
