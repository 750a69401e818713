"""How surprising a peak is when the series is nothing but noise with memory.

The null level is a smooth spectrum fitted to the periodogram itself,

    ln S(f) = b₀ - d ln(1 - 2φ cos λ + φ²) + Σₖ bₖ cos(kλ),    λ = 2π f · step,

Bloomfield's exponential model with a memory term (Beran 1993, Biometrika 80, 817-822). With d = 1 the memory term is
an AR(1) of coefficient φ; with φ = 1 it is the long memory of volume and volatility, for which an AR(1) would show a
zoo of false lines. Corner φ and order are chosen by an information criterion. The fit is Whittle's, with each
ordinate's ratio to the level capped, so that lines barely lift it.

A peak's ratio to the level is then compared with the largest of many: under the null one ratio is exponential, widened
to an F by the error of the fitted level, and the search over a band follows Davies' bound (Baluev 2008, MNRAS 385,
1279-1285, eq. 6), which is exact for rare peaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.spectrum import Periodogram

    FloatArray = NDArray[np.float64]

_CAP = 3.0
_MEAN = 1 - np.exp(-_CAP)
_SLOPE = 1 - (1 + _CAP) * np.exp(-_CAP)
_VARIANCE = 2 * _SLOPE - _MEAN**2
_ORDERS = (
    *((cosines, corner) for corner in (0.0, 1.0) for cosines in range(7)),
    *((cosines, corner) for corner in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98) for cosines in range(2)),
)
_PEAK_WIDTH = 1.5
_ITERATIONS = 60
_CONVERGED = 1e-6
_EULER = 0.5772156649015329


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """A fitted null spectrum.

    Parameters
    ----------
    cosines : int
        How many cosine terms it has.
    corner : float
        φ of the memory term: 1 for long memory, less for red noise; 0 for no such term.
    coefficients : numpy.ndarray, shape (k,)
        b₀, then d if there is a memory term, then b₁ ….
    covariance : numpy.ndarray, shape (k, k)
        Of the coefficients.
    step : float
        Clock units between samples.
    """

    cosines: int
    corner: float
    coefficients: FloatArray
    covariance: FloatArray
    step: float

    def level(self, frequency: FloatArray) -> FloatArray:
        """Null level at positive frequencies below Nyquist, in the periodogram's unit."""
        terms = _terms(frequency * self.step, self.cosines, self.corner)
        return np.asarray(np.exp(terms @ self.coefficients))

    def log_variance(self, frequency: FloatArray) -> FloatArray:
        """Variance of the logarithm of the fitted level."""
        terms = _terms(frequency * self.step, self.cosines, self.corner)
        return np.asarray(((terms @ self.covariance) * terms).sum(axis=1))

    def describe(self) -> str:
        """Name the model in a few words."""
        memory = (
            "long memory" if self.corner == 1 else f"red noise with φ = {self.corner:g}" if self.corner else "white"
        )
        return f"null level: {memory}" + (f" + {self.cosines} cosines" if self.cosines else "")


def fit_background(
    periodogram: Periodogram, like: Background | None = None, without: float | None = None
) -> Background:
    """Fit the null spectrum.

    Parameters
    ----------
    periodogram : Periodogram
        Of the series, or of what is left of it.
    like : Background, optional
        Keep this one's order instead of choosing one.
    without : float, optional
        Leave out the ordinates about this frequency, so that a peak is judged by a level it has no part in.

    Returns
    -------
    Background
        The best by the information criterion.
    """
    frequency, power = periodogram.ordinates()
    if without is not None:
        apart = np.abs(frequency - without) > _PEAK_WIDTH / periodogram.duration
        frequency, power = frequency[apart], power[apart]
    power = np.maximum(power, np.finfo(np.float64).tiny)
    orders = _ORDERS if like is None else ((like.cosines, like.corner),)
    candidates = [_candidate(frequency, power, periodogram, order) for order in orders]
    return min(candidates, key=lambda candidate: candidate[0])[1]


