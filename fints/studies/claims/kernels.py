"""The kernels that the propositions are checked for, in hours of a day."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings.kernels import (
    CallableKernel,
    CosineKernel,
    GaussianKernel,
    LaplaceKernel,
    MaternKernel,
    PeriodicGaussianKernel,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.encodings.kernels import Kernel

    FloatArray = NDArray[np.float64]

TRUNCATION = 12
"""Largest harmonic of the periodic Gaussian: its cut stays below the Monte-Carlo error."""

_DAY, _SIGMA = 24.0, 2.0


def _triangle(distance: FloatArray) -> FloatArray:
    return np.asarray(np.clip(1 - np.abs(distance) / 24, 0, None))


def _von_mises(distance: FloatArray) -> FloatArray:
    return np.asarray(np.exp(4 * (np.cos(2 * np.pi * distance / _DAY) - 1)))


SYMMETRIC: Mapping[str, Kernel] = MappingProxyType(
    {
        "Gaussian, ℓ = 8": GaussianKernel(length=8),
        "Laplace, b = 10": LaplaceKernel(length=10),
        "Matérn 3/2, ℓ = 8": MaternKernel(length=8, smoothness=1.5),
        "cosine, T = 24": CosineKernel(period=_DAY),
        "periodic Gaussian, T = 24, σ = 2": PeriodicGaussianKernel(period=_DAY, sigma=_SIGMA, truncation=TRUNCATION),
        "callable: triangle": CallableKernel(function=_triangle, extent=24.0),
        "callable: periodic von Mises": CallableKernel(function=_von_mises, period=_DAY),
    }
)
FOLDED: Mapping[str, CosineKernel | PeriodicGaussianKernel] = MappingProxyType(
    {
        "cosine, folded": CosineKernel(period=_DAY, fold=True),
        "periodic Gaussian, folded": PeriodicGaussianKernel(
            period=_DAY, sigma=_SIGMA, truncation=TRUNCATION, fold=True
        ),
    }
)


def folded_sine(kernel: CosineKernel | PeriodicGaussianKernel, distances: Sequence[float]) -> FloatArray:
    """Return the expected sine of the phase under a folded law, shape (distances,)."""
    pmf = np.array([0.5, 0.0, 0.5]) if isinstance(kernel, CosineKernel) else kernel.pmf()
    half = len(pmf) // 2
    harmonic = np.arange(1, half + 1)
    phase = 2 * np.pi * np.outer(distances, harmonic) / kernel.period
    return np.asarray(np.sin(phase) @ (2 * pmf[half + 1 :]))
