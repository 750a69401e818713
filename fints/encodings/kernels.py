"""Positive-definite kernels and the laws of the frequencies that realise them.

A kernel ``f`` with ``f(0) = 1`` is the characteristic function of a law of frequencies ξ (Bochner; Herglotz if it is
periodic): ``f(x) = E cos 2πξx``. Planes that turn at frequencies drawn from that law modulate attention by ``f`` of the
distance, on average. Places and periods are in units of the clock, frequencies in turns per unit.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable  # noqa: TC003  (pydantic reads it)
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (pydantic reads it)
from pydantic import Field, model_validator

from fints.encodings.config import Kinded
from fints.errors import EncodingError

NEGATIVE = -1e-6
"""Smallest coefficient, relative to the largest, that passes for rounding."""

WIDEST, WIDE = 0.05, 1e-3
"""Values of a periodic Gaussian half a period away above which it is refused, and warned of."""

_PERIOD_POINTS = 4096
_EXTENT_POINTS = 2048
_PADDING = 64


class Kernel(Kinded, ABC):
    """A positive-definite function of distance, as a value that draws its frequencies.

    Attributes
    ----------
    kind : str
        Its name in settings.
    """

    @abstractmethod
    def value(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the kernel at some distances, in units of the clock."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw independent frequencies, in turns per unit of the clock."""


