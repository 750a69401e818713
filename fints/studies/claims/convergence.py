"""Proposition 3.2 of ClockRoPE: a head of D channels is exponentially seldom far from the kernel."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.encodings.kernels import CosineKernel, GaussianKernel, PeriodicGaussianKernel
from fints.studies.claims.claim import Below, Claim, Near, number
from fints.studies.claims.estimator import Pair, draw, scores
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.sources import CLOCK_ROPE, MCDIARMID
from fints.studies.findings import Line, LineChart, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.encodings.kernels import Kernel

    FloatArray = NDArray[np.float64]

DIMS = (16, 32, 64, 128, 256)
EPSILONS = (0.1, 0.2, 0.3, 0.5)
DISTANCE, TURN = 3.0, math.pi / 3
SLOPE = 0.02
"""How far the fitted slope may be from −1/2."""

KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "Gaussian": GaussianKernel(length=8),
        "cosine": CosineKernel(period=24),
        "periodic Gaussian": PeriodicGaussianKernel(period=24, sigma=2),
    }
)
SHOWN = "periodic Gaussian"
PICTURED = (1, 3)
"""Of `EPSILONS`, those in the figure of the tails."""


def deviations(kernel: Kernel, dim: int, draws: int, seed: int) -> FloatArray:
    """Return ``(2/D)(ĝ − qᵀk f)`` of many draws, shape (draws,); every plane has norm 1."""
    pair = Pair.of_unit_planes(dim, np.random.default_rng(dim), TURN)
    found = scores(pair, draw(kernel, (draws, dim // 2), seed), [DISTANCE])[0]
    expected = pair.dot * float(kernel.value(np.array([DISTANCE]))[0])
    return np.asarray((found - expected) * 2 / dim)


def bound(epsilon: float, dim: int) -> float:
    """Return the right-hand side of eq. 12 for planes of norm 1, at most 1."""
    return min(1.0, 2 * math.exp(-(epsilon**2) * dim**2 / (8 * (dim / 2))))


def tails(deviation: FloatArray) -> FloatArray:
    """Return the share of draws that deviate by ε or more, shape (epsilons,)."""
    return np.array([float(np.mean(np.abs(deviation) >= epsilon)) for epsilon in EPSILONS])


def slope_of(dims: FloatArray, spread: FloatArray) -> float:
    """Fit the exponent of a power law."""
    return float(np.polyfit(np.log(dims), np.log(spread), 1)[0])


def convergence(draws: int) -> Evidence:
    """Compare the tails with the bound, and the spread with the law of large numbers."""
    found = {
        name: [deviations(kernel, dim, draws, 400 + 10 * i + j) for j, dim in enumerate(DIMS)]
        for i, (name, kernel) in enumerate(KERNELS.items())
    }
    bounds = np.array([[bound(epsilon, dim) for epsilon in EPSILONS] for dim in DIMS])
    tail = {name: np.array([tails(d) for d in by_dim]) for name, by_dim in found.items()}
    dims = np.array(DIMS, dtype=np.float64)
    spread = {name: np.array([float(np.sqrt(np.mean(d**2))) for d in by_dim]) for name, by_dim in found.items()}
    slopes = {name: slope_of(dims, values) for name, values in spread.items()}
    reached = {name: float((shares / bounds).max()) for name, shares in tail.items()}
    claims = []
    for name in KERNELS:
        claims.append(Claim(f"{name}: largest tail over its bound", Below(1.0), reached[name], CLOCK_ROPE.at("eq. 12")))
        claims.append(Claim(f"{name}: exponent of the deviation in D", Near(-0.5, SLOPE), slopes[name]))
    return Evidence(
        title=f"How fast one draw converges ({CLOCK_ROPE.at('proposition 3.2')})",
        text=(
            f"Planes of norm 1, keys turned by 60° against queries, {DISTANCE:g} hours apart on a day of 24; "
            f"{draws:,} draws for every D. {CLOCK_ROPE.at('eq. 12')} bounds the probability that 2/D times the score "
            f"is ε or more off; here it reads 2 exp(−ε² D / 4). The table gives the share of draws of the {SHOWN} "
            "that are, and the bound where it is below 1. McDiarmid's inequality, from which it follows "
            f"({MCDIARMID.tag}), knows nothing of the variance, so it is loose far out. The figure of the tails has a "
            f"logarithmic axis and leaves out shares of zero: {_zeros(tail[SHOWN], draws)}."
        ),
        claims=claims,
        holds=(
            f"{CLOCK_ROPE.at('proposition 3.2')} holds: no tail exceeds its bound (the largest is "
            f"{max(reached.values()):.2f} of it), and the deviation falls with D to powers between "
            f"−{-min(slopes.values()):.3f} and −{-max(slopes.values()):.3f}."
        ),
        tables=[_table(tail[SHOWN], bounds)],
        charts=_pictures(dims, spread, tail[SHOWN], bounds),
    )


def _zeros(tail: FloatArray, draws: int) -> str:
    """Say where the figure has no point, because not one draw deviates."""
    left_out = [f"D = {dim}, ε = {EPSILONS[j]:g}" for j in PICTURED for i, dim in enumerate(DIMS) if tail[i, j] == 0]
    return f"none of the {draws:,} draws deviates at {' and '.join(left_out)}" if left_out else "here there are none"


def _table(tail: FloatArray, bounds: FloatArray) -> Table:
    rows = [
        [
            dim,
            *(f"{number(t)} (≤ {number(b)})" if b < 1 else number(t) for t, b in zip(tail[i], bounds[i], strict=True)),
        ]
        for i, dim in enumerate(DIMS)
    ]
    columns = ["D", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    return Table("Share of draws that deviate by ε or more (bound).", pd.DataFrame(rows, columns=columns))


def _pictures(
    dims: FloatArray, spread: Mapping[str, FloatArray], tail: FloatArray, bounds: FloatArray
) -> list[LineChart]:
    guide = Line("slope −1/2", dims, float(spread[SHOWN][0]) * np.sqrt(dims[0] / dims), reference=True)
    marks = [Line(name, dims, values, marks=True) for name, values in spread.items()]
    tail_lines = []
    for j in PICTURED:
        seen = tail[:, j] > 0
        tail_lines.append(Line(f"bound, ε = {EPSILONS[j]:g}", dims, bounds[:, j], reference=True))
        tail_lines.append(Line(f"draws, ε = {EPSILONS[j]:g}", dims[seen], tail[seen, j], marks=True))
    return [
        LineChart(
            "deviation",
            "Root mean square deviation of one draw from the kernel",
            "channels D",
            "deviation of (2/D) × score",
            [guide, *marks],
            log_x=True,
            log_y=True,
        ),
        LineChart(
            "tails",
            f"Probability that a draw is ε or more off, {SHOWN} (zeros left out)",
            "channels D",
            "probability",
            tail_lines,
            log_y=True,
        ),
    ]
