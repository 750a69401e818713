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
    loss, baseline : ndarray, shape (n,)
        Mean loss of each in the same windows, in order of time.
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
    both = np.stack([np.asarray(loss, float), np.asarray(baseline, float)], axis=1)
    value = float(_saved(both, root)[0]) if len(both) else nan
    reason = too_few(len(both), LEAST_RESAMPLED)
    if not reason and not np.isfinite(value):
        reason = "the baseline loses nothing"
    if reason:
        return Skill(value, nan, nan, level, len(both), reason)
    from arch.bootstrap import StationaryBootstrap

    resampled = StationaryBootstrap(lag + 1, both, seed=seed)
    ends = resampled.conf_int(lambda rows: _saved(rows, root), REPETITIONS, method="percentile", size=level)
    return Skill(value, float(ends[0, 0]), float(ends[1, 0]), level, len(both))


def _saved(both: NDArray[np.float64], root: bool) -> NDArray[np.float64]:
    mean = both.mean(axis=0)
    ratio = mean[0] / mean[1] if mean[1] > 0 else nan
    return np.array([1 - (np.sqrt(ratio) if root else ratio)])
