"""What baselines share: one small model per series, bands from its own errors."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd

from fints.baselines.history import History
from fints.errors import ConfigError, DateError, NotFittedError, SeriesError, UnknownNameError
from fints.forecast import Forecast
from fints.series import CALENDAR_PREFIX, PAST_PREFIX, recent
from fints.series.panel import future_frame, validate_panel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from fints.conformal import ResidualQuantiles

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SeriesFit:
    """What a baseline learned about one series; models with more to keep derive from it.

    Parameters
    ----------
    bands : ResidualQuantiles
        Quantiles of its errors at each step ahead.
    coefficients : ndarray
        Whatever numbers the model estimated, in a shape of its own; empty for models without any.
    fallback : str
        Why a simpler model stands in for the one asked for; empty if none does.
    """

    bands: ResidualQuantiles
    coefficients: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    fallback: str = ""


Fit = TypeVar("Fit", bound=SeriesFit)


class PerSeriesForecaster(ABC, Generic[Fit]):
    """A forecaster that fits each series alone.

    Parameters
    ----------
    h : int
        Bars ahead, at least 1.
    level : sequence of float
        Bands of `predict`, in percent.

    Raises
    ------
    ConfigError
        If `h` is not a positive number of bars.
    """

    def __init__(self, h: int, level: Sequence[float] = (80, 95)) -> None:
        if h < 1:
            raise ConfigError(f"{type(self).__name__}: h is the number of bars to forecast, at least 1; got {h}")
        self._h = int(h)
        self.level = tuple(level)
        self._fits: dict[str, Fit] = {}
        self._panel: pd.DataFrame | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """Name under which it stands in tables."""

    @property
    def h(self) -> int:
        """Bars ahead."""
        return self._h

    @property
    def reads_calendar(self) -> bool:
        """Whether it uses the panel's known-future covariates."""
        return False

    @property
    def reads_companions(self) -> bool:
        """Whether it uses the panel's past companions."""
        return False

    @property
    def lookback(self) -> int | None:
        """Known values of daily bars that a forecast is made from, the last ones; None reads all there are."""
        return None

    @property
    def fallbacks(self) -> Mapping[str, str]:
        """Series for which a simpler model stands in for the one asked for, with the reason."""
        return MappingProxyType({name: fit.fallback for name, fit in self._fits.items() if fit.fallback})

    @property
    def fits(self) -> Mapping[str, Fit]:
        """What was learned about each series; empty before `fit`."""
        return MappingProxyType(self._fits)

    def having(self, fits: Mapping[str, Any]) -> Self:
        """Return a forecaster like this one that has learned what another one did, and keeps no history.

        Parameters
        ----------
        fits : mapping of str to SeriesFit
            The `fits` of a forecaster with the same settings.
        """
        other = copy(self)
        vars(other).update(_fits=dict(fits), _panel=None)
        return other

    def _require(self, history: History, needed: int) -> None:
        """Refuse a series with too few known values."""
        if len(history.y) < needed:
            raise SeriesError(
                f"{history.unique_id}: {len(history.y)} known values are too few for {self.name} with h = {self.h}; "
                f"it needs {needed}. Lower h or leave the series out"
            )

    def fit(self, panel: pd.DataFrame) -> Self:
        """Fit every series of the panel.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``: at least ``unique_id``, ``ds``, ``y``, ordered by time within a series.

        Returns
        -------
        PerSeriesForecaster
            Itself.

        Raises
        ------
        SeriesError
            If a series is too short, named in the message.
        """
        valid = validate_panel(panel)
        self._fits = self._fit_all([History.of(rows) for _, rows in _series(valid)])
        self._panel = valid
        for name, reason in self.fallbacks.items():
            LOG.warning("%s, %s: %s", self.name, name, reason)
        return self

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> Forecast:
        """Forecast the h bars that follow a history; nothing is estimated again.

        Parameters
        ----------
        panel : pandas.DataFrame, optional
            History to forecast from; the fitted panel by default.
        at : date, optional
            Forecast the h bars from the first one on or after this date, which has to lie after the history; steps
            count from the last bar of the history. Bars further ahead than h use what was learned for step h.
        known_at : date or instant, optional
            The calendar as it was known then; by default at the close of each series' last bar.

        Returns
        -------
        Forecast

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        SchemaError
            If the history is not a panel.
        UnknownNameError
            If the history holds a series that was not fitted.
        DateError
            If `at` does not lie after the history.
        """
        if not self._fits:
            raise NotFittedError(f"{self.name} was asked to forecast before it was fitted; call fit(panel) first")
        if panel is None and self._panel is None:
            raise NotFittedError(f"a loaded {self.name} keeps no history; pass the panel to forecast from")
        history = self._panel if panel is None else validate_panel(panel)
        assert history is not None
        history = recent(history, self.lookback)  # before any column is left out: of many series, that is a copy
        history = history[[c for c in history.columns if self.reads(str(c))]]
        start = None if at is None else pd.Timestamp(at)
        future = future_frame(history, self.h, known_at=known_at, start=start)
        ahead = dict(iter(future.groupby("unique_id", sort=False)))
        asked = ((History.of(rows), _require_after(rows, ahead[name])) for name, rows in _series(history))
        return Forecast.concat(self._forecast_all(asked))

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame.

        Its columns are ``unique_id``, ``ds``, ``<name>``, ``<name>-lo-80``, ``<name>-hi-80`` …

        Parameters and errors are those of `forecast`.
        """
        return self.forecast(panel, at=at, known_at=known_at).to_wide(self.name, self.level)

    def reads(self, column: str) -> bool:
        """Say whether a column of a panel bears on what it learns and forecasts."""
        if column.startswith(CALENDAR_PREFIX):
            return self.reads_calendar
        return self.reads_companions or not column.startswith(PAST_PREFIX)

    def _forecast_all(self, asked: Iterable[tuple[History, pd.DataFrame]]) -> list[Forecast]:
        """Forecast every series from its history; one after the other unless a model pools them."""
        made = []
        for history, future in asked:
            fitted = self._fit_of(history)
            point = self._point(fitted, history, future)
            keys = future[["unique_id", "ds", "step"]].reset_index(drop=True)
            quantiles = self._quantiles(fitted, history, point, keys["step"].to_numpy(np.int64))
            made.append(Forecast(frame=keys, mean=point, quantiles=quantiles))
        return made

    def _fit_of(self, history: History) -> Fit:
        if history.unique_id not in self._fits:
            raise UnknownNameError("fitted series", history.unique_id, self._fits)
        return self._fits[history.unique_id]

    def _fit_all(self, histories: list[History]) -> dict[str, Fit]:
        """Learn every series; one after the other unless a model pools them."""
        return {history.unique_id: self._fit_one(history) for history in histories}

    @abstractmethod
    def _fit_one(self, history: History) -> Fit:
        """Learn one series."""

    @abstractmethod
    def _point(self, fitted: Fit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        """Point forecast of the rows of `future` (columns of `future_frame`), shape (len(future),)."""

    def _quantiles(
        self, fitted: Fit, history: History, point: NDArray[np.float64], steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Distribution around a point forecast, shape (len(point), len(QUANTILES))."""
        del history
        return fitted.bands.around(point, steps)


def _require_after(history: pd.DataFrame, ahead: pd.DataFrame) -> pd.DataFrame:
    """Refuse bars that the history holds already."""
    if ahead["step"].iloc[0] < 1:
        raise DateError(
            f"{history['unique_id'].iloc[0]}: asked for {ahead['ds'].iloc[0]}, but the history goes on to "
            f"{history['ds'].iloc[-1]}; give a later date, or a panel that ends before"
        )
    return ahead


def _series(panel: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(name), rows) for name, rows in panel.groupby("unique_id", sort=False)]
