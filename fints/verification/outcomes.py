"""Forecasts beside what became of them, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.scores import crps
from fints.conformal.bands import STRETCHES
from fints.conformal.scores import stretch_of
from fints.forecast import QUANTILE_COLUMNS
from fints.verification.basis import shifts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.verification.basis import Night
    from fints.verification.happened import Happened
    from fints.verification.promise import Promise

STATES = ("scored", "pending", "missing", "void", "unplaced")
"""What becomes of a forecast:

``scored``    its bar is final and has a value
``pending``   its bar is still to come
``missing``   the session took place without a bar of the series, or with one that has no value of the target
``void``      the session was cancelled after the forecast was made
``unplaced``  the series was put on another basis since, and what it was at the time is not on record
"""

SCORES = ("error", "squared", "absolute", "crps", "cov80", "cov95")

_NIGHT = ["as_of", "unique_id"]
"""Of one night and series, however often it was made."""

_CHUNK = 200_000
"""Rows whose distributions are scored at a time."""

_STATED = {"RMSE": "p_squared", "MAE": "p_absolute", "CRPS": "p_crps", "cov80": "p_cov80", "cov95": "p_cov95"}


def outcomes(
    forecasts: pd.DataFrame, target: str, happened: Happened, promises: Mapping[Night, Promise]
) -> pd.DataFrame:
    """Hold the forecasts of one target against what happened.

    Parameters
    ----------
    forecasts : pandas.DataFrame
        Rows of the table ``forecasts`` of one target and interval.
    target : str
    happened : Happened
    promises : mapping of (as_of, made_at) to Promise
        Of the nights that are looked back on. Rows that no promise is kept of are another dataset's, or older than
        promises are; they are left out, and so are series that have no bars any more.

    Returns
    -------
    pandas.DataFrame
        ``as_of, unique_id, ds, step, stretch, state, live`` (made before the end of the bar), where the state is
        ``scored`` the columns of `SCORES` on the basis that the forecast was made on, and what was promised
        (``p_squared, p_absolute, p_crps, p_cov80, p_cov95``). Sorted by as-of, series and step.
    """
    rows = _ours(forecasts, happened, promises)
    if rows.empty:
        return pd.DataFrame(
            columns=["as_of", "unique_id", "ds", "step", "stretch", "state", "live", *SCORES, *_STATED.values()]
        )
    actual = happened.values(target)
    rows = rows.merge(happened.sessions(rows["unique_id"].unique(), rows["ds"]), on=["unique_id", "ds"], how="left")
    rows = _as_said(rows).merge(actual, on=["unique_id", "ds"], how="left")
    shift = shifts(rows, target, actual, promises)
    rows["state"] = _states(rows, shift, happened)
    rows["live"] = rows["end"].isna() | (rows["created_at"] < rows["end"])
    rows["stretch"] = stretch_of(rows["step"].to_numpy(np.int64), STRETCHES)
    scored = _scored(rows, rows["y"].to_numpy(float) - np.nan_to_num(shift))
    found = pd.concat([rows, scored, _promised(rows, promises)], axis=1)
    kept = ["as_of", "unique_id", "ds", "step", "stretch", "state", "live", *SCORES, *_STATED.values()]
    return found[kept].sort_values(["as_of", "unique_id", "step"], ignore_index=True)


def _ours(forecasts: pd.DataFrame, happened: Happened, promises: Mapping[Night, Promise]) -> pd.DataFrame:
    made = forecasts["created_at"].dt.floor("us")
    known = pd.MultiIndex.from_arrays([forecasts["as_of"], made]).isin([*promises]) if len(promises) else False
    there = forecasts["unique_id"].isin(happened.exchanges.keys())
    return forecasts.assign(created_at=made)[there & known].reset_index(drop=True)


def unpromised(forecasts: pd.DataFrame, happened: Happened, promises: Mapping[Night, Promise]) -> pd.DataFrame:
    """Return the forecasts of series that have bars, and of which no promise is kept: ``as_of, unique_id, step``."""
    key = ["as_of", "unique_id", "step"]
    there = forecasts.loc[forecasts["unique_id"].isin(happened.exchanges.keys()), key].drop_duplicates()
    ours = _ours(forecasts, happened, promises)[key]
    return there[~pd.MultiIndex.from_frame(there).isin(pd.MultiIndex.from_frame(ours))].reset_index(drop=True)


def _as_said(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep one set of forecasts of every series and night, where several were made: the one that it is held to.

    Each set in turn, by when it was made, takes the place of the one held before, unless a bar that both forecast was
    over by then, and the one held was made before it was: from then on it would be hindsight. A bar that the later set
    does not forecast was known to it: of two nights of a date, the first, after Tokyo's close, forecasts New York's bar
    of that date; the second, after New York's, begins with the next one, and is the one that counts. Where nothing was
    made in time, it is the newest set.
    """
    night = rows.groupby(_NIGHT, observed=True, sort=False)
    several = (night["created_at"].transform("min") < night["created_at"].transform("max")).to_numpy(bool)
    if not several.any():
        return rows
    doubled = rows[several]
    group = doubled.groupby(_NIGHT, observed=True, sort=False).ngroup().to_numpy()
    number = doubled.groupby(group)["created_at"].rank(method="dense").to_numpy(np.int64) - 1
    bars = doubled[["ds", "created_at", "end"]].assign(group=group, number=number)
    sets = [own for _, own in bars.groupby("number")]
    held = np.zeros(int(group.max()) + 1, dtype=np.int64)
    for later in sets[1:]:
        before = bars[bars["number"].to_numpy() == held[group]]
        both = before.merge(later, on=["group", "ds"], suffixes=("", "_later"))
        hindsight = (both["created_at"] < both["end"]) & (both["end"] <= both["created_at_later"])
        moved = np.setdiff1d(later["group"], both.loc[hindsight, "group"])
        held[moved] = later["number"].iloc[0]
    kept: pd.DataFrame = doubled[number == held[group]]
    return pd.concat([rows[~several], kept], ignore_index=True)


