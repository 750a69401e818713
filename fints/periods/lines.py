"""Spectral lines of one series: refined as far as its length allows, judged for constancy, grouped by harmonics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

CONVERGE = 25
_CONVERGED = 1e-6
_MOST_WINDOWS = 4
_CYCLES_PER_WINDOW = 2
_PRESENT = 0.5
_HIGHEST_HARMONIC = 8
_WEAKEST_FUNDAMENTAL = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class LineFit:
    """Least-squares fit of K lines, a mean and a trend.

    Parameters
    ----------
    frequency : numpy.ndarray, shape (K,)
        Cycles per clock unit.
    cosine, sine : numpy.ndarray, shape (K,)
        Coefficients about the middle of the series.
    middle : float
        The place they refer to.
    curvature : numpy.ndarray, shape (K,)
        Variance of each frequency per unit of noise power: the Cramér-Rao bound for the sampled places, with mean,
        trend, amplitudes, phases and the other lines unknown too.
    residual : numpy.ndarray, shape (n,)
        Values less the lines (mean and trend stay in).
    """

    frequency: FloatArray
    cosine: FloatArray
    sine: FloatArray
    middle: float
    curvature: FloatArray
    residual: FloatArray

    @property
    def amplitude(self) -> FloatArray:
        """Half the swing of each line, in units of y."""
        return np.hypot(self.cosine, self.sine)

    @property
    def phase(self) -> FloatArray:
        """Phase φ of amplitude · cos(2π · frequency · place + φ), the place counted from zero, in (-π, π]."""
        turned = np.arctan2(-self.sine, self.cosine) - 2 * np.pi * self.frequency * self.middle
        return np.asarray(np.pi - np.mod(np.pi - turned, 2 * np.pi))

    def line(self, index: int, place: FloatArray) -> FloatArray:
        """Values of one line at some places."""
        angle = 2 * np.pi * self.frequency[index] * (place - self.middle)
        return np.asarray(self.cosine[index] * np.cos(angle) + self.sine[index] * np.sin(angle))


def fit_lines(samples: Samples, value: FloatArray, frequencies: Sequence[float], steps: int = CONVERGE) -> LineFit:
    """Refine the frequencies of some lines together, by nonlinear least squares on the observed values.

    Parameters
    ----------
    samples : Samples
        Where the values stand; interpolated slots take no part.
    value : numpy.ndarray, shape (n,)
        The samples' values, or what is left of them.
    frequencies : sequence of float
        First guesses in cycles per clock unit, each within half of 1 / duration of the truth.
    steps : int
        Most Gauss-Newton steps; enough to converge by default.

    Returns
    -------
    LineFit
        Gauss and Newton's minimum near the guesses.

    Notes
    -----
    Least squares reaches the bound for a line in coloured noise too, as the noise is flat over the width of a line
    (Hannan 1973, J. Applied Probability 10, 510-519).
    """
    middle = 0.5 * float(samples.place[0] + samples.place[-1])
    time = samples.place - middle
    scale = samples.duration
    frequency = np.array(frequencies, dtype=np.float64)
    lines = len(frequency)
    for _ in range(steps):
        waves, linear = _waves(time, scale, frequency, value)
        design = np.hstack([waves, _slopes(time, scale, waves, linear)])
        change = np.linalg.lstsq(design.T @ design, design.T @ (value - waves @ linear), rcond=None)[0][-lines:]
        moved = frequency + np.clip(change, -0.25, 0.25) / scale
        frequency = np.clip(moved, 0.5 / scale, 0.5 / samples.step)
        if np.abs(change).max() < _CONVERGED:
            break
    waves, linear = _waves(time, scale, frequency, value)
    design = np.hstack([waves, _slopes(time, scale, waves, linear)])
    bound = np.maximum(np.diag(np.linalg.pinv(design.T @ design))[-lines:], 0.0) / scale**2
    return LineFit(
        frequency=frequency,
        cosine=linear[2::2],
        sine=linear[3::2],
        middle=middle,
        curvature=bound,
        residual=value - waves[:, 2:] @ linear[2:],
    )


def _waves(time: FloatArray, scale: float, frequency: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns of mean, trend and waves, shape (n, 2 + 2K), and their least-squares coefficients."""
    angle = 2 * np.pi * time[:, None] * frequency
    waves = np.empty((len(time), 2 + 2 * len(frequency)))
    waves[:, 0] = 1.0
    waves[:, 1] = time / scale
    waves[:, 2::2] = np.cos(angle)
    waves[:, 3::2] = np.sin(angle)
    linear = np.linalg.lstsq(waves.T @ waves, waves.T @ value, rcond=None)[0]
    return waves, np.asarray(linear, dtype=np.float64)


