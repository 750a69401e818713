"""The last value, and the last value of the same season."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.baselines.seasons import Season, latest_in_season, previous_in_season, season_keys
from fints.conformal import ResidualQuantiles
from fints.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.baselines.history import History

_CLOCK_SEASONS = ("week", "bar")


class NaiveConfig(BaselineConfig):
    """Settings of `Naive`: none."""

    kind: Literal["naive"] = "naive"

    def build(self, h: int, level: Sequence[float] = BANDS) -> Naive:
        """Make the forecaster."""
        return Naive(h, level)


class SeasonalNaiveConfig(BaselineConfig):
    """Settings of `SeasonalNaive`.

    Attributes
    ----------
    season : {"week", "bar"} or int
        The same weekday and time of day, the same time of day, or so many bars ago.
    """

    kind: Literal["seasonal_naive"] = "seasonal_naive"
    season: Literal["week", "bar"] | Annotated[int, Field(ge=1)] = "week"

    def build(self, h: int, level: Sequence[float] = BANDS) -> SeasonalNaive:
        """Make the forecaster."""
        return SeasonalNaive(h, self.season, level)


class SeasonalNaive(PerSeriesForecaster[SeriesFit]):
    """Repeat the last value that was seen in the same season.

    Parameters
    ----------
    h : int
        Bars ahead.
    season : {"week", "bar"} or int
        ``"week"``: the last bar on the same weekday (and at the same time of day), so that a holiday does not shift the
        week as a lag of five rows would. ``"bar"``: the last bar at the same time of day. An integer: that many bars
        ago. A bar whose season was never seen gets the last value.
    level : sequence of float
        Bands of `predict`, in percent.

    Raises
    ------
    UnknownNameError
        If the season is another word.
    ConfigError
        If a lag is not positive.
    """

    def __init__(self, h: int, season: Season = "week", level: Sequence[float] = BANDS) -> None:
        super().__init__(h, level)
        if isinstance(season, str) and season not in _CLOCK_SEASONS:
            raise UnknownNameError("season", season, _CLOCK_SEASONS)
        if not isinstance(season, str) and season < 1:
            raise ConfigError(f"SeasonalNaive: a season of {season} bars is not one; give 1 or more, 'week' or 'bar'")
        self.season = season

    @property
    def name(self) -> str:
        """``SeasonalNaive`` for weeks; ``SeasonalNaive-bar``, ``SeasonalNaive-5``, say, for other seasons."""
        return "SeasonalNaive" if self.season == "week" else f"SeasonalNaive-{self.season}"

    def _fit_one(self, history: History) -> SeriesFit:
        self._require(history, self.h + 2)
        rows = np.arange(len(history.y))
        previous = previous_in_season(season_keys(self.season, history.ds, rows))
        origins = rows[: len(rows) - self.h]
        errors = np.empty((len(origins), self.h))
        for step in range(1, self.h + 1):
            source = latest_in_season(previous, origins, origins + step)
            errors[:, step - 1] = history.y[origins + step] - history.y[np.where(source < 0, origins, source)]
        return SeriesFit(bands=ResidualQuantiles.from_errors(errors))

    def _point(self, fitted: SeriesFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        del fitted
        last = len(history.y) - 1
        seen = season_keys(self.season, history.ds, np.arange(last + 1))
        asked = season_keys(self.season, pd.DatetimeIndex(future["ds"]), last + future["step"].to_numpy(np.int64))
        latest = pd.Series(history.y, index=seen).groupby(level=0).last()
        return np.asarray(latest.reindex(asked).fillna(history.y[last]), dtype=np.float64)


class Naive(SeasonalNaive):
    """Repeat the last value.

    Parameters
    ----------
    h : int
        Bars ahead.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    def __init__(self, h: int, level: Sequence[float] = BANDS) -> None:
        super().__init__(h, 1, level)

    @property
    def name(self) -> str:
        """``Naive``."""
        return "Naive"
