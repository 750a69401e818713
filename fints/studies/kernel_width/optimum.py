"""Where on a grid the error is least, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError
from fints.studies.comparison.power import LEVEL
from fints.studies.intervals import Interval, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DRAWS = 4_000


@dataclass(frozen=True, eq=False)
class Optimum:
    """Errors of kernels of several widths on one routine.

    Parameters
    ----------
    own : float
        T over the width of the routine, where the theory puts the optimum; one of the grid.
    divisors : sequence of float
        T over the width of the kernels, from narrow to wide kernels.
    errors : ndarray, shape (seeds, widths)

    Raises
    ------
    ConfigError
        If the shapes do not fit, or the grid does not hold the routine's own width.
    """

    own: float
    divisors: Sequence[float]
    errors: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.errors.ndim != 2 or self.errors.shape[1] != len(self.divisors) or self.own not in self.divisors:
            raise ConfigError(
                f"errors of shape {self.errors.shape} on the widths {list(self.divisors)} do not show the optimum of a "
                f"routine of T/{self.own:g}; give a column for each width, the routine's own among them"
            )

    @property
    def best(self) -> float:
        """T over the width of least error, geometric mean over seeds."""
        return float(self.divisors[int(np.log(self.errors).mean(axis=0).argmin())])

    @cached_property
    def resampled(self) -> NDArray[np.float64]:
        """The same of resampled seeds, shape (draws,); equal numbers of seeds are resampled alike."""
        rng, n = np.random.default_rng(0), len(self.errors)
        means = np.log(self.errors)[rng.integers(n, size=(DRAWS, n))].mean(axis=1)
        best: NDArray[np.float64] = np.asarray(self.divisors, dtype=np.float64)[means.argmin(axis=1)]
        return best

    @property
    def ends(self) -> tuple[float, float]:
        """T over the widths between which 95 % of them lie: the narrower kernel first."""
        low, high = np.quantile(self.resampled, [LEVEL / 2, 1 - LEVEL / 2], method="inverted_cdf")
        return float(high), float(low)

    @property
    def agrees(self) -> bool:
        """Whether the theory's width lies between them."""
        return self.ends[1] <= self.own <= self.ends[0]

    @property
    def refuted(self) -> bool:
        """Whether the best width is shown to be better than the routine's own, corrected for the choice of it."""
        at = list(self.divisors)
        level = 1 - LEVEL / (len(at) - 1)
        times = ratio_interval(self.errors[:, at.index(self.best)], self.errors[:, at.index(self.own)], level)
        return self.best != self.own and times.high < 1

    @property
    def tells(self) -> bool:
        """Whether they leave some of the grid out."""
        return self.ends != (self.divisors[0], self.divisors[-1])

    def rise(self, divisor: float) -> Interval:
        """Return how many times the error at the routine's own width a kernel has."""
        at = list(self.divisors)
        return ratio_interval(self.errors[:, at.index(divisor)], self.errors[:, at.index(self.own)])


def slope(optima: Sequence[Optimum]) -> Interval:
    """Return how the best width goes with the routine's: 1 if in proportion, 0 if not at all.

    Least squares of the logarithms, with the 95 % percentile interval from resampled seeds.

    Parameters
    ----------
    optima : sequence of Optimum
        Of at least two different routines.
    """
    own = -np.log([one.own for one in optima])
    lever = (own - own.mean()) / ((own - own.mean()) ** 2).sum()
    drawn = -np.log([one.resampled for one in optima])
    low, high = np.quantile(lever @ drawn, [LEVEL / 2, 1 - LEVEL / 2])
    return Interval(
        float(lever @ -np.log([one.best for one in optima])), float(low), float(high), len(optima[0].errors)
    )
