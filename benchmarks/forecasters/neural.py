"""Networks of neuralforecast on the daily protocol."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.forecasters.judging import LEVELS, QUANTILE_NAMES

if TYPE_CHECKING:
    from benchmarks.forecasters.jobs import Job
    from benchmarks.forecasters.protocol import Group, Trial, Window

STEPS = {"PatchTST": 900, "NHITS": 900, "TFT": 300}
"""As the protocol's own scores were made."""
SIZES: dict[str, dict[str, object]] = {
    "PatchTST": {"hidden_size": 48, "encoder_layers": 2, "n_heads": 2, "linear_hidden_size": 96, "learning_rate": 1e-3},
    "NHITS": {},
    "TFT": {"hidden_size": 48},
}
"""PatchTST and TFT of the size of ours; the rest as neuralforecast has it."""


def forecasts(job: Job, trial: Trial) -> pd.DataFrame:
    """Train once per group, and forecast all its windows at once, each as a series of its own."""
    from neuralforecast import NeuralForecast

    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    parts = []
    for group in trial.groups:
        known = [] if job.model == "PatchTST" else [c for c in trial.panel.columns if c.startswith("cal_")]
        model = NeuralForecast(models=[_network(job, trial, known)], freq=1)
        model.fit(df=_numbered(group.train)[["unique_id", "ds", "y", *known]])
        past = {_name(w): trial.known((w,)).tail(trial.input_size) for w in group.windows}
        history = pd.concat([_numbered(rows.assign(unique_id=name)) for name, rows in past.items()])
        future = pd.concat([_following(trial, w, len(past[_name(w)])) for w in group.windows])
        wide = model.predict(
            df=history[["unique_id", "ds", "y", *known]].reset_index(drop=True),
            futr_df=future[["unique_id", "ds", *known]].reset_index(drop=True) if known else None,
        )
        parts += _beside(wide, group)
    return pd.concat(parts, ignore_index=True)


def _network(job: Job, trial: Trial, known: list[str]) -> Any:  # noqa: ANN401  (neuralforecast is untyped)
    from neuralforecast import models
    from neuralforecast.losses.pytorch import MQLoss

    shared = {
        "h": trial.h,
        "input_size": trial.input_size,
        "loss": MQLoss(quantiles=list(LEVELS)),
        "max_steps": STEPS[job.model],
        "scaler_type": "standard",
        "windows_batch_size": 32,
        "batch_size": 4,
        "random_seed": job.seed + 1,
        "accelerator": "cpu",
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "enable_checkpointing": False,
        "logger": False,
    }
    if known:
        shared["futr_exog_list"] = known
    return getattr(models, job.model)(**shared, **SIZES[job.model])


def _numbered(panel: pd.DataFrame) -> pd.DataFrame:
    """Count rows instead of dates, so that no session seems to be missing."""
    return panel.assign(ds=panel.groupby("unique_id").cumcount())


def _name(window: Window) -> str:
    return f"{window.series}-{window.number:02d}"


def _following(trial: Trial, window: Window, size: int) -> pd.DataFrame:
    rows = trial.panel[(trial.panel["unique_id"] == window.series) & (trial.panel["ds"] > window.last)].head(trial.h)
    return rows.assign(unique_id=_name(window), ds=np.arange(size, size + len(rows)))


def _beside(wide: pd.DataFrame, group: Group) -> list[pd.DataFrame]:
    columns = [c for c in wide.columns if c not in ("unique_id", "ds")]
    values = wide.sort_values(["unique_id", "ds"]).set_index("unique_id")[columns]
    parts = []
    for window in group.windows:
        # quantiles stand in the order in which the loss names them, from low to high
        own = np.sort(values.loc[_name(window)].to_numpy(float), axis=1)
        frame = window.truth.assign(group=group.name, series=window.series, number=window.number, unit=window.unit)
        frame["step"] = np.arange(1, len(frame) + 1)
        frame["yhat"] = own.mean(axis=1)
        frame[QUANTILE_NAMES] = own
        parts.append(frame)
    return parts
