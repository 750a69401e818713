"""How much of a baseline's loss a model saves, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, nan
from typing import TYPE_CHECKING

import numpy as np

from fints.backtest.significance.diebold_mariano import LEAST_WINDOWS, standard_error, too_few

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.9


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
) -> Skill:
    """Compare the mean loss of a model with that of a baseline.

    Parameters
    ----------
    loss, baseline : ndarray, shape (n,) or (n, k)
        Mean loss of each in the same windows, in order of time; or one column for each series and seed, NaN where a
        window has none. Each column then counts the same: means over windows, and roots, are taken before those over
        columns.
    lag : int
        Windows up to which losses may be correlated.
    root : bool
        Take the root of the means: the skill in RMSE, of squared losses.
    level : float
        Of the interval.

    Returns
    -------
    Skill
        Without an interval below `LEAST_WINDOWS` windows. NaN where the baseline loses nothing.

    Notes
    -----
    The interval is Student's for the logarithm of the ratio of the mean losses, by what each window adds to it to first
    order (the delta method), with the long-run variance of `diebold_mariano`. Of equally good models either is found
    better in 4 to 8 % of the cases, with 8 windows as with 40, where percentiles of a stationary bootstrap of 25 to 40
    windows find 4 to 10 %; 5 % are meant. That holds for windows side by side: put those that overlap together first
    (`Spans`), as a backtest does. Handed over as they are, each sharing three quarters with the next, they would find
    8 to 10 %.
    """
    mine, theirs = _Score.of(_columns(loss), root), _Score.of(_columns(baseline), root)
    windows = len(mine.added)
    if not theirs.value > 0:
        return Skill(nan, nan, nan, level, windows, "the baseline loses nothing")
    value = 1 - mine.value / theirs.value
    reason = too_few(windows, LEAST_WINDOWS)
    if not reason and not mine.value > 0:
        reason = "the model loses nothing"
    error = nan if reason else standard_error(mine.added / mine.value - theirs.added / theirs.value, lag)
    if not reason and not np.isfinite(error):
        reason = f"{windows} windows overlap too much"
    if reason:
        return Skill(value, nan, nan, level, windows, reason)
    from scipy.stats import t

    reach = float(t.ppf((1 + level) / 2, windows - 1)) * error
    return Skill(value, 1 - (1 - value) * exp(reach), 1 - (1 - value) * exp(-reach), level, windows)


@dataclass(frozen=True, slots=True, eq=False)
class _Score:
    """Mean over columns of the mean loss, or of its root, and what each window adds to it to first order."""

    value: float
    added: NDArray[np.float64]

    @classmethod
    def of(cls, loss: NDArray[np.float64], root: bool) -> _Score:
        known = np.isfinite(loss)
        some = known.any(axis=0)
        kept, known = loss[:, some], known[:, some]
        if not some.any():
            return cls(nan, np.zeros(len(loss)))
        count = known.sum(axis=0)
        means = np.where(known, kept, 0.0).sum(axis=0) / count
        off = np.where(known, kept - means, 0.0) * (len(kept) / count)
        if root:
            roots = np.sqrt(means)
            off = np.divide(off, 2 * roots, out=np.zeros_like(off), where=roots > 0)
            means = roots
        return cls(float(means.mean()), off.mean(axis=1))


def _columns(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.asarray(loss, float)
    return values[:, None] if values.ndim == 1 else values
