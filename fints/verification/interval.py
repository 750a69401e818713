"""Means of figures that depend on those of the nights before, and how sure they are.

Forecasts of neighbouring nights are about the same bars, so that their errors are alike: sixty nights of twenty bars
ahead say hardly more than three that do not overlap. The variance of their mean is taken from the slow movements of
the series, its first cosines, and the mean is judged by Student's t with as many degrees of freedom as cosines
(Lazarus, Lewis, Stock & Watson 2018, J. Business & Economic Statistics 36, 541-559, "EWC"). There are never more
cosines than stretches of nights that do not overlap, and each is enlarged by what it would lack if every night's figure
were the sum of as many shocks as forecasts overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 3
"""Cosines below which nothing is said about how sure a mean is."""

_RATE, _POWER = 0.41, 2 / 3
"""Cosines as a function of the nights: eq. 4 there."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over nights.

    Parameters
    ----------
    value : float
    error : float
        Its standard error; NaN where there are too few nights.
    freedom : int
        Degrees of freedom of that.
    nights : int
    """

    value: float
    error: float
    freedom: int
    nights: int

    @property
    def told(self) -> bool:
        """Whether anything can be said about how sure it is."""
        return bool(np.isfinite(self.error))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided confidence interval; NaN where nothing can be said."""
        from scipy.stats import t

        reach = float(t.ppf((1 + level) / 2, self.freedom)) * self.error if self.told else float("nan")
        return self.value - reach, self.value + reach

    def p_above(self, limit: float = 0.0) -> float:
        """Return the chance of a mean this high or higher where the truth is `limit`; 1 where nothing can be said."""
        from scipy.stats import t

        if not self.told:
            return 1.0
        if self.error == 0:
            return 0.0 if self.value > limit else 1.0
        return float(t.sf((self.value - limit) / self.error, self.freedom))


def mean_of(values: NDArray[np.float64], reach: int) -> Mean:
    """Take the mean of nightly figures.

    Parameters
    ----------
    values : ndarray, shape (T,)
        One per night, in their order; unknown ones are passed over.
    reach : int
        Nights up to which two of them can be about the same bar: the last step ahead among them.
    """
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    nights = len(known)
    if not nights:
        return Mean(float("nan"), float("nan"), 0, 0)
    value = float(known.mean())
    cosines = min(int(_RATE * nights**_POWER), nights // max(reach, 1))
    if cosines < LEAST:
        return Mean(value, float("nan"), 0, nights)
    order = np.arange(1, cosines + 1)
    waves = np.sqrt(2 / nights) * np.cos(np.pi * order[:, None] * (np.arange(nights) + 0.5) / nights)
    # a series that does not vary leaves rounding alone
    spread = waves @ (known - value) if np.ptp(known) > 0 else np.zeros(cosines)
    spread = spread / np.sinc(order * max(reach - 1, 0) / (2 * nights))
    return Mean(value, float(np.sqrt((spread**2).mean() / nights)), cosines, nights)
