"""A forecaster whose bands hold what they promise."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.combination.tail import Tail
from fints.conformal import AdaptiveBands, calibrate
from fints.conformal.adaptive import Pace
from fints.errors import ModelError, NotFittedError, SeriesError
from fints.forecast import lookback
from fints.series import longest_going_on, recent, validate_panel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from fints.combination.tail import Progress
    from fints.forecast import Forecast, Forecaster


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """What a conformal forecaster has learned.

    Parameters
    ----------
    model : Forecaster
        Fitted.
    bands : AdaptiveBands
        As they stand at the end of the panel fitted on.
    """

    model: Forecaster
    bands: AdaptiveBands


class ConformalForecaster:
    """Any forecaster, its quantiles corrected by its own errors (see `fints.conformal`).

    The model is fitted on what lies before the tail of the panel and forecasts the tail; its errors there calibrate the
    bands, and it is fitted again, on everything. From then on the bands follow what comes: before a forecast from a
    longer history, they learn from what the model would have forecast in the bars since, all from that history, so that
    the same history always gives the same forecast. `update` takes them along for good, for the next night.

    Point forecasts stay the model's.

    Parameters
    ----------
    model : Forecaster
        Unfitted; it is copied.
    tail : Tail, optional
        What is held out to calibrate on.
    adaptive : bool
        Whether bands follow what comes after the fit.
    pace : Pace, optional
        How fast.
    refit : bool
        Whether the model is fitted again with the tail.
    level : sequence of float
        Bands of `predict`, in percent.

    Examples
    --------
    >>> import fints
    >>> fints.ConformalForecaster(fints.HAR(h=20)).name
    'HAR-conformal'
    """

    def __init__(
        self,
        model: Forecaster,
        *,
        tail: Tail | None = None,
        adaptive: bool = True,
        pace: Pace | None = None,
        refit: bool = True,
        level: Sequence[float] = (80, 95),
    ) -> None:
        self.model = model
        self.tail = tail or Tail()
        self.adaptive = adaptive
        self.pace = pace or Pace()
        self.refit = refit
        self.level = tuple(level)
        self.warm_up = 1
        self.fitted: Calibrated | None = None
        self._panel: pd.DataFrame | None = None
        self._known: dict[bytes, pd.DataFrame] = {}

    @property
    def name(self) -> str:
        """The model's, with ``-conformal``."""
        return f"{self.model.name}-conformal"

    @property
    def h(self) -> int:
        """Bars ahead."""
        return self.model.h

    @property
    def lookback(self) -> int | None:
        """The model's, where bands do not follow the history."""
        return None if self.adaptive else lookback(self.model)

    @property
    def bands(self) -> AdaptiveBands:
        """Bands as they stand: a value that can be stored until the next night."""
        return self._require_fitted().bands

    @classmethod
    def around(
        cls, fitted: Forecaster, bands: AdaptiveBands, *, warm_up: int = 1, level: Sequence[float] = (80, 95)
    ) -> Self:
        """Take a fitted model and bands as they are, from a store, say.

        Parameters
        ----------
        fitted : Forecaster
        bands : AdaptiveBands
            Of this model.
        warm_up : int
            Bars that a series needs for the model to forecast it; bands of one that was shorter do not follow yet.
        level : sequence of float
            Bands of `predict`, in percent.
        """
        made = cls(fitted, level=level)
        made.pace, made.warm_up = bands.pace, warm_up
        made.fitted = Calibrated(fitted, bands)
        return made

    def fit(self, panel: pd.DataFrame, progress: Progress | None = None) -> Self:
        """Calibrate on the tail of a panel, then fit the model on all of it.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.
        progress : callable, optional
            Called as ``progress(model, origins done, origins)`` while the tail is forecast.

        Raises
        ------
        SeriesError
            If the panel is too short for a tail.
        ModelError
            If the model fails on the tail.

        Warns
        -----
        UserWarning
            If the tail has too few errors for a band of `level`.
        """
        panel = validate_panel(panel)
        trial = self.tail.forecast(panel, [self.model], progress)
        if trial.failures:
            raise ModelError(f"{self.model.name} cannot be calibrated: {trial.failures[self.model.name]}")
        base = calibrate(trial.frame, level=self.level)
        bands = AdaptiveBands(base, self.pace, until=pd.Timestamp(panel["ds"].max()).isoformat())
        model = deepcopy(self.model).fit(panel) if self.refit else trial.models[self.model.name]
        self.fitted, self._panel, self._known = Calibrated(model, bands), panel, {}
        return self

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> Forecast:
        """Forecast as a distribution; see `fints.forecast.Forecaster.forecast`.

        Parameters
        ----------
        panel : pandas.DataFrame, optional
            History to forecast from, the fitted panel by default. Bands follow what it holds beyond the bars that they
            have learned from; the model is not fitted again.
        at : date, optional
            Ask the same history about the bars from this date on, instead of those that follow it.
        known_at : date or instant, optional
            The calendar as it was known then; by default at the close of each series' last bar.

        Raises
        ------
        NotFittedError
            Before `fit`, or without a panel where none was fitted on.
        """
        fitted, history = self._require_fitted(), self._history(panel)
        bands = self._followed(fitted, history) if self.adaptive else fitted.bands
        return bands.apply(fitted.model.forecast(history, at=at, known_at=known_at))

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame: ``unique_id``, ``ds``, the model's name and its bands; see `forecast`."""
        return self.forecast(panel, at=at, known_at=known_at).to_wide(self.name, self.level)

    def update(self, panel: pd.DataFrame) -> AdaptiveBands:
        """Let the bands learn from what came since, and keep what they learned.

        Parameters
        ----------
        panel : pandas.DataFrame
            History up to the last bar known. The model forecasts from its earlier ends what came after them; it is not
            fitted again.

        Returns
        -------
        AdaptiveBands
            As they stand now; write ``to_json()`` to a store and give the value read from there to `around`.
        """
        fitted = self._require_fitted()
        bands = self._followed(fitted, validate_panel(panel))
        self.fitted = Calibrated(fitted.model, bands)
        return bands

    def _followed(self, fitted: Calibrated, history: pd.DataFrame) -> AdaptiveBands:
        """Bands that have learned from every bar of a history which is news to them."""
        since = pd.Timestamp(fitted.bands.until)
        if not (history["ds"] > since).any():
            return fitted.bands
        parts = [self._forecast_from(fitted, history, origin) for origin in self._origins(history, since)]
        parts = [part for part in parts if len(part)]
        if not parts:
            return fitted.bands
        known = history[["unique_id", "ds", "y"]]
        issued = pd.concat(parts).merge(known, on=["unique_id", "ds"], how="inner")
        return fitted.bands.update(issued)

    def _origins(self, history: pd.DataFrame, since: pd.Timestamp) -> list[pd.Timestamp]:
        """Bars from which some bar after `since` was forecast, so far apart as the tail's, counted from `since`."""
        stamps = longest_going_on(history)["ds"].to_numpy()
        stop = int((stamps <= since.to_datetime64()).sum())
        apart = self.tail.step_size or max(1, self.h // 4)
        first = stop - 1 - apart * ((self.h - 1) // apart)
        return [pd.Timestamp(stamps[i]) for i in range(first, len(stamps) - 1, apart) if i >= 0]

    def _forecast_from(self, fitted: Calibrated, history: pd.DataFrame, origin: pd.Timestamp) -> pd.DataFrame:
        before = history["ds"].to_numpy() <= origin.to_datetime64()
        owner, _ = pd.factorize(history["unique_id"])
        bars = np.bincount(owner, before)
        chosen = (bars >= self.warm_up) & (bars < np.bincount(owner))
        known = recent(history, lookback(fitted.model), before & chosen[owner])
        if known.empty:
            return known
        # the same rows give the same forecast: windows of a backtest ask for it again and again
        key = sha256(pd.util.hash_pandas_object(known, index=False).to_numpy().tobytes()).digest()
        if key not in self._known:
            self._known[key] = _issued(fitted.model, known)
        return self._known[key]

    def _history(self, panel: pd.DataFrame | None) -> pd.DataFrame:
        if panel is not None:
            return validate_panel(panel)
        if self._panel is None:
            raise NotFittedError(f"{self.name} was given no history; pass the panel to forecast from")
        return self._panel

    def _require_fitted(self) -> Calibrated:
        if self.fitted is None:
            raise NotFittedError(f"{self.name} was asked before it was fitted; call fit(panel) first")
        return self.fitted


def _issued(model: Forecaster, known: pd.DataFrame) -> pd.DataFrame:
    """Forecast all series at once; where one is too short for the model, every series that is not."""
    try:
        return model.forecast(known).to_long()
    except SeriesError:
        series = [rows.reset_index(drop=True) for _, rows in known.groupby("unique_id", sort=False)]
        parts = [part for part in (_issued_alone(model, rows) for rows in series) if len(part)]
        return pd.concat(parts, ignore_index=True) if parts else known.head(0)


def _issued_alone(model: Forecaster, rows: pd.DataFrame) -> pd.DataFrame:
    try:
        return model.forecast(rows).to_long()
    except SeriesError:
        return rows.head(0)
