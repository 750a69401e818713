"""LightGBM on the daily protocol: one model per step ahead, with lags, means and the calendar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmarks.forecasters.judging import LEVELS, QUANTILE_NAMES

if TYPE_CHECKING:
    from lightgbm import LGBMRegressor
    from numpy.typing import NDArray

    from benchmarks.forecasters.jobs import Job
    from benchmarks.forecasters.protocol import Group, Trial

LAGS, MEANS = (1, 2, 3, 4, 5, 10, 20, 60), (5, 20, 60, 252)
HELD_OUT = 0.2


def forecasts(job: Job, trial: Trial) -> pd.DataFrame:
    """Fit each step's trees on every series; the errors of trees without the last fifth of the dates make quantiles."""
    calendar = [column for column in trial.panel.columns if column.startswith("cal_")]
    columns = [f"feature_{k}" for k in range(len(LAGS) + len(MEANS))]
    past = _past(trial.panel, columns, trial.input_size)
    parts = [
        _step(job, group, past, (step, columns, calendar)) for group in trial.groups for step in range(1, trial.h + 1)
    ]
    return pd.concat(parts, ignore_index=True)


def _past(panel: pd.DataFrame, columns: list[str], size: int) -> pd.DataFrame:
    """Give each row what is known after it, in units of its last bars."""
    y = panel.groupby("unique_id")["y"]
    centre = y.transform(lambda v: v.rolling(size).mean())
    spread = y.transform(lambda v: v.rolling(size).std(ddof=0))
    known = [y.shift(lag - 1) for lag in LAGS]
    known += [y.transform(lambda v, n=n: v.rolling(n).mean()) for n in MEANS]
    scaled = {name: (values - centre) / spread for name, values in zip(columns, known, strict=True)}
    # the mean over the whole context is nought in its own units
    return panel.assign(**scaled, centre=centre, spread=spread).dropna(subset=["spread"])


def _step(job: Job, group: Group, past: pd.DataFrame, what: tuple[int, list[str], list[str]]) -> pd.DataFrame:
    step, columns, calendar = what
    series = past.groupby("unique_id")
    rows = past[["unique_id", "ds", "centre", "spread", *columns]].assign(
        target=series["y"].shift(-step), when=series["ds"].shift(-step)
    )
    rows[calendar] = series[calendar].shift(-step)
    rows = rows.dropna(subset=["target"])
    inputs = [*columns, *calendar]
    train = rows[rows["when"] < group.train["ds"].max() + pd.Timedelta("1D")]
    split = train["ds"].quantile(1 - HELD_OUT)
    early, late = train[train["when"] < split], train[train["ds"] >= split]
    errors = _scaled(late) - _grown(job, early[inputs], _scaled(early)).predict(late[inputs])
    trees = _grown(job, train[inputs], _scaled(train))
    quantiles = np.quantile(errors - errors.mean(), LEVELS)
    parts = []
    for window in group.windows:
        row = rows[(rows["unique_id"] == window.series) & (rows["ds"] == window.last)]
        centre, spread = row["centre"].iloc[0], row["spread"].iloc[0]
        point = float(trees.predict(row[inputs])[0])
        frame = window.truth.iloc[[step - 1]].assign(
            group=group.name, series=window.series, number=window.number, unit=window.unit, step=step
        )
        frame["yhat"] = centre + spread * point
        frame[QUANTILE_NAMES] = centre + spread * (point + quantiles)
        parts.append(frame)
    return pd.concat(parts)


def _scaled(rows: pd.DataFrame) -> NDArray[np.float64]:
    values: NDArray[np.float64] = ((rows["target"] - rows["centre"]) / rows["spread"]).to_numpy()
    return values


def _grown(job: Job, x: pd.DataFrame, y: NDArray[np.float64]) -> LGBMRegressor:
    from lightgbm import LGBMRegressor

    trees = LGBMRegressor(
        n_estimators=200,
        learning_rate=0.05,
        num_leaves=15,
        min_child_samples=100,
        colsample_bytree=0.5,
        random_state=job.seed,
        n_jobs=1,
        verbose=-1,
    )
    return trees.fit(x, y)
