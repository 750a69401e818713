"""Scores of models side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.backtest.metrics import LEVELS, RETURNS, correlation, summarise
from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fints.backtest.result import CrossValidation

ERRORS = ("RMSE", "MAE", "MASE", "sMAPE", "CRPS")


def scored(rows: pd.DataFrame, scales: pd.Series, by: Sequence[str]) -> pd.DataFrame:
    """Score each model within groups: each seed for itself, then the mean over seeds; ``n`` is their sum.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `CrossValidation.shared` gives them.
    scales : pandas.Series
        See `fints.backtest.metrics.summarise`.
    by : sequence of str
        Columns that make the groups, besides ``model``.
    """
    keys = ["model", *by]
    each = summarise(rows, scales, ["model", "seed", *by]).drop(columns="seed").groupby(keys)
    return each.mean().assign(n=each["n"].sum()).reset_index()


def ranked(result: CrossValidation, rows: pd.DataFrame, levels: Sequence[float]) -> pd.DataFrame:
    """Score the models, the lowest RMSE first; those that failed come last, without scores.

    Parameters
    ----------
    result : CrossValidation
    rows : pandas.DataFrame
        Its shared rows.
    levels : sequence of float
        Bands whose coverage is shown, in percent.

    Raises
    ------
    UnknownNameError
        If a level has no stated quantiles.
    """
    unknown = [level for level in levels if level not in LEVELS]
    if unknown:
        raise UnknownNameError("band level", f"{unknown[0]:g}", [f"{level:g}" for level in LEVELS])
    columns = [*ERRORS, *(column for column, loss in (("QLIKE", "qlike"), ("hit", "hit")) if loss in rows.columns)]
    table = scored(rows, result.scales, []).set_index("model") if len(rows) else rows.set_index("model")
    if len(rows):
        each = summarise(rows, result.scales, ["model", "seed"]).groupby("model")["RMSE"]
        table = table.assign(seeds=each.size(), RMSE_sd=each.std()).sort_values("RMSE", kind="stable")
    if len(rows) and result.target in RETURNS:
        table = table.join(correlation(rows))
        columns += ["IC", "IC_cross"]
    coverage = [f"cov{level:g}" for level in levels]
    table = table.reindex(columns=[*columns, *coverage, "n", "windows", "void", "seeds", "RMSE_sd", "problem"])
    table["windows"] = rows["cutoff"].nunique() if len(rows) else 0
    table["void"] = result.void.groupby("model").size().reindex(table.index, fill_value=0)
    table = table.reindex([*table.index, *result.failures])
    table["problem"] = [result.failures.get(str(model), "") for model in table.index]
    return table.rename_axis("model").reset_index()
