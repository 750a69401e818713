"""What each encoding offers to least squares, and what least squares makes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import CycleConfig, NoEncoding, TimeAxis
from fints.encodings.absolute import AbsoluteLinear, AbsoluteLinearConfig
from fints.encodings.cycle import cycle_planes
from fints.encodings.rope import Plane, RotaryEncoding
from fints.plan import FrequencyPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SPAN, TRAINED = 400, 200
"""Places 0 … 399, of which the first 200 are fitted and the others extrapolated."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Root mean square errors where the basis was fitted, and beyond.

    Parameters
    ----------
    fitted, extrapolated : float
    """

    fitted: float
    extrapolated: float


def places(n: int = SPAN) -> TimeAxis:
    """Return the places 0 … n − 1, on the index and the session clock."""
    at = torch.arange(n)[None]
    return TimeAxis(index=at, session=at)


def sines(amplitudes: dict[float, float], n: int = SPAN) -> FloatArray:
    """Sum ``A sin(2πt/P)`` over the periods P and amplitudes A given."""
    t = np.arange(n, dtype=np.float64)
    return np.asarray(np.sum([a * np.sin(2 * np.pi * t / period) for period, a in amplitudes.items()], axis=0))


def constant_basis(n: int = SPAN) -> FloatArray:
    """Return what tokens that are all alike become without positions: a constant column, shape (n, 1)."""
    tokens = torch.ones(1, n, 1, dtype=torch.float64)
    return np.asarray(NoEncoding(1).embed(tokens, places(n))[0].numpy())


def linear_basis(n: int = SPAN) -> FloatArray:
    """Return the columns ``[1, t]`` that absolute linear positions add to empty tokens, shape (n, 2)."""
    config = AbsoluteLinearConfig()
    encoding = AbsoluteLinear(config, 2, 1)
    with torch.no_grad():
        encoding.project.weight.copy_(torch.tensor([[0.0], [config.scale]]))
        encoding.project.bias.copy_(torch.tensor([1.0, 0.0]))
        columns = encoding.embed(torch.zeros(1, n, 2, dtype=torch.float64), places(n))[0]
    return np.asarray(columns.numpy())


def turning(thetas: Sequence[float] | FloatArray) -> RotaryEncoding:
    """Return planes that turn by the given angles per place, in radians."""
    return RotaryEncoding(tuple(Plane("index", float(theta) / (2 * math.pi)) for theta in thetas), 1)


def cycling(periods: Sequence[float]) -> RotaryEncoding:
    """Return the cycle encoding with one plane per period, and none on the rope schedule."""
    planes = cycle_planes(CycleConfig(share=1.0), 2 * len(periods), FrequencyPlan.from_periods(periods))
    return RotaryEncoding(planes, 1)


def rotary_basis(encoding: RotaryEncoding, n: int = SPAN) -> FloatArray:
    """Return the cosine and the sine of every plane's phase, shape (n, 2P).

    Phases are the encoding's own, in float64. Its tables are float32: least squares through them stops at 1e-8.
    """
    angle = 2 * math.pi * encoding.turns(places(n))[0].numpy()
    return np.concatenate((np.cos(angle), np.sin(angle)), axis=1)


def predict(basis: FloatArray, y: FloatArray, trained: int = TRAINED) -> FloatArray:
    """Fit the first `trained` places by least squares and predict all."""
    weights, *_ = np.linalg.lstsq(basis[:trained], y[:trained], rcond=None)
    return np.asarray(basis @ weights)


def errors(basis: FloatArray, y: FloatArray, trained: int = TRAINED) -> Errors:
    """Fit the first `trained` places and measure there and beyond."""
    off = predict(basis, y, trained) - y
    return Errors(float(np.sqrt(np.mean(off[:trained] ** 2))), float(np.sqrt(np.mean(off[trained:] ** 2))))
