"""Proposition 3.1 of ClockRoPE: on average, rotations weigh scores by the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.encodings.kernels import GaussianKernel
from fints.encodings.rfr import RfrConfig, rfr_planes
from fints.studies.claims.claim import Above, Below, Claim
from fints.studies.claims.estimator import Pair, draw, scores
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.kernels import FOLDED, SYMMETRIC, TRUNCATION, folded_sine
from fints.studies.claims.sources import CLOCK_ROPE
from fints.studies.findings import Line, LineChart, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.encodings.kernels import Kernel

    FloatArray = NDArray[np.float64]

DIM = 32
DISTANCES = (0.0, 1.0, -3.0, 6.0, 12.0, 21.0, 60.0)
FALSE_ALARM = 1e-3
"""Probability that a true proposition fails, over all comparisons together."""

DIRECTED = 0.01
"""A bias, as a share of the largest score there can be, that is no accident."""

PICTURED = ("cosine, T = 24", "periodic Gaussian, T = 24, σ = 2")
_PICTURED_DRAWS = 2000
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The mean of many draws at every distance, against what is expected.

    Parameters
    ----------
    mean, error, expected : ndarray, shape (distances,)
        Monte-Carlo mean, its standard error, and the expectation claimed.
    """

    mean: FloatArray
    error: FloatArray
    expected: FloatArray

    @property
    def z(self) -> FloatArray:
        """Deviations in standard errors, shape (distances,)."""
        return np.asarray((self.mean - self.expected) / self.error)

    @property
    def worst(self) -> float:
        """The largest of them in size."""
        return float(np.abs(self.z).max())

    def plus(self, term: FloatArray) -> Estimate:
        """Expect a term more, shape (distances,)."""
        return replace(self, expected=self.expected + term)

    @property
    def off(self) -> float:
        """The largest deviation in size."""
        return float(np.abs(self.mean - self.expected).max())


