"""What baselines share: one small model per series, bands from its own errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import ConfigError, DateError, NotFittedError, UnknownNameError
from fints.forecast import Forecast
from fints.series.panel import future_frame, validate_panel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from fints.conformal import ResidualQuantiles

DAILY = "1d"


@dataclass(frozen=True, slots=True, eq=False)
class SeriesFit:
    """What a baseline learned about one series.

    Parameters
    ----------
    bands : ResidualQuantiles
        Quantiles of its errors at each step ahead.
    coefficients : ndarray, shape (h, k)
        One regression per step ahead; empty for models without any.
    """

    bands: ResidualQuantiles
    coefficients: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The known rows of one series, oldest first.

    Parameters
    ----------
    unique_id : str
        Its name, for messages.
    ds : pandas.DatetimeIndex, shape (T,)
        Session dates, or exchange-local starts of intraday bars.
    y : ndarray, shape (T,)
        Finite values.
    covariates : pandas.DataFrame, shape (T, c)
        The columns ``cal_…`` of the panel.
    intraday : bool
        Whether several bars share a session.
    """

    unique_id: str
    ds: pd.DatetimeIndex
    y: NDArray[np.float64]
    covariates: pd.DataFrame
    intraday: bool

    @classmethod
    def of(cls, rows: pd.DataFrame) -> History:
        """Read one series of a panel; rows whose ``y`` is unknown are passed over."""
        known = rows[np.isfinite(rows["y"].to_numpy(float))]
        interval = str(rows["interval"].iloc[0]) if "interval" in rows.columns else DAILY
        return cls(
            unique_id=str(rows["unique_id"].iloc[0]),
            ds=pd.DatetimeIndex(known["ds"]),
            y=known["y"].to_numpy(float),
            covariates=known.filter(regex="^cal_").reset_index(drop=True),
            intraday=interval != DAILY,
        )

    def bars_per_session(self) -> int:
        """Count the bars of an ordinary session: the most frequent count; 1 on daily bars."""
        if not self.intraday or not len(self.ds):
            return 1
        counts = pd.Series(1, index=self.ds.normalize()).groupby(level=0).sum()
        return int(counts.mode().max())


class PerSeriesForecaster(ABC):
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
        self._fits: dict[str, SeriesFit] = {}
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
        self._fits = {name: self._fit_one(History.of(rows)) for name, rows in _series(valid)}
        self._panel = valid
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
        if self._panel is None:
            raise NotFittedError(f"{self.name} was asked to forecast before it was fitted; call fit(panel) first")
        history = self._panel if panel is None else validate_panel(panel)
        if not self.reads_calendar:
            history = history[["unique_id", "ds", "y", "exchange", "interval"]]
        start = None if at is None else pd.Timestamp(at)
        future = future_frame(history, self.h, known_at=known_at, start=start)
        ahead = dict(iter(future.groupby("unique_id", sort=False)))
        return Forecast.concat(
            self._forecast_one(rows, _require_after(rows, ahead[name])) for name, rows in _series(history)
        )

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

    def _forecast_one(self, rows: pd.DataFrame, future: pd.DataFrame) -> Forecast:
        history = History.of(rows)
        if history.unique_id not in self._fits:
            raise UnknownNameError("fitted series", history.unique_id, self._fits)
        fitted = self._fits[history.unique_id]
        point = self._point(fitted, history, future)
        keys = future[["unique_id", "ds", "step"]].reset_index(drop=True)
        return Forecast(frame=keys, mean=point, quantiles=fitted.bands.around(point, keys["step"].to_numpy(np.int64)))

    @abstractmethod
    def _fit_one(self, history: History) -> SeriesFit:
        """Learn one series."""

    @abstractmethod
    def _point(self, fitted: SeriesFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        """Point forecast of the rows of `future` (columns of `future_frame`), shape (len(future),)."""


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