def _candidate(
    frequency: FloatArray, power: FloatArray, periodogram: Periodogram, order: tuple[int, float]
) -> tuple[float, Background]:
    """Information criterion and fit of one order."""
    cosines, corner = order
    correlation = periodogram.correlation
    terms = _terms(frequency * periodogram.step, cosines, corner)
    coefficients, inverse = _fit(terms, power)
    covariance = inverse * correlation * _VARIANCE / _SLOPE**2
    ratio = power * np.exp(-terms @ coefficients)
    capped = np.where(ratio < _CAP, ratio, _CAP + _CAP * np.log(np.maximum(ratio, _CAP) / _CAP))
    loss = float(np.sum(capped - _MEAN * np.log(ratio)))
    size = terms.shape[1] + (0 < corner < 1)
    criterion = 2 * loss * _SLOPE / _VARIANCE / correlation + size * np.log(len(frequency) / correlation)
    return criterion, Background(cosines, corner, coefficients, covariance, periodogram.step)


def exceedance(ratio: FloatArray, log_variance: FloatArray) -> FloatArray:
    """Give -ln of the chance that noise gives one ordinate a higher ratio, the level's own error allowed for.

    Parameters
    ----------
    ratio : numpy.ndarray
        Power over the fitted level.
    log_variance : numpy.ndarray
        Variance of the log of that level, positive.

    Returns
    -------
    numpy.ndarray
        The ratio itself where the level is known exactly, less otherwise: the tail of an F(2, 2 / log_variance).
    """
    return np.asarray(np.log1p(ratio * log_variance) / log_variance)


def ratio_of(exceedance_: float, log_variance: FloatArray) -> FloatArray:
    """Ratio that has a given exceedance; the inverse of :func:`exceedance`."""
    return np.asarray(np.expm1(exceedance_ * log_variance) / log_variance)


def search_p_value(exceedance_: float, peaks: float) -> float:
    """Chance that the highest of a whole band of noise exceeds this.

    Parameters
    ----------
    exceedance_ : float
        Of the highest peak found.
    peaks : float
        Width of the band times the periodogram's `spread`.

    Returns
    -------
    float
        In [0, 1].
    """
    single = np.exp(-exceedance_)
    return float(-np.expm1(-single - peaks * np.sqrt(max(exceedance_, 0.5)) * single))


def search_threshold(alpha: float, peaks: float) -> float:
    """Exceedance whose search-wide chance is `alpha`."""
    from scipy.optimize import brentq

    high = 50.0 + np.log(peaks + 1) - np.log(alpha)
    return float(brentq(lambda e: search_p_value(e, peaks) - alpha, 0.0, high))


def false_discovery(p_values: Sequence[float], family: Sequence[float]) -> FloatArray:
    """Adjust p-values to q-values within a family of tests.

    Parameters
    ----------
    p_values : sequence of float
        To be judged; a member of the family, or a further line of one of its series.
    family : sequence of float
        The smallest p of every series searched.

    Returns
    -------
    numpy.ndarray, shape (len(p_values),)
        Benjamini and Hochberg's (1995) adjusted p: the family's own members get the textbook value.
    """
    ordered = np.sort(np.asarray(family, dtype=np.float64))
    count = len(ordered)
    ranks = np.arange(1, count + 1)
    out = []
    for p in p_values:
        rank = max(int(np.searchsorted(ordered, p, side="right")), 1)
        higher = ordered[rank:] * count / ranks[rank:]
        out.append(min(1.0, p * count / rank, *higher))
    return np.array(out, dtype=np.float64)


def _terms(cycles_per_sample: FloatArray, cosines: int, corner: float) -> FloatArray:
    angle = 2 * np.pi * cycles_per_sample
    memory = [-np.log(1 - 2 * corner * np.cos(angle) + corner**2)] if corner else []
    return np.column_stack([np.ones_like(angle), *memory, *(np.cos(k * angle) for k in range(1, cosines + 1))])


def _fit(terms: FloatArray, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minimise the convex objective by Newton's method; also give the inverse of the terms' moment matrix."""
    inverse = np.asarray(np.linalg.inv(terms.T @ terms), dtype=np.float64)
    coefficients = inverse @ (terms.T @ (np.log(power) + _EULER))
    for _ in range(_ITERATIONS):
        score = np.minimum(power * np.exp(-terms @ coefficients), _CAP) - _MEAN
        step = inverse @ (terms.T @ score) / _SLOPE
        change = float(np.abs(terms @ step).max())
        # far from the minimum the expected curvature is too small a guide for a full step
        coefficients = coefficients + step * min(1.0, 2.0 / max(change, 1e-300))
        if change < _CONVERGED:
            break
    return coefficients, inverse
