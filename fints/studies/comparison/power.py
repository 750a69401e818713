"""How many seeds a comparison needs."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

POWER = 0.8
"""Probability with which a difference that exists shall be found."""

LEVEL = 0.05
"""Probability of finding one that does not exist, before any correction for several comparisons."""

MOST = 100_000


def power(n: int, size: float, level: float = LEVEL) -> float:
    """Return the probability that a paired two-sided t-test finds a difference.

    Parameters
    ----------
    n : int
        Pairs, at least 2.
    size : float
        The difference in standard deviations of the paired differences.
    level : float

    References
    ----------
    J. Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, 2nd ed., section 2.3.
    """
    from scipy.stats import nct, t

    bound, shift = float(t.ppf(1 - level / 2, n - 1)), abs(size) * np.sqrt(n)
    # Far out scipy gives NaN: what lies beyond the other bound is nothing there, and what lies beyond this one is all.
    found, wrong_side = nct.sf(bound, n - 1, shift), nct.cdf(-bound, n - 1, shift)
    return float(np.nan_to_num(found, nan=1.0) + np.nan_to_num(wrong_side, nan=0.0))


def seeds_needed(size: float, wanted: float = POWER, level: float = LEVEL) -> int | None:
    """Return the fewest pairs with which a paired t-test finds a difference with the wanted probability.

    Parameters
    ----------
    size : float
        The difference in standard deviations of the paired differences.
    wanted, level : float

    Returns
    -------
    int or None
        None if more than `MOST` are needed: for no difference, no number suffices.

    Examples
    --------
    >>> seeds_needed(1.0), seeds_needed(0.5)
    (10, 34)
    """
    size = abs(size)
    if not np.isfinite(size):
        return 2
    normal = NormalDist()
    roots = normal.inv_cdf(wanted) + normal.inv_cdf(1 - level / 2)
    if size == 0 or roots / size > np.sqrt(MOST):
        return None
    # The normal approximation needs fewer than the t-test, by two or three.
    n = max(2, int((roots / size) ** 2))
    while power(n, size, level) < wanted:
        n += 1
    return n
