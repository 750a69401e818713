"""How far single forecasts were from what came: one number for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.forecast import QUANTILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


_FLAT = 1e-6
"""Rise below which a quotient is replaced by its series."""


def crps(y: Numbers, quantiles: Numbers, probabilities: Sequence[float] = QUANTILES) -> Numbers:
    r"""Continuous ranked probability score of a distribution stated by quantiles.

    .. math:: \mathrm{CRPS} = 2 \int_0^1 (y - q(p)) \, (p - 1\{y < q(p)\}) \, dp

    (Laio & Tamea 2007), integrated exactly with ``q`` linear between the stated probabilities and constant beyond the
    outermost ones. The probabilities need not be evenly spaced: each weighs by the interval it stands for.

    Parameters
    ----------
    y : ndarray, shape (n,)
    quantiles : ndarray, shape (n, Q)
        Not decreasing along the last axis.
    probabilities : sequence of float, length Q
        Increasing, within (0, 1).

    Returns
    -------
    ndarray, shape (n,)
        In the unit of `y`.
    """
    a, b, left, right = _pieces(quantiles, probabilities)
    # ∫ (y - q(p)) p dp over each interval; both factors are linear in p, so Simpson's rule is exact
    middle = (left + right) / 2
    weighted = (b - a) / 6 * (a * (y[:, None] - left) + 2 * (a + b) * (y[:, None] - middle) + b * (y[:, None] - right))
    # ∫ (q(p) - y) over the part of each interval where q(p) > y: a trapezoid, or a triangle from the crossing on
    above_left, above_right = np.maximum(left - y[:, None], 0), np.maximum(right - y[:, None], 0)
    # a rise of a denormal number would overflow the quotient, which is at most one where it counts
    rise = np.maximum(right - left, np.finfo(float).tiny)
    share = np.where(left >= y[:, None], 1.0, np.minimum(above_right, rise) / rise)
    exceeding = (b - a) * share * (above_left + above_right) / 2
    score: Numbers = 2 * (weighted + exceeding).sum(axis=1)
    return score


def pinball(y: Numbers, quantiles: Numbers, probabilities: Sequence[float] = QUANTILES) -> Numbers:
    """Pinball loss of each stated quantile (Koenker & Bassett 1978).

    Returns
    -------
    ndarray, shape (n, Q)
        In the unit of `y`.
    """
    error, p = y[:, None] - quantiles, np.asarray(probabilities, float)
    loss: Numbers = np.maximum(p * error, (p - 1) * error)
    return loss


def smape(y: Numbers, forecast: Numbers) -> Numbers:
    """Symmetric absolute percentage error as in the M4 competition, as a share: ``2 |y - f| / (|y| + |f|)``.

    Meant for positive quantities: around zero it says little.

    Returns
    -------
    ndarray, shape (n,)
        From 0 to 2; 0 where both are zero.
    """
    size = np.abs(y) + np.abs(forecast)
    share: Numbers = np.where(size > 0, 2 * np.abs(y - forecast) / np.where(size > 0, size, 1.0), 0.0)
    return share


def qlike(variance: Numbers, forecast: Numbers) -> Numbers:
    """Quasi-likelihood loss of a forecast variance: ``r - ln r - 1`` with ``r`` the variance that came over it.

    Robust to noise in the proxy of the variance: Patton (2011), Journal of Econometrics 160, 246-256, eq. 24, b = -2.

    Parameters
    ----------
    variance, forecast : ndarray, shape (n,)
        Positive.

    Returns
    -------
    ndarray, shape (n,)
        0 where they agree; NaN where one is not positive or the forecast is infinite.
    """
    known = (variance > 0) & (forecast > 0) & np.isfinite(forecast)
    ratio = np.where(known, variance, 1.0) / np.where(known, forecast, 1.0)
    loss: Numbers = np.where(known, ratio - np.log(ratio) - 1, np.nan)
    return loss


def variance_of_log(quantiles: Numbers, probabilities: Sequence[float] = QUANTILES) -> Numbers:
    """Mean of ``exp(2 X)`` where X, the log of a volatility, has the stated quantiles: the variance to expect.

    The exponential of twice the mean would be too small by Jensen's inequality. Quantiles are joined by straight lines
    and constant beyond the outermost ones, so that heavy tails count for less than they are.

    Returns
    -------
    ndarray, shape (n,)
    """
    a, b, left, right = _pieces(quantiles, probabilities)
    # ∫ exp(2 q) over an interval where q is linear: the logarithmic mean of its ends, by sinh(d)/d about the middle
    rise = right - left
    with np.errstate(over="ignore"):
        swell = np.where(rise > _FLAT, np.sinh(rise) / np.where(rise > _FLAT, rise, 1.0), 1 + rise**2 / 6)
        mean: Numbers = ((b - a) * np.exp(left + right) * swell).sum(axis=1)
    return mean


def hit(y: Numbers, forecast: Numbers) -> Numbers:
    """Tell whether the sign of a return was foreseen.

    Returns
    -------
    ndarray, shape (n,)
        1 or 0; one half where the forecast is exactly zero and names no direction, NaN where nothing moved.
    """
    right = np.where(forecast == 0, 0.5, np.sign(y) == np.sign(forecast))
    told: Numbers = np.where(y == 0, np.nan, right)
    return told


def _pieces(quantiles: Numbers, probabilities: Sequence[float]) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return the ends of the linear pieces of a quantile function: probabilities (Q + 1,) and values (n, Q + 1)."""
    p = np.concatenate([[0.0], np.asarray(probabilities, float), [1.0]])
    q = np.concatenate([quantiles[:, :1], quantiles, quantiles[:, -1:]], axis=1)
    return p[:-1], p[1:], q[:, :-1], q[:, 1:]
