"""Whether bands hold what they promise: by step, by series, and in calm and in storm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.conformal.bands import STRETCHES
from fints.conformal.scores import stretch_of
from fints.errors import SchemaError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.backtest.result import CrossValidation

REGIMES = ("calm", "middling", "stormy")
"""Terciles of each series' windows by the volatility before them."""

_MONTH = 22


def coverage(result: CrossValidation, by: str, levels: Sequence[float] = (80, 95)) -> pd.DataFrame:
    """Share of values inside the bands.

    Parameters
    ----------
    result : CrossValidation
    by : str
        ``step``, ``unique_id``, or another column of its shared rows.
    levels : sequence of float
        Bands in percent.

    Returns
    -------
    pandas.DataFrame
        ``model``, `by`, ``cov80`` … and ``n``; every forecast counts the same.

    Raises
    ------
    UnknownNameError
        If there is no such column or band.
    """
    return shares(result.shared(), by, levels)


def coverage_by_stretch(
    result: CrossValidation, ends: Sequence[int] = STRETCHES, levels: Sequence[float] = (80, 95)
) -> pd.DataFrame:
    """Share of values inside the bands by stretch of the horizon.

    Parameters
    ----------
    result : CrossValidation
    ends : sequence of int
        Last step of each stretch but the last.
    levels : sequence of float
        Bands in percent.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``steps`` (``"1"``, ``"2-5"`` …), ``cov80`` … and ``n``.
    """
    rows = result.shared()
    stretch = stretch_of(rows["step"].to_numpy(np.int64), ends)
    table = shares(rows.assign(steps=stretch), "steps", levels)
    last = int(rows["step"].max()) if len(rows) else 1
    bounds = [(first + 1, min(end, last)) for first, end in zip((0, *ends), (*ends, last), strict=True)]
    names = [f"{first}" if first == end else f"{first}-{end}" for first, end in bounds]
    return table.assign(steps=[names[int(s)] for s in table["steps"]])


def coverage_by_regime(
    result: CrossValidation, panel: pd.DataFrame, levels: Sequence[float] = (80, 95)
) -> pd.DataFrame:
    """Share of values inside the bands by the volatility before each window.

    Parameters
    ----------
    result : CrossValidation
    panel : pandas.DataFrame
        The panel compared on. Volatility is the mean over 22 bars up to the cutoff of ``past_log_range`` where it has
        that, else of the absolute ``past_log_return``, else of the absolute change of ``y``.
    levels : sequence of float
        Bands in percent.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``regime`` (one of `REGIMES`), ``cov80`` … and ``n``.
    """
    rows = result.shared()
    terciles = regimes(panel, rows[["unique_id", "cutoff"]].drop_duplicates())
    return shares(rows.merge(terciles, on=["unique_id", "cutoff"]), "regime", levels)


def regimes(panel: pd.DataFrame, windows: pd.DataFrame) -> pd.DataFrame:
    """Sort windows into terciles by the volatility before them, each series on its own.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``.
    windows : pandas.DataFrame
        ``unique_id, cutoff``.

    Returns
    -------
    pandas.DataFrame
        `windows` with ``regime``.

    Raises
    ------
    SchemaError
        If a cutoff is no bar of its series nor comes after one.
    """
    parts = []
    for name, own in windows.groupby("unique_id", sort=False):
        rows = panel[panel["unique_id"] == name]
        smooth = _volatility(rows).rolling(_MONTH, min_periods=1).mean().to_numpy()
        place = np.searchsorted(rows["ds"].to_numpy(), own["cutoff"].to_numpy(), side="right") - 1
        if len(place) and place.min() < 0:
            raise SchemaError(f"{name} has no bar up to {own['cutoff'].min()}; pass the panel that was compared on")
        rank = pd.Series(smooth[place], index=own.index).rank(method="first", pct=True)
        number = np.minimum((np.ceil(rank * len(REGIMES)) - 1).astype(int), len(REGIMES) - 1)
        parts.append(own.assign(regime=np.array(REGIMES)[number]))
    return pd.concat(parts, ignore_index=True)


def shares(rows: pd.DataFrame, by: str, levels: Sequence[float]) -> pd.DataFrame:
    """Average the columns ``cov<level>`` of scored rows by model and one more column."""
    columns = [f"cov{level:g}" for level in levels]
    for kind, asked in (("column of the forecasts", by), *(("band level", column) for column in columns)):
        if asked not in rows.columns:
            raise UnknownNameError(kind, asked, map(str, rows.columns))
    order = sorted(rows[by].unique(), key=REGIMES.index if by == "regime" else None)
    grouped = rows.groupby(["model", by], sort=False)
    table = grouped[columns].mean().assign(n=grouped.size()).reset_index()
    table[by] = pd.Categorical(table[by], order, ordered=True)
    table = table.sort_values(["model", by], ignore_index=True)
    return table.astype({by: rows[by].dtype})


def _volatility(rows: pd.DataFrame) -> pd.Series:
    if "past_log_range" in rows.columns:
        return rows["past_log_range"]
    if "past_log_return" in rows.columns:
        return rows["past_log_return"].abs()
    return rows["y"].diff().abs()
