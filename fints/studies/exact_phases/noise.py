"""The error of float32 phases at real dates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings.bank import geometric_betas
from fints.studies.traded import bars

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

SECOND, MINUTE, DAY = 1, 60, 86_400

LAST_SECOND = 4_102_444_800
"""2100-01-01."""

DATES = 4_000
"""Instants of a kind."""

SMALL, LARGE = 0.1, 1.0
"""Errors of a phase, in radians: what is felt, and what leaves nothing of it."""

ABOUT_ONE = 1.03
"""The coefficient at which errors are shown: with exactly 1 its multiplication would round nothing."""

DRAWS = 200
"""Banks of coefficients that are drawn."""

QUANTILE = 0.95
"""Of the error over instants: what a plane's error is taken to be."""


def phase_error(
    seconds: NDArray[np.float64], alpha: NDArray[np.float64], betas: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what float32 adds to the phases α·(t/β), in radians within half a turn.

    Coefficients are rounded to float32 on both sides: another frequency is no noise, since it is the same at all dates.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Unix time.
    alpha, betas : ndarray, shape (P,)

    Returns
    -------
    ndarray, shape (n, P)
    """
    alpha32, betas32 = alpha.astype(np.float32), betas.astype(np.float32)
    naive = alpha32 * (seconds.astype(np.float32)[:, None] / betas32)
    exact = alpha32.astype(np.float64) * (seconds[:, None] / betas32.astype(np.float64))
    apart: NDArray[np.float64] = np.remainder(naive.astype(np.float64) - exact + np.pi, 2 * np.pi) - np.pi
    return apart


@cache
def instants() -> Mapping[str, NDArray[np.float64]]:
    """Return Unix seconds of several kinds of bars, `DATES` of each."""
    luck = np.random.default_rng(0)
    return {
        "any second, 1970 to 2100": _multiples(luck, SECOND, 0, LAST_SECOND),
        "any second, 2020 to 2030": _multiples(luck, SECOND, *_years(2020, 2030)),
        "closes of minutes, 2020 to 2030": _multiples(luck, MINUTE, *_years(2020, 2030)),
        "closes of New York sessions from 2008 on": bars("XNYS", "1d", DATES)[1],
        "midnights UTC, 2020 to 2030": _multiples(luck, DAY, *_years(2020, 2030)),
    }


def _multiples(luck: np.random.Generator, step: int, first: int, last: int) -> NDArray[np.float64]:
    return luck.integers(first // step, last // step, DATES).astype(np.float64) * step


def _years(first: int, last: int) -> tuple[int, int]:
    start, stop = (np.datetime64(f"{year}-01-01", "s").astype(np.int64) for year in (first, last))
    return int(start), int(stop)


@dataclass(frozen=True, slots=True)
class Share:
    """How many planes of a bank have noise for a phase.

    Parameters
    ----------
    above_tenth, above_one : float
        Share of the planes whose error exceeds 0.1 and 1 rad at more than one date of twenty.
    """

    above_tenth: float
    above_one: float


def noisy_share(seconds: NDArray[np.float64], planes: int, ends: tuple[float, float] = (1e2, 1e8)) -> Share:
    """Return the share of noisy planes of a bank whose α are N(0, 1), averaged over draws.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
    planes : int
    ends : tuple of float
        Least and largest β, in seconds.
    """
    betas = np.array(geometric_betas(*ends, planes))
    draws = np.random.default_rng(0).normal(size=(DRAWS, planes))
    some = seconds[:: max(1, len(seconds) // 400)]
    worst = np.array([plane_error(some, alpha, betas) for alpha in draws])
    return Share(float((worst > SMALL).mean()), float((worst > LARGE).mean()))


def plane_error(
    seconds: NDArray[np.float64], alpha: NDArray[np.float64], betas: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the error that each plane keeps below at nineteen dates of twenty, shape (P,)."""
    error: NDArray[np.float64] = np.quantile(np.abs(phase_error(seconds, alpha, betas)), QUANTILE, axis=0)
    return error
