"""How far forecasts were from what came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.forecast import QUANTILE_COLUMNS, QUANTILES, quantile_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

WEEK = 5
"""Lag in bars of the seasonal difference that scales errors of daily series."""

LEVELS: tuple[float, ...] = tuple(
    round(100 * (1 - 2 * p), 6)
    for p in QUANTILES
    if p < 0.5 and round(1 - p, 6) in QUANTILES  # noqa: PLR2004
)
"""Central bands, in percent, whose two ends are stated quantiles; widest first."""


def crps(
    y: NDArray[np.float64], quantiles: NDArray[np.float64], probabilities: Sequence[float] = QUANTILES
) -> NDArray[np.float64]:
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
    p = np.concatenate([[0.0], np.asarray(probabilities, float), [1.0]])
    q = np.concatenate([quantiles[:, :1], quantiles, quantiles[:, -1:]], axis=1)
    a, b = p[:-1], p[1:]
    left, right = q[:, :-1], q[:, 1:]
    # ∫ (y - q(p)) p dp over each interval; both factors are linear in p, so Simpson's rule is exact
    middle = (left + right) / 2
    weighted = (b - a) / 6 * (a * (y[:, None] - left) + 2 * (a + b) * (y[:, None] - middle) + b * (y[:, None] - right))
    # ∫ (q(p) - y) over the part of each interval where q(p) > y: a trapezoid, or a triangle from the crossing on
    above_left, above_right = np.maximum(left - y[:, None], 0), np.maximum(right - y[:, None], 0)
    # a rise of a denormal number would overflow the quotient, which is at most one where it counts
    rise = np.maximum(right - left, np.finfo(float).tiny)
    share = np.where(left >= y[:, None], 1.0, np.minimum(above_right, rise) / rise)
    exceeding = (b - a) * share * (above_left + above_right) / 2
    score: NDArray[np.float64] = 2 * (weighted + exceeding).sum(axis=1)
    return score


def seasonal_scale(y: NDArray[np.float64], lag: int) -> float:
    """Mean absolute seasonal difference, the unit of MASE.

    Parameters
    ----------
    y : ndarray, shape (T,)
        Training values only; unknown ones are passed over.
    lag : int
        Bars.

    Returns
    -------
    float
        NaN where there are no differences or all are zero.
    """
    differences = np.abs(y[lag:] - y[:-lag])
    known = differences[np.isfinite(differences)]
    scale = float(known.mean()) if len(known) else 0.0
    return scale if scale > 0 else float("nan")


def season_lag(rows: pd.DataFrame) -> int:
    """Lag of the seasonal difference of a series: a week of daily bars, one session of intraday ones."""
    if "interval" not in rows.columns or str(rows["interval"].iloc[0]) == "1d":
        return WEEK
    return int(rows["ds"].dt.normalize().value_counts().mode().max())


def losses(frame: pd.DataFrame) -> pd.DataFrame:
    """Loss of each forecast row.

    Parameters
    ----------
    frame : pandas.DataFrame
        With ``y``, ``mean`` and the quantile columns.

    Returns
    -------
    pandas.DataFrame
        ``squared``, ``absolute``, ``crps`` and ``cov<level>`` (1 inside the band, 0 outside), same index.
    """
    y = frame["y"].to_numpy(float)
    error = y - frame["mean"].to_numpy(float)
    columns = {
        "squared": error**2,
        "absolute": np.abs(error),
        "crps": crps(y, frame[list(QUANTILE_COLUMNS)].to_numpy(float)),
    }
    for level in LEVELS:
        tail = round((1 - level / 100) / 2, 6)
        lower, upper = frame[quantile_name(tail)], frame[quantile_name(1 - tail)]
        columns[f"cov{level:g}"] = np.asarray((lower <= y) & (y <= upper), dtype=np.float64)
    return pd.DataFrame(columns, index=frame.index)


def summarise(frame: pd.DataFrame, scales: pd.Series, by: list[str]) -> pd.DataFrame:
    """Score groups of forecasts; every series counts the same.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``unique_id``, `by` and the columns of `losses`.
    scales : pandas.Series
        `seasonal_scale` of each series, by ``unique_id``.
    by : list of str
        Columns that make the groups.

    Returns
    -------
    pandas.DataFrame
        `by`, RMSE, MAE, MASE, CRPS, the share inside each band (``cov80`` …) and ``n``: RMSE is taken per series, then
        all are averaged over series.
    """
    coverage = [f"cov{level:g}" for level in LEVELS]
    grouped = frame.groupby([*by, "unique_id"], sort=True)
    per_series = grouped[["squared", "absolute", "crps", *coverage]].mean()
    scored = pd.DataFrame(
        {
            "RMSE": np.sqrt(per_series["squared"]),
            "MAE": per_series["absolute"],
            "MASE": per_series["absolute"] / per_series.index.get_level_values("unique_id").map(scales.to_dict()),
            "CRPS": per_series["crps"],
        }
    ).join(per_series[coverage])
    table = scored.groupby(level=by).mean()
    table["n"] = grouped.size().groupby(level=by).sum()
    return table.reset_index()