class GaussianKernel(Kernel):
    """``exp(−x² / 2ℓ²)``; frequencies are normal with standard deviation ``1 / 2πℓ``."""

    kind: Literal["gaussian"] = "gaussian"
    length: float = Field(gt=0)

    def value(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the kernel; see `Kernel.value`."""
        return np.exp(-0.5 * (distance / self.length) ** 2)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw frequencies; see `Kernel.draw`."""
        return rng.standard_normal(shape) / (2 * math.pi * self.length)


class LaplaceKernel(Kernel):
    """``exp(−|x| / b)``; frequencies are Cauchy with scale ``1 / 2πb``."""

    kind: Literal["laplace"] = "laplace"
    length: float = Field(gt=0)

    def value(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the kernel; see `Kernel.value`."""
        return np.exp(-np.abs(distance) / self.length)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw frequencies; see `Kernel.draw`."""
        return rng.standard_cauchy(shape) / (2 * math.pi * self.length)


class MaternKernel(Kernel):
    """Matérn kernel of smoothness ν; angular frequencies times ℓ follow Student's t with 2ν degrees of freedom.

    Rasmussen and Williams (2006), eq. 4.14 and 4.15. ν = ½ is the Laplace kernel.
    """

    kind: Literal["matern"] = "matern"
    length: float = Field(gt=0)
    smoothness: float = Field(default=1.5, gt=0)

    def value(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the kernel; see `Kernel.value`."""
        from scipy.special import gamma, kv

        nu = self.smoothness
        scaled = np.sqrt(2 * nu) * np.abs(np.asarray(distance, dtype=np.float64)) / self.length
        away = np.where(scaled == 0, 1.0, scaled)
        decayed = 2 ** (1 - nu) / gamma(nu) * away**nu * kv(nu, away)
        return np.where(scaled == 0, 1.0, decayed)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw frequencies; see `Kernel.draw`."""
        return rng.standard_t(2 * self.smoothness, shape) / (2 * math.pi * self.length)


class CosineKernel(Kernel):
    """``cos(2πx / T)``; frequencies are ±1/T, each with probability ½, or always 1/T if folded."""

    kind: Literal["cosine"] = "cosine"
    period: float = Field(gt=0)
    fold: bool = False

    def value(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the kernel; see `Kernel.value`."""
        return np.cos(2 * math.pi * distance / self.period)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw frequencies; see `Kernel.draw`."""
        sign = rng.choice([-1.0, 1.0], size=shape)
        return np.abs(sign) / self.period if self.fold else sign / self.period


class PeriodicGaussianKernel(Kernel):
    """``exp(−x² / 2σ²)`` within half a period of 0, repeated with period T.

    Frequencies are harmonics k/T with probabilities ``α_k ∝ exp(−½(k/σ*)²)``, ``σ* = T / 2πσ``, for ``|k| ≤ s``.
    Folded, a harmonic and its negative become the positive one, which turns every plane the same way and leaves the
    cosine modulation as it is.

    Attributes
    ----------
    period, sigma : float
        T and σ, in units of the clock.
    truncation : int
        Largest harmonic s.
    fold : bool

    Raises
    ------
    EncodingError
        If the Gaussian has not decayed half a period away: ``f(T/2)`` above 0.05. Above 0.001 it warns.
    """

    kind: Literal["periodic_gaussian"] = "periodic_gaussian"
    period: float = Field(gt=0)
    sigma: float = Field(gt=0)
    truncation: int = Field(default=6, ge=1)
    fold: bool = False

    @model_validator(mode="after")
    def _decays(self) -> Self:
        edge = math.exp(-(self.period**2) / (8 * self.sigma**2))
        told = f"σ = {self.sigma:g} is wide for a period of {self.period:g}: f(T/2) = {edge:.3g}"
        if edge > WIDEST:
            raise EncodingError(f"{told} exceeds {WIDEST:g}, so the kernel is no Gaussian; take σ below T/5")
        if edge > WIDE:
            warnings.warn(f"{told} exceeds {WIDE:g}; its law is approximate", UserWarning, stacklevel=2)
        return self

    def value(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the kernel; see `Kernel.value`."""
        within = distance - self.period * np.round(distance / self.period)
        return np.exp(-0.5 * (within / self.sigma) ** 2)

    def pmf(self) -> NDArray[np.float64]:
        """Return the probabilities of the harmonics −s … s before folding, shape (2s + 1,)."""
        k = np.arange(-self.truncation, self.truncation + 1)
        weight = np.exp(-0.5 * (k * 2 * math.pi * self.sigma / self.period) ** 2)
        pmf: NDArray[np.float64] = weight / weight.sum()
        return pmf

    def exact_coefficients(self) -> NDArray[np.float64]:
        """Return the Fourier coefficients of harmonics 0 … s by the closed form of the integral, shape (s + 1,).

        The law drawn from takes the integral to infinity; these do not, so they tell how good that is.
        """
        from scipy.special import wofz

        k = np.arange(self.truncation + 1)
        a = self.period / (2 * math.sqrt(2) * self.sigma)
        b = math.sqrt(2) * math.pi * self.sigma * k / self.period
        # e^(−b²) erf(a + ib), in the scaled complementary form that does not overflow.
        beyond = math.exp(-(a**2)) * (np.exp(-2j * a * b) * wofz(1j * a - b)).real
        within: NDArray[np.float64] = np.exp(-(b**2)) - beyond
        return self.sigma * math.sqrt(2 * math.pi) / self.period * within

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw frequencies; see `Kernel.draw`. A folded draw is the absolute value of the symmetric one."""
        k = rng.choice(np.arange(-self.truncation, self.truncation + 1), size=shape, p=self.pmf())
        return (np.abs(k) if self.fold else k) / self.period


class CallableKernel(Kernel):
    """Any function, transformed numerically. It lives in Python only: settings files cannot hold it.

    Attributes
    ----------
    function : callable
        Takes an array of distances, returns an array; even, and 1 at distance 0.
    period : float, optional
        If it is periodic.
    extent : float, optional
        Otherwise: a distance at which it has decayed to nothing. Exactly one of the two is given.

    Raises
    ------
    EncodingError
        If ``f(0) ≠ 1``, ``f`` is not even or not finite, has not decayed at `extent`, or its transform is negative at
        some frequency beyond rounding (`NEGATIVE`).
    """

    kind: Literal["callable"] = "callable"
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    period: float | None = Field(default=None, gt=0)
    extent: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _positive_definite(self) -> Self:
        self.law()
        return self

    def value(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the kernel; see `Kernel.value`."""
        return np.asarray(self.function(np.asarray(distance, dtype=np.float64)), dtype=np.float64)

    def law(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Transform the function.

        Returns
        -------
        frequencies, probabilities : ndarray
            Harmonics of the period; or, on a line so fine that it is drawn from between its points too, a density.
        """
        distance, values = self._sampled()
        transform = np.fft.fft(values).real / len(values)
        frequencies = np.fft.fftfreq(len(values), d=distance[1] - distance[0])
        worst = int(transform.argmin())
        if transform[worst] < NEGATIVE * transform.max():
            where = abs(float(frequencies[worst]))
            named = f"harmonic {round(where * self.period)}" if self.period else f"frequency {where:.4g} per unit"
            raise EncodingError(
                f"the kernel is not positive-definite: its transform at {named} is "
                f"{transform[worst] / transform.max():.3g} of the largest; no law of frequencies realises it"
            )
        positive = transform.clip(min=0)
        return frequencies, positive / positive.sum()

    def _sampled(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sample the function from distance 0 on, in the order of the discrete Fourier transform."""
        if (self.period is None) == (self.extent is None):
            raise EncodingError("a kernel given as a function needs its period, or the extent at which it is over")
        if self.period is not None:
            distance = self.period / _PERIOD_POINTS * np.arange(_PERIOD_POINTS, dtype=np.float64)
            values = self.value(distance)
        else:
            step = (self.extent or 0.0) / _EXTENT_POINTS
            distance = step * np.arange(2 * _PADDING * _EXTENT_POINTS, dtype=np.float64)
            values = np.zeros_like(distance)
            values[: _EXTENT_POINTS + 1] = self.value(distance[: _EXTENT_POINTS + 1])
            values[-_EXTENT_POINTS:] = self.value(-distance[_EXTENT_POINTS:0:-1])
        self._check(values)
        return distance, values

    def _check(self, values: NDArray[np.float64]) -> None:
        if not np.isfinite(values).all():
            raise EncodingError("the kernel is not finite everywhere; it must be a continuous function of distance")
        if abs(values[0] - 1) > abs(NEGATIVE):
            raise EncodingError(f"a kernel is 1 at distance 0; this one has f(0) = {values[0]:.6g}: divide by it")
        if not np.allclose(values[1:], values[:0:-1], atol=1e-8):
            raise EncodingError("a kernel is even in the distance; this one differs between x and −x")
        edge = 0.0 if self.extent is None else float(np.abs(values[_EXTENT_POINTS]))
        if edge > abs(NEGATIVE):
            raise EncodingError(f"the kernel is still {edge:.3g} at the extent {self.extent:g}; give a larger one")

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw frequencies; see `Kernel.draw`."""
        frequencies, probabilities = self.law()
        drawn: NDArray[np.float64] = frequencies[rng.choice(len(frequencies), size=shape, p=probabilities)]
        if self.period is None:
            drawn = drawn + (frequencies[1] - frequencies[0]) * rng.uniform(-0.5, 0.5, size=shape)
        return drawn


AnyKernel = Annotated[
    GaussianKernel | LaplaceKernel | MaternKernel | CosineKernel | PeriodicGaussianKernel | CallableKernel,
    Field(discriminator="kind"),
]
"""Every kernel, told apart by `kind`."""
