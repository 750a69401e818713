"""The null level: a smooth spectrum with memory, fitted to the periodogram itself.

    ln S(f) = b₀ - d ln(1 - 2φ cos λ + φ²) + Σₖ bₖ cos(kλ),    λ = 2π f · step,

Bloomfield's exponential model with a memory term (Beran 1993, Biometrika 80, 817-822). With d = 1 the memory term is
an AR(1) of coefficient φ; with φ = 1 it is the long memory of volume and volatility, for which an AR(1) would show a
zoo of false lines. Corner φ and order are chosen by an information criterion. The fit is Whittle's, with each
ordinate's ratio to the level capped, so that lines barely lift it.

Noise is stationary from one bar to the next, so the model lives on the session clock only. What it means for a line on
the calendar clock follows from it and from where the bars lie: see :mod:`fints.periods.calendar`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
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
ORDERS = (
    *((cosines, corner) for corner in (0.0, 1.0) for cosines in range(7)),
    *((cosines, corner) for corner in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98) for cosines in range(2)),
)
PLAIN_ORDERS = tuple((cosines, corner) for cosines, corner in ORDERS if not cosines)
_PEAK_WIDTH = 1.5
_ITERATIONS = 60
_CONVERGED = 1e-6
_FILTER = 64
_MOST_ORDINATES = 4000
_SLOWEST = 500
_EULER = 0.5772156649015329


@dataclass(frozen=True, eq=False)
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
    _responses: dict[int, NDArray[np.complex128]] = field(default_factory=dict, repr=False)

    @property
    def order(self) -> tuple[int, float]:
        """Number of cosines, and corner."""
        return self.cosines, self.corner

    def level(self, frequency: FloatArray) -> FloatArray:
        """Null level at positive frequencies below Nyquist, in the periodogram's unit."""
        terms = _terms(frequency * self.step, self.cosines, self.corner)
        return np.asarray(np.exp(terms @ self.coefficients))

    def log_variance(self, frequency: FloatArray) -> FloatArray:
        """Variance of the logarithm of the fitted level."""
        terms = _terms(frequency * self.step, self.cosines, self.corner)
        return np.asarray(((terms @ self.covariance) * terms).sum(axis=1))

    def grid_level(self, length: int, count: int) -> FloatArray:
        """Level at 0, 1, … count - 1 turns per `length` samples; just above zero in place of zero."""
        return np.asarray(np.exp(_grid_terms(length, count, self.cosines, self.corner) @ self.coefficients))

    def inverse_covariance(self, size: int) -> FloatArray:
        """Elements of the inverse of the noise's covariance by lag in samples, shape (size,)."""
        from scipy.fft import irfft, next_fast_len

        length = next_fast_len(4 * size, real=True)
        return np.asarray(irfft(1 / self.grid_level(length, length // 2 + 1), length)[:size])

    def inverse_filtered(self, value: FloatArray) -> FloatArray:
        """Values on the regular grid times that inverse, shape of `value`."""
        from scipy.fft import irfft, next_fast_len, rfft

        length = next_fast_len(2 * len(value), real=True)
        level = self.grid_level(length, length // 2 + 1)
        return np.asarray(irfft(rfft(value, length) / level, length)[: len(value)])

    def whitened(self, rows: FloatArray) -> FloatArray:
        """Series on the regular grid through the causal filter that makes the noise white, of variance 1.

        Parameters
        ----------
        rows : numpy.ndarray, shape (k, size)

        Returns
        -------
        numpy.ndarray, shape (k, size)
            What came before the first sample is taken for zero.
        """
        from scipy.fft import irfft, next_fast_len, rfft

        size = rows.shape[1]
        length = next_fast_len(2 * size, real=True)
        if size not in self._responses:
            self._responses[size] = rfft(self._whitening_filter(size), length)
        return np.asarray(irfft(rfft(rows, length) * self._responses[size], length)[:, :size])

    def _whitening_filter(self, size: int) -> FloatArray:
        """Causal filter from the logarithm's Fourier coefficients (Kolmogorov's factorisation)."""
        level, *rest = self.coefficients
        memory = rest[0] if self.corner else 0.0
        # (1 - φB)^d by the binomial series
        lag = np.arange(1, size)
        first = np.cumprod(np.concatenate([[1.0], self.corner * (lag - 1 - memory) / lag]))
        cosines = np.asarray(rest[1:] if self.corner else rest) / 2
        second = np.zeros(_FILTER)
        second[0] = np.exp(-level / 2)
        for order in range(1, _FILTER):
            terms = min(order, len(cosines))
            k = np.arange(1, terms + 1)
            second[order] = -(k * cosines[:terms]) @ second[order - k] / order
        return np.convolve(first, second)[:size]

    def describe(self) -> str:
        """Name the model in a few words."""
        memory = (
            "long memory" if self.corner == 1 else f"red noise with φ = {self.corner:g}" if self.corner else "white"
        )
        return f"null level: {memory}" + (f" + {self.cosines} cosines" if self.cosines else "")


def fit_background(
    periodogram: Periodogram,
    like: Background | None = None,
    without: float | None = None,
    orders: Sequence[tuple[int, float]] = ORDERS,
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
    orders : sequence of tuple of int and float
        Numbers of cosines and corners to choose from.

    Returns
    -------
    Background
        The best by the information criterion. Of a long series the fast ordinates are thinned out.
    """
    frequency, power = periodogram.ordinates()
    apart = None if without is None else np.abs(frequency - without) > _PEAK_WIDTH / periodogram.duration
    data = _Ordinates(periodogram, np.maximum(power, np.finfo(np.float64).tiny), apart)
    tried = orders if like is None else [like.order]
    candidates = [_candidate(data, order, like) for order in tried]
    return min(candidates, key=lambda candidate: candidate[0])[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Ordinates:
    """Ordinates to fit, and which of them; all by default."""

    periodogram: Periodogram
    power: FloatArray
    apart: NDArray[np.bool_] | None

    def design(self, order: tuple[int, float]) -> tuple[_Design, FloatArray]:
        """Regressors of an order, and the power at its ordinates."""
        stride = 1 + len(self.power) // _MOST_ORDINATES
        design = _design((self.periodogram.length, len(self.power), stride), *order)
        power = self.power[design.rows]
        if self.apart is None:
            return design, power
        apart = self.apart[design.rows]
        return _Design.of(design.rows[apart], design.terms[apart], design.weight[apart]), power[apart]


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """Regressors of the logarithm of the level.

    Every slow ordinate, every so many of the fast ones with the weight of those left out; the inverse of their moments;
    the covariance of the coefficients but for a factor.
    """

    rows: NDArray[np.intp]
    terms: FloatArray
    weight: FloatArray
    weighted: FloatArray
    inverse: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, rows: NDArray[np.intp], terms: FloatArray, weight: FloatArray) -> _Design:
        weighted = terms.T * weight
        inverse = np.asarray(np.linalg.inv(weighted @ terms), dtype=np.float64)
        # thinned ordinates are fewer than their weights say
        covariance = inverse @ ((weighted * weight) @ terms) @ inverse
        return cls(rows, terms, weight, weighted, inverse, np.asarray(covariance))


@lru_cache(maxsize=64)
def _design(size: tuple[int, int, int], cosines: int, corner: float) -> _Design:
    """Regressors by the length of a turn in samples, the number of ordinates, and how many fast ones go to one."""
    length, count, stride = size
    rows = np.r_[: min(_SLOWEST, count), _SLOWEST:count:stride]
    weight = np.where(rows < _SLOWEST, 1.0, stride)
    return _Design.of(rows, _grid_terms(length, count + 1, cosines, corner)[rows + 1], weight)


def _candidate(data: _Ordinates, order: tuple[int, float], like: Background | None) -> tuple[float, Background]:
    """Information criterion and fit of one order."""
    cosines, corner = order
    design, power = data.design(order)
    correlation = data.periodogram.correlation
    coefficients = _fit(design, power, None if like is None else like.coefficients)
    ratio = power * np.exp(-design.terms @ coefficients)
    capped = np.where(ratio < _CAP, ratio, _CAP + _CAP * np.log(np.maximum(ratio, _CAP) / _CAP))
    loss = float(design.weight @ (capped - _MEAN * np.log(ratio)))
    size = design.terms.shape[1] + (0 < corner < 1)
    criterion = 2 * loss * _SLOPE / _VARIANCE / correlation + size * np.log(design.weight.sum() / correlation)
    covariance = design.covariance * (correlation * _VARIANCE / _SLOPE**2)
    return criterion, Background(cosines, corner, coefficients, covariance, data.periodogram.step)


def _fit(design: _Design, power: FloatArray, start: FloatArray | None) -> FloatArray:
    """Minimise the convex objective by Newton's method."""
    terms, weighted = design.terms, design.weighted
    coefficients = design.inverse @ (weighted @ (np.log(power) + _EULER)) if start is None else start
    for _ in range(_ITERATIONS):
        step = design.inverse @ (weighted @ (np.minimum(power * np.exp(-terms @ coefficients), _CAP) - _MEAN)) / _SLOPE
        change = float(np.abs(terms @ step).max())
        # far from the minimum the expected curvature is too small a guide for a full step
        coefficients = coefficients + step * min(1.0, 2.0 / max(change, 1e-300))
        if change < _CONVERGED:
            break
    return np.asarray(coefficients)


def _terms(cycles_per_sample: FloatArray, cosines: int, corner: float) -> FloatArray:
    angle = 2 * np.pi * cycles_per_sample
    terms = np.empty((len(angle), 1 + bool(corner) + cosines))
    terms[:, 0] = 1.0
    wave = np.cos(angle)
    if corner:
        # 1 - 2φ cos λ + φ² without the cancellation at small λ
        terms[:, 1] = -np.log((1 - corner) ** 2 + 4 * corner * np.sin(angle / 2) ** 2)
    first = 1 + bool(corner)
    for k in range(cosines):
        # Chebyshev's recurrence
        terms[:, first + k] = (
            wave if k == 0 else 2 * wave * terms[:, first + k - 1] - (terms[:, first + k - 2] if k > 1 else 1.0)
        )
    return terms


@lru_cache(maxsize=64)
def _grid_terms(length: int, count: int, cosines: int, corner: float) -> FloatArray:
    """Terms at 0, 1, … count - 1 turns per `length` samples; just above zero in place of zero."""
    cycles = np.arange(count) / length
    cycles[0] = 0.25 / length
    return _terms(cycles, cosines, corner)
