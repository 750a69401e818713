"""Fit a forecaster on each group and let it forecast every window, through the package's public interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import fints
from benchmarks.forecasters.jobs import OURS
from fints.baselines import BASELINES
from fints.forecast import QUANTILES, Forecast
from fints.series import future_frame

if TYPE_CHECKING:
    from benchmarks.forecasters.jobs import Job
    from benchmarks.forecasters.protocol import Trial, Window
    from fints.forecast import Forecaster

LEVELS = tuple(round(0.1 * k, 1) for k in range(1, 10))
QUANTILE_NAMES = [f"q{round(100 * p)}" for p in LEVELS]
_AT = [QUANTILES.index(p) for p in LEVELS]
OUTER = {"low95": QUANTILES.index(0.025), "high95": QUANTILES.index(0.975)}
"""Columns of the 95 % band, which the scores of the protocol do not ask for."""
_BARE = ["unique_id", "ds", "y", "exchange", "interval"]
_SPARE = 15
"""Bars asked for beyond those judged: the exchange's calendar has bars that the data lack."""

PLANS = {
    "daily": fints.FrequencyPlan.from_periods(
        [fints.Cycle(7.0, "calendar", harmonics=(1, 2, 3)), *(fints.Cycle(365.25 / n, "calendar") for n in (12, 4, 1))]
    ),
    "hourly": fints.FrequencyPlan.from_periods([fints.Cycle(1.0, harmonics=(1, 2)), fints.Cycle(5.0)]),
}
"""Known beforehand: the week, month, quarter and year of the calendar; the session and its half, and five sessions."""


def judge(job: Job, trial: Trial) -> pd.DataFrame:
    """Return one row per bar judged, with the forecast beside what came."""
    parts = []
    for group in trial.groups:
        if job.model == OURS:
            model, train = transformer(job, trial.h, trial.input_size), group.train
        else:
            # one bar more than is judged, for a session that the data lack
            model, train = BASELINES[job.model].build(trial.h + 1), group.train
            if job.model != "gradient_boosting":  # the others learn nothing from other series
                train = train[train["unique_id"].isin(group.series)].reset_index(drop=True)
        model.fit(train)
        for windows in group.origins():
            forecast = reach(model, trial.known(windows), windows)
            parts += [beside(forecast, window, group.name) for window in windows]
    return pd.concat(parts, ignore_index=True)


def transformer(job: Job, h: int, input_size: int) -> fints.CycleTransformer:
    """Build ours as the job asks."""
    from fints.transformer.config import NetworkConfig, TrainingConfig

    plan = PLANS.get(job.trial, PLANS["daily"])
    model = fints.CycleTransformer(h, input_size, job.encoding, plan, random_seed=job.seed)
    return model.with_settings(NetworkConfig(**job.network), TrainingConfig(**job.training))


def reach(model: Forecaster, history: pd.DataFrame, windows: tuple[Window, ...]) -> Forecast:
    """Forecast up to the last bar judged, beyond the trained horizon if need be."""
    until = max(window.truth["ds"].iloc[-1] for window in windows)
    judged = len(windows[0].truth)
    if isinstance(model, fints.CycleTransformer):
        ahead = future_frame(history[_BARE], judged + _SPARE)
        return model.forecast(history, h=int((ahead["ds"] <= until).groupby(ahead["unique_id"]).sum().max()))
    parts = [model.forecast(history)]
    while (last := parts[-1].frame["ds"].max()) < until:
        parts.append(model.forecast(history, at=last + pd.Timedelta("1s")))
    return Forecast.concat(parts)


def beside(forecast: Forecast, window: Window, group: str) -> pd.DataFrame:
    """Set a forecast beside what came. A bar that the calendar does not know takes the forecast of the one before."""
    own = forecast.of((forecast.frame["unique_id"] == window.series).to_numpy())
    at = np.maximum(np.searchsorted(own.frame["ds"], window.truth["ds"], side="right") - 1, 0)
    frame = window.truth.assign(group=group, series=window.series, number=window.number, unit=window.unit)
    frame["step"] = np.arange(1, len(frame) + 1)
    frame["yhat"] = own.mean[at]
    frame[QUANTILE_NAMES] = own.quantiles[at][:, _AT]
    frame[list(OUTER)] = own.quantiles[at][:, list(OUTER.values())]
    return frame
