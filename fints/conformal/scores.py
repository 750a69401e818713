"""By how much a forecast distribution missed, in units of its own width."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError
from fints.forecast import QUANTILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LOW, MIDDLE, HIGH = (QUANTILES.index(p) for p in (0.1, 0.5, 0.9))

_FLAT = 1e-9


def widths(quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Width of the central 80 % of each distribution.

    Parameters
    ----------
    quantiles : ndarray, shape (n, len(QUANTILES))

    Returns
    -------
    ndarray, shape (n,)
        Positive; of a distribution without width, a billionth of its level.
    """
    least = _FLAT * np.maximum(np.abs(quantiles[:, MIDDLE]), 1)
    wide: NDArray[np.float64] = np.maximum(quantiles[:, HIGH] - quantiles[:, LOW], least)
    return wide


def shares_of_quantiles() -> NDArray[np.float64]:
    """Interval of probability that each stated quantile stands for; they sum to 1."""
    middles = (np.array(QUANTILES[1:]) + np.array(QUANTILES[:-1])) / 2
    shares: NDArray[np.float64] = np.diff(np.concatenate([[0.0], middles, [1.0]]))
    return shares


def scores(y: NDArray[np.float64], quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Signed distance of what came from each quantile, in widths of the distribution.

    The conformity scores of conformalised quantile regression, one per side, scaled as CQR-r scales them (Romano,
    Patterson & Candès 2019; Sesia & Candès 2020), for every stated quantile.

    Parameters
    ----------
    y : ndarray, shape (n,)
    quantiles : ndarray, shape (n, len(QUANTILES))

    Returns
    -------
    ndarray, shape (n, len(QUANTILES))
        Positive where `y` lies above the quantile.
    """
    distance: NDArray[np.float64] = (y[:, None] - quantiles) / widths(quantiles)[:, None]
    return distance


def check_ends(ends: Sequence[int]) -> None:
    """Refuse stretches of the horizon that are no stretches.

    Raises
    ------
    ConfigError
        If their last steps do not rise from 1 on.
    """
    if any(later <= earlier for earlier, later in pairwise((0, *ends))):
        raise ConfigError(f"the last steps of the stretches of a horizon rise, from 1 on; got {tuple(ends)}")


def stretch_of(steps: NDArray[np.int64], ends: Sequence[int]) -> NDArray[np.int64]:
    """Say which stretch of the horizon each step belongs to, from 0.

    Parameters
    ----------
    steps : ndarray of int, shape (n,)
        Steps ahead, 1 being the first.
    ends : sequence of int
        Last step of each stretch but the last, which goes on without end.
    """
    return np.searchsorted(np.asarray(ends, np.int64), steps, side="left").astype(np.int64)
