"""How much of a baseline's loss a model saves, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from fints.backtest.significance.bootstrap import LEAST_RESAMPLED, REPETITIONS
from fints.backtest.significance.diebold_mariano import too_few

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.9
_SEED = 0


@dataclass(frozen=True, slots=True)
class Skill:
    """Share of a baseline's loss that a model saves, with its interval.

    Parameters
    ----------
    value : float
        ``1 - loss / loss of the baseline``: 0 is no skill, below it the baseline is better.
    low, high : float
        NaN where windows are too few.
    level : float
        Chance that the interval holds the skill.
    windows : int
    reason : str
        Why there is no interval; empty where there is one.
    """

    value: float
    low: float
    high: float
    level: float
    windows: int
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"skill {100 * self.value:.1f} % ({self.reason})"
        return f"skill {100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f} %)"


def skill(
    loss: NDArray[np.float64],
    baseline: NDArray[np.float64],
    *,
    lag: int,
    root: bool = False,
    level: float = LEVEL,
    seed: int = _SEED,
) -> Skill:
    """Compare the mean loss of a model with that of a baseline.

    Parameters
    ----------
    loss, baseline : ndarray, shape (n,) or (n, k)
        Mean loss of each in the same windows, in order of time; or one column for each series and seed, NaN where a
        window has none. Each column then counts the same: means over windows, and roots, are taken before those over
        columns.
    lag : int
        Windows up to which losses may be correlated: blocks of ``lag + 1`` windows on average are resampled, the same
        for both (stationary bootstrap, Politis & Romano 1994).
    root : bool
        Take the root of the means: the skill in RMSE, of squared losses.
    level : float
        Of the interval, between bootstrap percentiles.
    seed : int
        Of the resampling.

    Returns
    -------
    Skill
        Without an interval below `LEAST_RESAMPLED` windows. NaN where the baseline loses nothing.
    """
    mine, theirs = _columns(loss), _columns(baseline)
    both = np.concatenate([mine, theirs], axis=1)

    def saved(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = _scores(rows, root)
        own, other = scores[: mine.shape[1]], scores[mine.shape[1] :]
        denominator = float(np.nanmean(other)) if np.isfinite(other).any() else 0.0
        return np.array([1 - np.nanmean(own) / denominator if denominator > 0 else nan])

    value = float(saved(both)[0])
    reason = too_few(len(both), LEAST_RESAMPLED)
    if not reason and not np.isfinite(value):
        reason = "the baseline loses nothing"
    if reason:
        return Skill(value, nan, nan, level, len(both), reason)
    from arch.bootstrap import StationaryBootstrap

    resampled = StationaryBootstrap(lag + 1, both, seed=seed)
    ends = resampled.conf_int(saved, REPETITIONS, method="percentile", size=level)
    return Skill(value, float(ends[0, 0]), float(ends[1, 0]), level, len(both))


def _columns(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.asarray(loss, float)
    return values[:, None] if values.ndim == 1 else values


def _scores(loss: NDArray[np.float64], root: bool) -> NDArray[np.float64]:
    """Mean over the windows that are known of each column, or its root; NaN where there is none."""
    known = np.isfinite(loss)
    count = known.sum(axis=0)
    mean = np.where(count > 0, np.where(known, loss, 0.0).sum(axis=0) / np.maximum(count, 1), nan)
    scores: NDArray[np.float64] = np.sqrt(mean) if root else mean
    return scores
