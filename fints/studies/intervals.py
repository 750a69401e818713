"""Intervals over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval.

    Parameters
    ----------
    mean, low, high : float
        Of a single value the ends are not known: NaN.
    n : int
        Values averaged.
    """

    mean: float
    low: float
    high: float
    n: int

    def above(self, value: float) -> bool:
        """Tell whether all of it lies above a value; of a single value, whether that does."""
        return (self.mean if self.n == 1 else self.low) > value

    def excludes(self, value: float) -> bool:
        """Tell whether a value lies outside of it; a single value excludes none."""
        return self.n > 1 and (self.low > value or self.high < value)


def t_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """Mean of independent values, with Student's interval.

    Parameters
    ----------
    values : array_like, shape (n,)
    level : float

    Raises
    ------
    ConfigError
        If there is no value.
    """
    from scipy.stats import t

    x = np.asarray(values, dtype=np.float64)
    if x.size == 0:
        raise ConfigError("an interval needs at least one value; there is none")
    mean = float(x.mean())
    if x.size == 1:
        return Interval(mean, np.nan, np.nan, 1)
    half = float(t.ppf(0.5 + level / 2, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size))
    return Interval(mean, mean - half, mean + half, x.size)


def ratio_interval(above: ArrayLike, below: ArrayLike, level: float = LEVEL) -> Interval:
    """Ratio of two paired positive quantities: the geometric mean, with Student's interval on the logarithm.

    Parameters
    ----------
    above, below : array_like, shape (n,)
        Of the same seeds, in the same order.
    level : float
    """
    logs = t_interval(np.log(np.asarray(above, np.float64)) - np.log(np.asarray(below, np.float64)), level)
    return Interval(float(np.exp(logs.mean)), float(np.exp(logs.low)), float(np.exp(logs.high)), logs.n)