def estimate(
    kernel: Kernel, pair: Pair, draws: int, seed: int, distances: Sequence[float] | FloatArray = DISTANCES
) -> Estimate:
    """Average the scores of many draws, and expect ``qᵀk f`` of them."""
    frequencies = draw(kernel, (draws, len(pair.query) // 2), seed)
    found = scores(pair, frequencies, distances)
    # Of float32: a law of one frequency would have no error at all without it.
    rounding = _ROUNDING * float(pair.size.sum())
    error = [math.hypot(float(s.std(ddof=1)) / math.sqrt(draws), rounding) for s in found]
    expected = pair.dot * kernel.value(np.asarray(distances))
    return Estimate(found.mean(axis=1), np.array(error), np.asarray(expected))


def drawn_as_built(seed: int) -> float:
    """Return the largest difference between the frequencies drawn here and those of the encoding as built."""
    kernel = GaussianKernel(length=8)
    planes = rfr_planes(RfrConfig(kernel=kernel, seed_base=seed - 1), DIM, 4, 1)[0]
    built = np.array([[plane.frequency for plane in head] for head in planes])
    return float(np.abs(built - draw(kernel, (4, DIM // 2), seed)).max())


def unbiasedness(draws: int) -> Evidence:
    """Average over draws for every kernel, symmetric and folded."""
    from scipy.stats import norm

    rng = np.random.default_rng(31)
    pair = Pair.drawn(DIM, rng)
    symmetric = {name: estimate(k, pair, draws, 100 + i) for i, (name, k) in enumerate(SYMMETRIC.items())}
    aligned = {name: estimate(k, pair.aligned(), draws, 200 + i) for i, (name, k) in enumerate(FOLDED.items())}
    alone = {name: estimate(k, pair, draws, 300 + i) for i, (name, k) in enumerate(FOLDED.items())}
    whole = {name: alone[name].plus(pair.cross * folded_sine(k, DISTANCES)) for name, k in FOLDED.items()}
    size = float(pair.size.sum())
    tests = len(DISTANCES) * (len(symmetric) + len(aligned) + len(whole))
    limit = float(norm.isf(FALSE_ALARM / (2 * tests)))
    claims = [
        Claim(f"{name}: largest deviation, standard errors", Below(limit), e.worst, CLOCK_ROPE.at("prop. 3.1"))
        for name, e in symmetric.items()
    ]
    for name in FOLDED:
        claims += [
            Claim(
                f"{name}, key = query: largest deviation, standard errors",
                Below(limit),
                aligned[name].worst,
                CLOCK_ROPE.at("§3.3.3"),
            ),
            Claim(
                f"{name}, any key, with the sine term: largest deviation, standard errors",
                Below(limit),
                whole[name].worst,
                CLOCK_ROPE.at("eq. 25, 26"),
            ),
            Claim(
                f"{name}, any key, without the sine term: bias over Σ‖q‖‖k‖",
                Above(DIRECTED),
                alone[name].off / size,
                CLOCK_ROPE.at("§3.3.3"),
            ),
        ]
    claims.append(
        Claim(
            "frequencies drawn here and by the encoding as built: largest difference", Below(1e-15), drawn_as_built(7)
        )
    )
    passing = [*symmetric.values(), *aligned.values(), *whole.values()]
    return Evidence(
        title=f"Random Fourier Rotations are unbiased ({CLOCK_ROPE.at('proposition 3.1')})",
        text=(
            f"A fixed query and key of {DIM} channels, drawn from a normal law, are rotated by {draws:,} independent "
            f"draws of {DIM // 2} frequencies for every kernel; the mean score is compared with qᵀk f(p_m − p_n) at "
            f"{len(DISTANCES)} distances. A deviation is counted in standard errors of the mean; with {tests} "
            f"comparisons the limit for a false alarm of {FALSE_ALARM:g} overall is {limit:.2f} (Bonferroni). A "
            f"folded law ({CLOCK_ROPE.at('eq. 22')}) keeps the cosine term and adds a sine term, Σ (q₁k₂ − q₂k₁) E "
            "sin 2πξ(p_m − p_n), which vanishes where key and query point the same way and tells before from after "
            f"elsewhere: it is unbiased for the former only. The periodic Gaussian is cut at s = {TRUNCATION} here, "
            "so that its cut stays below the Monte-Carlo error."
        ),
        claims=claims,
        holds=(
            f"{CLOCK_ROPE.at('proposition 3.1')} holds for all {len(SYMMETRIC)} symmetric kernels: no mean of "
            f"{draws:,} draws is more than {max(e.worst for e in passing):.1f} standard errors off (limit "
            f"{limit:.1f}); folded laws keep it for aligned queries and keys, and add a directed term of up to "
            f"{100 * max(e.off for e in alone.values()) / size:.0f} % of the largest score there can be for others."
        ),
        tables=[_table({**symmetric, **{f"{n}, with sine": e for n, e in whole.items()}})],
        charts=[_picture(pair)],
    )


def _table(estimates: Mapping[str, Estimate]) -> Table:
    rows = [[name, *(f"{z:+.2f}" for z in e.z)] for name, e in estimates.items()]
    columns = ["kernel", *(f"{d:g}" for d in DISTANCES)]
    caption = "Deviation of the mean score from its expectation in standard errors, by distance."
    return Table(caption, pd.DataFrame(rows, columns=columns))


def _picture(pair: Pair) -> LineChart:
    x, at = np.linspace(-12, 60, 721), np.arange(-12.0, 61, 3)
    lines = []
    for name in PICTURED:
        kernel, short = SYMMETRIC[name], name.split(",")[0]
        found = estimate(kernel, pair, _PICTURED_DRAWS, 500, at)
        mean, spread = found.mean / pair.dot, 2 * found.error / abs(pair.dot)
        lines.append(Line(f"f, {short}", x, kernel.value(x), reference=True))
        lines.append(Line(short, at, mean, mean - spread, mean + spread, marks=True))
    title = f"Mean score of {_PICTURED_DRAWS:,} draws by kernel f, two standard errors either way"
    return LineChart("kernels", title, "distance", "score / qᵀk", lines)
