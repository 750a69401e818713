"""The harmonics of a periodic Gaussian: a day of 24 hours, σ = 2 hours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.encodings.kernels import CosineKernel, PeriodicGaussianKernel
from fints.studies.claims.claim import Above, Below, Claim, Value, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.sources import CLOCK_ROPE
from fints.studies.findings import Line, LineChart, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

PERIOD, SIGMA, TRUNCATION = 24.0, 2.0, 6
DRAWS, DEVIATION = 1_000_000, 4.5
_FAR = 64
_CLOSE = 1e-12


def prior(truncation: int = TRUNCATION, *, fold: bool = False) -> PeriodicGaussianKernel:
    """Return the kernel of a day."""
    return PeriodicGaussianKernel(period=PERIOD, sigma=SIGMA, truncation=truncation, fold=fold)


def integrals(harmonics: int) -> FloatArray:
    """Integrate eq. 15 numerically for the harmonics 0 … n, shape (n + 1,)."""
    from scipy.integrate import quad

    def cosine(t: float, k: int) -> float:
        return float(prior().value(np.array([t]))[0]) * math.cos(2 * math.pi * k * t / PERIOD)

    parts = [quad(cosine, 0, PERIOD / 2, args=(k,), epsabs=1e-14, limit=200)[0] for k in range(harmonics + 1)]
    return 2 / PERIOD * np.array(parts)


def limit_law(harmonics: int) -> FloatArray:
    """Return eq. 20, the integral taken to infinity, for the harmonics 0 … n, shape (n + 1,)."""
    star = PERIOD / (2 * math.pi * SIGMA)
    return np.asarray(np.exp(-0.5 * (np.arange(harmonics + 1) / star) ** 2) / (star * math.sqrt(2 * math.pi)))


def cut_error(truncation: int) -> float:
    """Return the largest difference between the kernel and what its law realises when cut at s and renormalised."""
    t = np.linspace(0, PERIOD / 2, 2401)
    k = np.arange(-truncation, truncation + 1)
    realised = np.cos(2 * np.pi * np.outer(t, k) / PERIOD) @ prior(truncation).pmf()
    return float(np.abs(realised - prior().value(t)).max())


def mass_beyond(truncation: int) -> float:
    """Return the probability of the harmonics above s."""
    law = limit_law(_FAR)
    return float(2 * law[truncation + 1 :].sum())


def law_deviation(kernel: CosineKernel | PeriodicGaussianKernel, expected: Mapping[int, float]) -> float:
    """Count a million draws by harmonic and compare with the law (eq. 18, 21 and 22).

    Parameters
    ----------
    kernel : CosineKernel or PeriodicGaussianKernel
    expected : mapping of int to float
        Probability of every harmonic of a day.

    Returns
    -------
    float
        Largest deviation of a share, in standard errors. A draw that is no harmonic of the law counts as one.
    """
    harmonic = kernel.draw(np.random.default_rng(22), (DRAWS,)) * PERIOD
    shares = {k: float(np.mean(np.abs(harmonic - k) < _CLOSE)) for k in expected}
    beyond = (1 - sum(shares.values())) * DRAWS
    errors = {k: max(math.sqrt(p * (1 - p) / DRAWS), 1 / DRAWS) for k, p in expected.items()}
    return float(max(beyond, *(abs(shares[k] - p) / errors[k] for k, p in expected.items())))


def law_claims() -> list[Claim]:
    """Check the four laws of ClockRoPE."""
    pmf = prior().pmf()
    sides = {k: float(p) for k, p in zip(range(-TRUNCATION, TRUNCATION + 1), pmf, strict=True)}
    folded = {k: sides[k] + (sides[-k] if k else 0.0) for k in range(TRUNCATION + 1)}
    laws: dict[str, tuple[str, CosineKernel | PeriodicGaussianKernel, dict[int, float]]] = {
        "cosine-sym": ("eq. 18", CosineKernel(period=PERIOD), {-1: 0.5, 1: 0.5}),
        "cosine-fold": ("eq. 22", CosineKernel(period=PERIOD, fold=True), {1: 1.0}),
        "gaussian-sym": ("eq. 21", prior(), sides),
        "gaussian-fold": ("eq. 22", prior(fold=True), folded),
    }
    return [
        Claim(
            f"{name}: a million draws against the law, standard errors",
            Below(DEVIATION),
            law_deviation(kernel, law),
            CLOCK_ROPE.at(place),
        )
        for name, (place, kernel, law) in laws.items()
    ]


def harmonics() -> Evidence:
    """Check the coefficients, their sum and how many are needed."""
    kernel = prior(_FAR)
    exact, numeric = kernel.exact_coefficients(), integrals(TRUNCATION)
    half = np.array([PERIOD / 2])
    edge = float(prior().value(half)[0])
    cut, short = cut_error(TRUNCATION), cut_error(3)
    claims = [
        Claim(
            "closed form of α_k against the integral, k ≤ 6: largest difference",
            Below(_CLOSE),
            float(np.abs(exact[: TRUNCATION + 1] - numeric).max()),
            CLOCK_ROPE.at("eq. 15"),
        ),
        Claim(
            "α_k by eq. 20 against the integral, k ≤ 6: largest difference",
            Below(1e-9),
            float(np.abs(limit_law(TRUNCATION) - numeric).max()),
            CLOCK_ROPE.at("eq. 20"),
        ),
        Claim(
            "sum of all α_k, less 1",
            Below(1e-9),
            abs(float(exact[0] + 2 * exact[1:].sum()) - 1),
            CLOCK_ROPE.at("cor. 3.3"),
        ),
        Claim(
            "sum of the law drawn from, less 1",
            Below(_CLOSE),
            abs(float(prior().pmf().sum()) - 1),
            CLOCK_ROPE.at("eq. 21"),
        ),
        Claim("smallest exact α_k", Value("-1.7e-10"), float(exact.min())),
        Claim("f(T/2) = exp(−18)", Value("1.523e-8"), edge, CLOCK_ROPE.at("§3.3.2")),
        Claim(
            "the cosine prior at T/2",
            Value("-1"),
            float(CosineKernel(period=PERIOD).value(half)[0]),
            CLOCK_ROPE.at("eq. 17"),
        ),
        Claim("s = 6: largest error of the kernel", Below(1e-2), cut, CLOCK_ROPE.at("§3.3.2")),
        Claim("s = 3: largest error of the kernel", Above(1e-2), short),
        *law_claims(),
    ]
    cuts = (2, 3, 4, 6, 8, 10)
    return Evidence(
        title="Harmonics of the periodic Gaussian",
        text=(
            f"A day of 24 hours, σ = 2 hours. The coefficients are those of {CLOCK_ROPE.at('eq. 15')}, once by the "
            "closed form over one period, once by numerical integration; the law drawn from takes the integral to "
            f"infinity ({CLOCK_ROPE.at('eq. 20')}). The exact coefficients dip below zero far out, since the Gaussian "
            f"has a kink of {number(edge)} at half a day. One draw of 32 planes is about {1 / math.sqrt(32):.2f} off "
            f"({CLOCK_ROPE.at('proposition 3.2')}), so an error of {cut:.4f} through the cut at s = 6 is not seen."
        ),
        claims=claims,
        holds=(
            f"Six harmonics suffice for T = 24 h and σ = 2 h: they hold all but {number(mass_beyond(TRUNCATION))} of "
            f"the law and realise the kernel to {number(cut)}, against {number(short)} for three."
        ),
        tables=[
            Table(
                "The law cut at s.",
                pd.DataFrame(
                    [(s, number(mass_beyond(s)), number(cut_error(s))) for s in cuts],
                    columns=["s", "probability cut off", "largest error of the kernel"],
                ),
            )
        ],
        charts=[_picture()],
    )


def _picture() -> LineChart:
    t = np.linspace(-12, 36, 961)
    lines = [Line("periodic Gaussian", t, prior().value(t), reference=True)]
    for s in (2, 3, 6):
        k = np.arange(-s, s + 1)
        lines.append(Line(f"cut at s = {s}", t, np.cos(2 * np.pi * np.outer(t, k) / PERIOD) @ prior(s).pmf()))
    return LineChart("harmonics", "The kernel realised by few harmonics", "distance, hours", "kernel", lines)
