"""Forecast and outcome on days that the calendar singles out: early closes, expiries, month ends."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.metrics import summarise
from fints.errors import SchemaError
from fints.series.covariates import CALENDAR_PREFIX, add_features

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EVENTS: Mapping[str, str] = MappingProxyType(
    {"early close": "early_close", "option expiry": "option_expiry", "month end": "month_end"}
)
"""Kinds of events, and the calendar feature that is 1 on their sessions."""

ORDINARY = "ordinary day"
"""Every session that is none of `EVENTS`."""

FEWEST = 10
"""Sessions below which figures of a kind of event say nothing."""


def events_of(rows: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Tell of every row which kinds of events its session is; it can be several.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``unique_id, ds``, each of them a bar of the panel.
    panel : pandas.DataFrame
        The panel compared on: ``unique_id, ds, exchange, interval``. What counts is the calendar as it was known on the
        eve of each session.

    Returns
    -------
    pandas.DataFrame
        One boolean column for each of `EVENTS`, and `ORDINARY`; index of `rows`.

    Raises
    ------
    SchemaError
        If a row is no bar of the panel.
    """
    keys = ["unique_id", "ds"]
    wanted = panel["ds"].between(rows["ds"].min(), rows["ds"].max())
    bars = panel.loc[wanted, [*keys, "exchange", "interval"]].reset_index(drop=True)
    flags = add_features(bars, list(EVENTS.values()))
    found = rows[keys].merge(flags, on=keys, how="left", indicator=True)
    strange = found["_merge"] != "both"
    if strange.any():
        first = found[strange].iloc[0]
        raise SchemaError(
            f"{first['unique_id']} has no bar of {first['ds']} in the panel; pass the panel that was compared on"
        )
    columns = {kind: found[CALENDAR_PREFIX + name].to_numpy(float) > 0 for kind, name in EVENTS.items()}
    kinds = pd.DataFrame(columns, index=rows.index)
    return kinds.assign(**{ORDINARY: ~kinds.any(axis=1)})


def by_event(rows: pd.DataFrame, panel: pd.DataFrame, levels: Sequence[float] = (80, 95)) -> pd.DataFrame:
    """Score forecasts of each kind of event beside those of ordinary days.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `CrossValidation.shared` gives.
    panel : pandas.DataFrame
        The panel compared on; see `events_of`.
    levels : sequence of float
        Bands in percent.

    Returns
    -------
    pandas.DataFrame
        ``model, event`` (`ORDINARY` first), ``RMSE``, ``bias`` (mean of what came less the forecast), ``cov80`` …, all
        means over series; ``sessions`` (how many different days), ``n`` (how many forecasts) and ``few`` (whether
        the days are fewer than `FEWEST`). Kinds without a day are there, with no figures.
    """
    kinds = events_of(rows, panel)
    covered = [f"cov{level:g}" for level in levels]
    parts = []
    for kind in (ORDINARY, *EVENTS):
        own = rows[kinds[kind].to_numpy()]
        sessions = own["ds"].dt.normalize().nunique()
        table = pd.DataFrame({"model": rows["model"].unique()}).assign(event=kind, sessions=sessions)
        scores = _scores(own, covered) if len(own) else pd.DataFrame(columns=["model", "RMSE", "bias", *covered, "n"])
        parts.append(table.merge(scores, on="model", how="left"))
    found = pd.concat([part.dropna(axis=1, how="all") for part in parts], ignore_index=True)
    found = found.reindex(columns=["model", "event", "RMSE", "bias", *covered, "sessions", "n"])
    return found.assign(n=found["n"].fillna(0).astype(np.int64), few=found["sessions"] < FEWEST)


def _scores(rows: pd.DataFrame, covered: Sequence[str]) -> pd.DataFrame:
    table = summarise(rows, pd.Series(dtype="float64"), ["model"])
    missed = (rows["y"] - rows["mean"]).groupby([rows["model"], rows["unique_id"]]).mean()
    table["bias"] = table["model"].map(missed.groupby(level="model").mean())
    return table[["model", "RMSE", "bias", *covered, "n"]]