def _slopes(time: FloatArray, scale: float, waves: FloatArray, linear: FloatArray) -> FloatArray:
    """Differentiate the fitted waves by frequency · scale, shape (n, K)."""
    turned = linear[3::2] * waves[:, 2::2] - linear[2::2] * waves[:, 3::2]
    return np.asarray((2 * np.pi / scale) * time[:, None] * turned)


def is_stable(samples: Samples, fit: LineFit, index: int) -> bool:
    """Whether a line runs through the whole series instead of a part of it.

    The series, other lines taken out, is cut into up to four windows of at least two cycles. In each the line's wave is
    fitted again, with a mean and a trend; the line counts as present there if at least half of its amplitude is found
    in its own phase. All windows but one of four have to hold it.

    Parameters
    ----------
    samples : Samples
        The series.
    fit : LineFit
        Its lines.
    index : int
        The line to judge.
    """
    cycles = samples.duration * fit.frequency[index]
    windows = int(np.clip(cycles // _CYCLES_PER_WINDOW, 1, _MOST_WINDOWS))
    value = fit.residual + fit.line(index, samples.place)
    edges = np.linspace(samples.place[0], samples.place[-1], windows + 1)[1:-1]
    parts = np.split(np.arange(len(value)), np.searchsorted(samples.place, edges))
    present = [_holds(samples.place[part], value[part], fit, index) for part in parts]
    return sum(present) >= windows - (windows == _MOST_WINDOWS)


def _holds(place: FloatArray, value: FloatArray, fit: LineFit, index: int) -> bool:
    time = place - fit.middle
    angle = 2 * np.pi * fit.frequency[index] * time
    design = np.column_stack([np.ones_like(time), time, np.cos(angle), np.sin(angle)])
    part = np.linalg.lstsq(design, value, rcond=None)[0][2:]
    whole = np.array([fit.cosine[index], fit.sine[index]])
    return bool(part @ whole >= _PRESENT * (whole @ whole))


def group_harmonics(frequency: FloatArray, tolerance: FloatArray, strength: FloatArray) -> dict[int, dict[int, int]]:
    """Put lines under their fundamentals.

    A line is the k-th harmonic (k ≤ 8) of a lower one where the fundamental that each implies agrees within their
    tolerances, unless that lower line has less than a fifth of its strength.

    Parameters
    ----------
    frequency, tolerance, strength : numpy.ndarray, shape (K,)
        Of the lines; how far off a frequency may be.

    Returns
    -------
    dict
        Index of each fundamental to its members, harmonic number to index; the fundamental is number 1.
    """
    groups: dict[int, dict[int, int]] = {}
    for line in np.argsort(frequency):
        for fundamental, members in groups.items():
            number = int(np.rint(frequency[line] / frequency[fundamental]))
            allowed = np.hypot(tolerance[line] / number, tolerance[fundamental])
            off = abs(frequency[line] / number - frequency[fundamental])
            strong = strength[fundamental] >= _WEAKEST_FUNDAMENTAL * strength[line]
            if 1 < number <= _HIGHEST_HARMONIC and off <= allowed and strong and number not in members:
                members[number] = int(line)
                break
        else:
            groups[int(line)] = {1: int(line)}
    return groups