def _states(rows: pd.DataFrame, shift: np.ndarray, happened: Happened) -> np.ndarray:
    exchange = rows["unique_id"].map(happened.exchanges)
    newest = exchange.map(happened.newest())
    valued = np.isfinite(rows["y"].to_numpy(float))
    # while the exchange's newest session is the bar's own or an earlier one, the bar may only be late
    passed = (rows["session"] < newest).to_numpy(bool)
    over = rows["over"].eq(True).to_numpy(bool)
    return np.select(
        [rows["end"].isna(), ~over | (~valued & ~passed), ~valued, np.isnan(shift)],
        ["void", "pending", "missing", "unplaced"],
        "scored",
    )


def _scored(rows: pd.DataFrame, y: np.ndarray) -> pd.DataFrame:
    done = np.flatnonzero(rows["state"].to_numpy() == "scored")
    found = np.full((len(rows), len(SCORES)), np.nan, dtype=np.float32)
    names = list(QUANTILE_COLUMNS)
    for start in range(0, len(done), _CHUNK):
        part = done[start : start + _CHUNK]
        q, came = rows[names].to_numpy(float)[part], y[part]
        error = came - rows["mean"].to_numpy(float)[part]
        inside = [
            (q[:, names.index(low)] <= came) & (came <= q[:, names.index(high)])
            for low, high in (("q10", "q90"), ("q025", "q975"))
        ]
        found[part] = np.column_stack([error, error**2, np.abs(error), crps(came, q), *inside])
    return pd.DataFrame(found, columns=list(SCORES), index=rows.index)


def _promised(rows: pd.DataFrame, promises: Mapping[Night, Promise]) -> pd.DataFrame:
    tables = []
    for (as_of, made_at), promise in promises.items():
        stated = promise.by_step.assign(RMSE=promise.by_step["RMSE"] ** 2).rename(columns=_STATED)
        tables.append(stated.assign(as_of=as_of, created_at=made_at))
    table = pd.concat([one for one in tables if len(one)] or tables[:1], ignore_index=True)
    table = table.astype(dict.fromkeys([*_STATED.values()], "float32") | {"step": "int64"})
    keys = ["as_of", "created_at", "step"]
    return rows[keys].merge(table, on=keys, how="left")[list(_STATED.values())].set_axis(rows.index)
