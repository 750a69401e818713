"""Fit on the past, forecast, move on."""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.folds import make_folds
from fints.backtest.metrics import season_lag, seasonal_scale
from fints.backtest.result import CrossValidation
from fints.errors import ConfigError, ModelError
from fints.forecast import QUANTILE_COLUMNS
from fints.series.panel import validate_panel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fints.backtest.folds import Folds, Purge
    from fints.forecast import Forecast, Forecaster

    Progress = Callable[[str, int, int], None]

LOG = logging.getLogger(__name__)

COLUMNS = ["unique_id", "cutoff", "ds", "step", "y", "model", "mean", *QUANTILE_COLUMNS]
VOID_COLUMNS = ["model", "unique_id", "cutoff", "ds", "step", "reason"]


@dataclass(frozen=True, slots=True)
class WalkForward:
    """How models are taken through the windows.

    Parameters
    ----------
    folds : Folds
        The windows.
    refit : bool or int
        False: each model is fitted once, on rows up to the first cutoff, and forecasts every window from the history
        known by then. True: fitted anew in every window. An integer: in every so many windows.

    Raises
    ------
    ConfigError
        If `refit` is negative.
    """

    folds: Folds
    refit: bool | int = False

    def __post_init__(self) -> None:
        if self.refit < 0:
            raise ConfigError(f"refit is True, False or a number of windows, 1 or more; got {self.refit}")

    def run(
        self, panel: pd.DataFrame, models: Sequence[Forecaster], progress: Progress | None = None
    ) -> CrossValidation:
        """Take every model through every window.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.
        models : sequence of Forecaster
            Unfitted; they are copied, so that the caller's stay as they are. One that raises is reported with its
            cause and the others go on.
        progress : callable, optional
            Called as ``progress(model, windows done, windows)``.

        Returns
        -------
        CrossValidation

        Raises
        ------
        ConfigError
            If two models share a name, there is none, or one forecasts fewer bars than the windows have.
        """
        _check(models, self.folds.h)
        runs = [self._run_one(panel, model, progress) for model in models]
        frames = [r.frame for r in runs if r.frame is not None]
        voids = [r.void for r in runs if len(r.void)]
        return CrossValidation(
            frame=pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS),
            folds=self.folds,
            scales=_scales(self.folds.training(panel, self.folds.cutoffs[0])),
            failures={r.name: r.failure for r in runs if r.failure},
            void=pd.concat(voids, ignore_index=True) if voids else pd.DataFrame(columns=VOID_COLUMNS),
            models={r.name: r.model for r in runs},
            seconds={r.name: r.seconds for r in runs},
        )

    def _run_one(self, panel: pd.DataFrame, model: Forecaster, progress: Progress | None) -> _Run:
        began = perf_counter()
        fitted, learned = deepcopy(model), np.array([], dtype=object)
        scored, void = [], []
        try:
            for window, cutoff in enumerate(self.folds):
                if window == 0 or (self.refit and window % int(self.refit) == 0):
                    training = self.folds.training(panel, cutoff)
                    fitted = deepcopy(model).fit(training)
                    learned = training["unique_id"].unique()
                history = self.folds.history(panel, cutoff)
                history = history[history["unique_id"].isin(learned)].reset_index(drop=True)
                rows = _rows(fitted.forecast(history), history, model.name, self.folds.h)
                kept, left_out = _score(rows, self.folds.after(panel, cutoff), cutoff)
                scored.append(kept)
                void.append(left_out)
                if progress is not None:
                    progress(model.name, window + 1, len(self.folds))
        except Exception as error:  # a model that raises is a finding, not the end of the comparison
            LOG.warning("%s left the comparison: %s", model.name, error)
            LOG.debug("where %s failed", model.name, exc_info=True)
            cause = f"{type(error).__name__}: {error}"
            return _Run(model.name, fitted, perf_counter() - began, failure=cause)
        return _Run(
            model.name,
            fitted,
            perf_counter() - began,
            frame=pd.concat(scored, ignore_index=True),
            void=pd.concat(void, ignore_index=True),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    name: str
    model: Forecaster
    seconds: float
    frame: pd.DataFrame | None = None
    void: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=VOID_COLUMNS))
    failure: str = ""


def cross_validation(  # noqa: PLR0913 — the names and their order are those of the Nixtla libraries
    panel: pd.DataFrame,
    models: Sequence[Forecaster],
    *,
    h: int,
    n_windows: int,
    step_size: int,
    refit: bool | int = False,
    purge: Purge = "auto",
    embargo: int = 0,
    progress: Progress | None = None,
) -> CrossValidation:
    """Compare forecasters on rolling origins.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``.
    models : sequence of Forecaster
        Unfitted, each with its own name and a horizon of at least `h`.
    h : int
        Bars ahead.
    n_windows : int
        Number of origins; the last one leaves h bars.
    step_size : int
        Bars between origins, counted on the series that reaches furthest; all series are cut at its stamps.
    refit : bool or int
        Whether models are fitted anew: never, in each window, or in every so many windows.
    purge : "auto" or int
        Bars taken off the end of the training rows so that no training target lies after a cutoff.
    embargo : int
        Further bars taken off.
    progress : callable, optional
        Called as ``progress(model, windows done, windows)``.

    Returns
    -------
    CrossValidation

    Raises
    ------
    ConfigError
        If a number is out of range or the models do not fit together.
    SeriesError
        If the panel is too short for the windows.
    SchemaError
        If it is not a panel.

    Notes
    -----
    A forecast is made with the calendar as known at the close of the last known bar. If one of its sessions was
    cancelled afterwards, that forecast is void: it is counted and not scored.
    """
    panel = validate_panel(panel)
    folds = make_folds(panel, h, n_windows, step_size, purge, embargo)
    return WalkForward(folds, refit).run(panel, models, progress)


def _check(models: Sequence[Forecaster], h: int) -> None:
    names = [model.name for model in models]
    if not names:
        raise ConfigError("a comparison needs at least one model")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"models need names of their own; {', '.join(twice)} stands there more than once")
    for model in models:
        if model.h < h:
            raise ConfigError(f"{model.name} forecasts {model.h} bars and the windows have {h}; build it with h={h}")


def _scales(training: pd.DataFrame) -> pd.Series:
    return pd.Series(
        {
            str(name): seasonal_scale(rows["y"].to_numpy(float), season_lag(rows))
            for name, rows in training.groupby("unique_id", sort=False)
        },
        dtype="float64",
    )


def _rows(forecast: Forecast, history: pd.DataFrame, model: str, h: int) -> pd.DataFrame:
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
    return rows.assign(model=model)


def _score(rows: pd.DataFrame, after: pd.DataFrame, cutoff: pd.Timestamp) -> tuple[pd.DataFrame, pd.DataFrame]:
    joined = rows.merge(after, on=["unique_id", "ds"], how="left", validate="one_to_one").assign(cutoff=cutoff)
    unknown = joined["y"].isna()
    last = joined["unique_id"].map(after.groupby("unique_id")["ds"].max())
    reason = np.where(joined["ds"] > last, "after the last bar of the series", "no bar came: cancelled or missing")
    void = joined.assign(reason=reason).loc[unknown, VOID_COLUMNS]
    return joined.loc[~unknown, COLUMNS], void
