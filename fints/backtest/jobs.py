"""One piece of a comparison: a model with a seed, fitted once, on the windows until the next fit."""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import warnings
from copy import deepcopy
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import ModelError
from fints.forecast import QUANTILE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from fints.backtest.folds import Folds
    from fints.forecast import Forecast, Forecaster

    Curves = Mapping[str, Mapping[int, float]]
    Diary = Callable[[Forecaster], Curves]

LOG = logging.getLogger(__name__)

COLUMNS = ["unique_id", "cutoff", "ds", "step", "y", "model", "seed", "mean", *QUANTILE_COLUMNS]
VOID_COLUMNS = ["model", "seed", "unique_id", "cutoff", "ds", "step", "reason"]


@dataclass(frozen=True, slots=True, eq=False)
class Entrant:
    """A forecaster in a comparison.

    Parameters
    ----------
    model : Forecaster
        Unfitted. Models of one name and different seeds are one model, scored as the mean over its seeds.
    seed : int
    digest : str
        Of everything that the model is made of, its seed and settings; a job of a model without one is never taken
        from an earlier run.
    """

    model: Forecaster
    seed: int = 0
    digest: str = ""

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a job left behind.

    Parameters
    ----------
    rows : pandas.DataFrame
        Forecasts that can be scored, with the columns `COLUMNS`; none where it failed.
    void : pandas.DataFrame
        Forecasts that cannot, with the columns `VOID_COLUMNS`.
    seconds : float
        It took, fitting and forecasting.
    failure : str
        Why it did not finish; empty where it did.
    curves : mapping of str to mapping of int to float
        What the diary told of the fitted model.
    model : Forecaster, optional
        As fitted, where that was asked for.
    reused : bool
        Whether another run had found it.
    """

    rows: pd.DataFrame
    void: pd.DataFrame
    seconds: float
    failure: str = ""
    curves: Curves = field(default_factory=dict)
    model: Forecaster | None = None
    reused: bool = False

    @classmethod
    def failed(cls, failure: str, seconds: float = 0.0) -> Outcome:
        """Return the outcome of a job that did not finish."""
        return cls(pd.DataFrame(columns=COLUMNS), pd.DataFrame(columns=VOID_COLUMNS), seconds, failure)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A model to be fitted at the first of some windows and taken through all of them.

    Parameters
    ----------
    entrant : Entrant
    folds : Folds
    windows : tuple of int
        Numbers of windows, in order.
    diary : callable, optional
        Tells curves of the fitted model, to be kept with the outcome; it is sent to other processes.
    keep_model : bool
        Whether the outcome brings the fitted model.
    states : Path, optional
        Folder for the states of an unfinished training, of a model that takes one.
    """

    entrant: Entrant
    folds: Folds
    windows: tuple[int, ...]
    diary: Diary | None = None
    keep_model: bool = False
    states: Path | None = None

    def key(self, data: str) -> str:
        """Name the job by everything that decides its outcome.

        Parameters
        ----------
        data : str
            Names the panel and the code.

        Returns
        -------
        str
            24 hexadecimal digits.
        """
        folds = self.folds
        decisive = {
            "data": data,
            "model": [self.entrant.name, self.entrant.seed, self.entrant.digest],
            "cutoffs": [folds.cutoffs[window].isoformat() for window in self.windows],
            "folds": [folds.h, folds.purge, folds.embargo, folds.input_size, folds.warm_up],
        }
        return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:24]

    def run(self, panel: pd.DataFrame, told: Callable[[int], None] | None = None) -> Outcome:
        """Fit, and forecast every window; a model that raises is an outcome, not an error.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.
        told : callable, optional
            Called with the number of windows done after each.
        """
        began = perf_counter()
        try:
            return self._run(panel, began, told)
        except Exception as error:  # a model that raises is a finding, not the end of the comparison
            LOG.debug("where %s failed", self.entrant.name, exc_info=True)
            return Outcome.failed(f"{type(error).__name__}: {error}", perf_counter() - began)

    def _run(self, panel: pd.DataFrame, began: float, told: Callable[[int], None] | None) -> Outcome:
        folds, name, seed = self.folds, self.entrant.name, self.entrant.seed
        training = folds.training(panel, folds.cutoffs[self.windows[0]])
        fitted = fit_on(self.entrant.model, training, self.states)
        learned = training["unique_id"].unique()
        scored, void = [], []
        for done, window in enumerate(self.windows, start=1):
            cutoff = folds.cutoffs[window]
            history = folds.history(panel, cutoff)
            history = history[history["unique_id"].isin(learned)].reset_index(drop=True)
            rows = _rows(forecast_ahead(fitted, history, folds.h), history, folds.h)
            kept, left_out = _score(rows.assign(model=name, seed=seed), folds.after(panel, cutoff), cutoff)
            scored.append(kept)
            void.append(left_out)
            if told is not None:
                told(done)
        return Outcome(
            rows=pd.concat(scored, ignore_index=True),
            void=pd.concat(void, ignore_index=True),
            seconds=perf_counter() - began,
            curves={} if self.diary is None else self.diary(fitted),
            model=fitted if self.keep_model else None,
        )


def fit_on(model: Forecaster, training: pd.DataFrame, states: Path | None = None) -> Forecaster:
    """Fit a copy of a model; where it takes a folder for states of its training, it goes on from one that is there."""
    fresh = deepcopy(model)
    if states is None or "checkpoints" not in inspect.signature(fresh.fit).parameters:
        return fresh.fit(training)
    return fresh.fit(training, checkpoints=states)  # type: ignore[call-arg]


def extrapolates(model: Forecaster) -> bool:
    """Tell whether a model can be asked for more bars than it was trained for."""
    return "h" in inspect.signature(model.forecast).parameters


def forecast_ahead(model: Forecaster, history: pd.DataFrame, h: int) -> Forecast:
    """Forecast `h` bars, also beyond those that the model was trained for if it can; that it warns then is silenced."""
    if h <= model.h:
        return model.forecast(history)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*trained for", category=UserWarning)
        return model.forecast(history, h=h)  # type: ignore[call-arg]


def _rows(forecast: Forecast, history: pd.DataFrame, h: int) -> pd.DataFrame:
    rows = forecast.to_long()
    rows = rows[rows["step"] <= h]
    expected = history["unique_id"].unique()
    counts = rows.groupby("unique_id").size().reindex(expected, fill_value=0)
    if (counts != h).any():
        missing = counts[counts != h]
        raise ModelError(f"{missing.index[0]}: {missing.iloc[0]} forecasts where {h} were asked for")
    numbers = rows[["mean", *QUANTILE_COLUMNS]].to_numpy(float)
    broken = ~np.isfinite(numbers).all(axis=1)
    if broken.any():
        row = rows[broken].iloc[0]
        raise ModelError(f"{row['unique_id']}: the forecast of {row['ds']} is not a number")
    return rows


def _score(rows: pd.DataFrame, after: pd.DataFrame, cutoff: pd.Timestamp) -> tuple[pd.DataFrame, pd.DataFrame]:
    joined = rows.merge(after, on=["unique_id", "ds"], how="left", validate="one_to_one").assign(cutoff=cutoff)
    unknown = joined["y"].isna()
    last = joined["unique_id"].map(after.groupby("unique_id")["ds"].max())
    reason = np.where(
        last.isna() | (joined["ds"] > last), "after the last bar of the series", "no bar came: cancelled or missing"
    )
    void = joined.assign(reason=reason).loc[unknown, VOID_COLUMNS]
    return joined.loc[~unknown, COLUMNS], void
