"""How far the forecasts of models were from what came, series by series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.scores import crps, hit, pinball, qlike, smape, variance_of_log
from fints.forecast import QUANTILE_COLUMNS, QUANTILES, quantile_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEEK = 5
"""Lag in bars of the seasonal difference that scales errors of daily series."""

LEVELS: tuple[float, ...] = tuple(
    round(100 * (1 - 2 * p), 6)
    for p in QUANTILES
    if p < 0.5 and round(1 - p, 6) in QUANTILES  # noqa: PLR2004
)
"""Central bands, in percent, whose two ends are stated quantiles; widest first."""


LOG_VOLATILITIES: tuple[str, ...] = ("log_range", "log_range_gk")
"""Targets that are the log of a standard deviation."""

RETURNS: tuple[str, ...] = ("log_return",)
"""Targets that have a direction."""

_LEAST_RANKED = 3


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


def losses(frame: pd.DataFrame, target: str = "") -> pd.DataFrame:
    """Loss of each forecast row.

    Parameters
    ----------
    frame : pandas.DataFrame
        With ``y``, ``mean`` and the quantile columns.
    target : str
        What was forecast; it decides on ``qlike`` and ``hit``.

    Returns
    -------
    pandas.DataFrame
        ``squared``, ``absolute``, ``smape``, ``crps``, ``pinball`` (mean over the stated quantiles), ``cov<level>`` (1
        inside the band, 0 outside) and ``width<level>``; for log volatilities (``log_range`` …) ``qlike`` of the
        variance to expect, for ``log_return`` ``hit``. Same index.
    """
    y, mean = frame["y"].to_numpy(float), frame["mean"].to_numpy(float)
    quantiles = frame[list(QUANTILE_COLUMNS)].to_numpy(float)
    columns = {
        "squared": (y - mean) ** 2,
        "absolute": np.abs(y - mean),
        "smape": smape(y, mean),
        "crps": crps(y, quantiles),
        "pinball": pinball(y, quantiles).mean(axis=1),
    }
    for level in LEVELS:
        tail = round((1 - level / 100) / 2, 6)
        lower, upper = (frame[quantile_name(p)].to_numpy(float) for p in (tail, 1 - tail))
        columns[f"cov{level:g}"] = np.asarray((lower <= y) & (y <= upper), dtype=np.float64)
        columns[f"width{level:g}"] = upper - lower
    if target in LOG_VOLATILITIES:
        columns["qlike"] = qlike(np.exp(2 * y), variance_of_log(quantiles))
    if target in RETURNS:
        columns["hit"] = hit(y, mean)
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
        Columns that make the groups: ``["model"]``, ``["model", "step"]``, ``["model", "cutoff"]`` …

    Returns
    -------
    pandas.DataFrame
        `by`, RMSE, MAE, MASE, sMAPE, CRPS, pinball, where `frame` has them QLIKE and the hit rate, the share inside
        each band (``cov80`` …), its mean width (``width80`` …) and ``n``: RMSE is taken per series, then all are
        averaged over series.
    """
    bands = [f"{kind}{level:g}" for kind in ("cov", "width") for level in LEVELS]
    named = {"absolute": "MAE", "smape": "sMAPE", "crps": "CRPS", "pinball": "pinball", "qlike": "QLIKE", "hit": "hit"}
    held = [column for column in (*named, *bands) if column in frame.columns]
    grouped = frame.groupby([*by, "unique_id"], sort=True)
    per_series = grouped[["squared", *held]].mean()
    scale = per_series.index.get_level_values("unique_id").map(scales.to_dict()).to_numpy(dtype=float)
    scored = per_series[held].rename(columns=named)
    scored.insert(0, "RMSE", np.sqrt(per_series["squared"]))
    scored.insert(2, "MASE", per_series["absolute"] / scale)
    table = scored.groupby(level=by).mean()
    table["n"] = grouped.size().groupby(level=by).sum()
    return table.reset_index()


def information_coefficient(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Rank correlation of forecasts and what came (Spearman), group by group.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``y``, ``mean`` and `by`.
    by : list of str
        Columns that make the groups: ``["model", "cutoff", "step"]`` for that across series, which ranks assets on a
        day; ``["model", "unique_id", "step"]`` for that of a series over time.

    Returns
    -------
    pandas.DataFrame
        `by`, ``ic`` and ``n``; NaN where a group has fewer than three rows, or one side does not vary.
    """
    ranks = frame.groupby(by)[["y", "mean"]].rank()
    # the mean rank is known: (n + 1) / 2, ties included
    size = frame.groupby(by)["y"].transform("size")
    apart = ranks.sub((size + 1) / 2, axis=0)
    products = frame[by].assign(yy=apart["y"] ** 2, mm=apart["mean"] ** 2, ym=apart["y"] * apart["mean"])
    grouped = products.groupby(by, sort=True)
    sums, n = grouped.sum(), grouped.size()
    spread = (sums["yy"] * sums["mm"]) ** 0.5
    told = (n >= _LEAST_RANKED) & (spread > 0)
    ic = sums["ym"].where(told) / spread.where(told)
    return pd.DataFrame({"ic": ic, "n": n}).reset_index()


def correlation(rows: pd.DataFrame) -> pd.DataFrame:
    """Information coefficient of each model, which is a quant's word for `information_coefficient` on returns.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``model, seed, unique_id, cutoff, step, y, mean``.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``model``: ``IC``, over windows, the mean of that of every series and step; ``IC_cross``, across
        series, the mean of that of every window and step: NaN with fewer than three series. NaN too where forecasts do
        not vary.
    """
    over_time = information_coefficient(rows, ["model", "seed", "unique_id", "step"])
    across = information_coefficient(rows, ["model", "seed", "cutoff", "step"])
    return pd.DataFrame(
        {"IC": over_time.groupby("model")["ic"].mean(), "IC_cross": across.groupby("model")["ic"].mean()}
    )
