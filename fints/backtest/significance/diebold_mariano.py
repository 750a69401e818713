"""Whether one forecaster's losses differ from another's by more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_WINDOWS = 8
"""Windows below which a test is withheld."""


@dataclass(frozen=True, slots=True)
class DieboldMariano:
    """Outcome of a test of equal accuracy.

    Parameters
    ----------
    statistic : float
        Corrected t statistic; negative where the first model loses less. NaN where the test is withheld.
    p_value : float
        Two-sided. NaN where the test is withheld.
    windows : int
        Sample size.
    lag : int
        Autocovariances taken into account.
    reason : str
        Why the test is withheld; empty where it is not.
    """

    statistic: float
    p_value: float
    windows: int
    lag: int
    reason: str = ""


def too_few(windows: int, least: int) -> str:
    """Say why a test on so many windows is withheld; empty where it is not."""
    if windows >= least:
        return ""
    counted = "1 window is" if windows == 1 else f"{windows} windows are"
    return f"{counted} too few for a test to mean anything; it needs {least}"


def overlap_lag(h: int, step_size: int) -> int:
    """Lag up to which the losses of windows may be correlated.

    Windows closer than h bars share forecast bars; one lag more allows for volatility that outlasts a window.

    Parameters
    ----------
    h, step_size : int
        Bars ahead, bars between cutoffs.

    Returns
    -------
    int
        ``ceil(h / step_size)``: 1 for windows side by side.
    """
    return ceil(h / step_size)


def diebold_mariano(
    loss: NDArray[np.float64], other: NDArray[np.float64], *, lag: int, least: int = LEAST_WINDOWS
) -> DieboldMariano:
    """Test whether two forecasters are equally accurate.

    Losses are averaged within a window over series and steps by the caller, so that windows are the sample: series and
    steps of one window share its news and would be counted as evidence many times over.

    Parameters
    ----------
    loss, other : ndarray, shape (n,)
        Mean loss of the two models in each window, in order of time.
    lag : int
        Autocovariances with Bartlett weights in the long-run variance (never negative).
    least : int
        Windows below which no test is made.

    Returns
    -------
    DieboldMariano

    Notes
    -----
    Diebold & Mariano (1995) with the small-sample factor of Harvey, Leybourne & Newbold (1997) for a horizon of
    ``lag + 1`` windows, and Student's t with n - 1 degrees of freedom.
    """
    difference = np.asarray(loss, float) - np.asarray(other, float)
    n = len(difference)
    lag = min(lag, max(n - 1, 0))
    if few := too_few(n, least):
        return DieboldMariano(nan, nan, n, lag, few)
    error = standard_error(difference, lag)
    tiny = 1e-12 * sqrt(float(np.mean(np.square(loss)) + np.mean(np.square(other))) / n)
    if not error > tiny:
        same = np.ptp(difference) <= tiny * sqrt(n)
        reason = "the two models lose the same in every window" if same else f"{n} windows overlap too much"
        return DieboldMariano(nan, nan, n, lag, reason)
    from scipy.stats import t

    statistic = float(difference.mean() / error)
    return DieboldMariano(statistic, float(2 * t.sf(abs(statistic), df=n - 1)), n, lag)


def standard_error(values: NDArray[np.float64], lag: int) -> float:
    """Return the standard error of a mean whose terms are correlated up to a lag, corrected for a small sample.

    Parameters
    ----------
    values : ndarray, shape (n,)
        In order of time.
    lag : int
        Autocovariances with Bartlett weights in the long-run variance (never negative).

    Returns
    -------
    float
        NaN where so few values overlap so much that nothing can be said.

    Notes
    -----
    Harvey, Leybourne & Newbold (1997), for a horizon of ``lag + 1`` windows.
    """
    n = len(values)
    lag = min(lag, max(n - 1, 0))
    horizon = lag + 1
    factor = (n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n
    if factor <= 0:
        return nan
    centred = values - values.mean()
    variance = centred @ centred / n
    for k in range(1, lag + 1):
        variance += 2 * (1 - k / (lag + 1)) * (centred[k:] @ centred[:-k]) / n
    return sqrt(max(variance, 0.0) / n / factor)
