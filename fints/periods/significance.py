"""How surprising a peak is when the series is nothing but noise with memory.

A peak's ratio to the null level is compared with the largest of many: under the null one ratio is exponential, widened
to an F by the error of the fitted level, and the search over a band follows Davies' bound (Baluev 2008, MNRAS 385,
1279-1285, eq. 6), which is exact for rare peaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def exceedance(ratio: FloatArray, log_variance: FloatArray) -> FloatArray:
    """Give -ln of the chance that noise gives one ordinate a higher ratio, the level's own error allowed for.

    Parameters
    ----------
    ratio : numpy.ndarray
        Power over the fitted level.
    log_variance : numpy.ndarray
        Variance of the log of that level, positive.

    Returns
    -------
    numpy.ndarray
        The ratio itself where the level is known exactly, less otherwise: the tail of an F(2, 2 / log_variance).
    """
    return np.asarray(np.log1p(ratio * log_variance) / log_variance)


def ratio_of(exceedance_: float, log_variance: FloatArray) -> FloatArray:
    """Ratio that has a given exceedance; the inverse of :func:`exceedance`."""
    return np.asarray(np.expm1(exceedance_ * log_variance) / log_variance)


def search_p_value(exceedance_: float, peaks: float) -> float:
    """Chance that the highest of a whole band of noise exceeds this.

    Parameters
    ----------
    exceedance_ : float
        Of the highest peak found.
    peaks : float
        Width of the band times the periodogram's `spread`.

    Returns
    -------
    float
        In [0, 1].
    """
    single = np.exp(-exceedance_)
    return float(-np.expm1(-single - peaks * np.sqrt(max(exceedance_, 0.5)) * single))


def search_threshold(alpha: float, peaks: float) -> float:
    """Exceedance whose search-wide chance is `alpha`."""
    from scipy.optimize import brentq

    high = 50.0 + np.log(peaks + 1) - np.log(alpha)
    return float(brentq(lambda e: search_p_value(e, peaks) - alpha, 0.0, high))


def false_discovery(p_values: Sequence[float], family: Sequence[float]) -> FloatArray:
    """Adjust p-values to q-values within a family of tests.

    Parameters
    ----------
    p_values : sequence of float
        To be judged; a member of the family, or a further line of one of its series.
    family : sequence of float
        The smallest p of every series searched.

    Returns
    -------
    numpy.ndarray, shape (len(p_values),)
        Benjamini and Hochberg's (1995) adjusted p: the family's own members get the textbook value.
    """
    ordered = np.sort(np.asarray(family, dtype=np.float64))
    count = len(ordered)
    ranks = np.arange(1, count + 1)
    out = []
    for p in p_values:
        rank = max(int(np.searchsorted(ordered, p, side="right")), 1)
        higher = ordered[rank:] * count / ranks[rank:]
        out.append(min(1.0, p * count / rank, *higher))
    return np.array(out, dtype=np.float64)
