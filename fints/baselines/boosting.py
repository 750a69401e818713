"""Gradient-boosted trees over all series: lags, means, the calendar and the horizon as features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.features import LONGEST_MEAN, PastFeatures
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.baselines.pool import Pool
from fints.conformal import ResidualQuantiles
from fints.errors import ConfigError, SeriesError
from fints.forecast import Forecast

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray
    from sklearn.ensemble import HistGradientBoostingRegressor

    from fints.baselines.history import History
    from fints.baselines.pool import Pairs
    from fints.baselines.trees import Trees

LAGS = (1, 2, 3, 5, 10, 20, 60, 252)

_ALL = ""
_FEWEST_ERRORS, _MOST_ERRORS = 60, 40_000


class GradientBoostingConfig(BaselineConfig):
    """Settings of `GradientBoosting`.

    Attributes
    ----------
    calendar : bool
        Known-future covariates (``cal_…``) of the target bar among the features.
    lags : tuple of int
        Which of the last values are features; 1 is the last one.
    context : int
        Sessions that scale a window.
    max_rows : int
        Pairs of origin and step that the trees are grown on, drawn at random where there are more.
    iterations, learning_rate, leaves, rows_per_leaf : int, float
        Of the trees; fixed, because early stopping would need a hold-out of its own.
    features_per_split : float
        Share of the features that each split may choose from.
    held_out : float
        Share of each series, at its end, whose errors make the bands; the trees of the forecast are grown on all of it.
    random_seed : int
    """

    kind: Literal["gradient_boosting"] = "gradient_boosting"
    calendar: bool = True
    lags: tuple[Annotated[int, Field(ge=1)], ...] = LAGS
    context: int = Field(default=252, ge=20)
    max_rows: int = Field(default=60_000, ge=1000)
    iterations: int = Field(default=200, ge=1)
    learning_rate: float = Field(default=0.05, gt=0, le=1)
    leaves: int = Field(default=15, ge=2)
    rows_per_leaf: int = Field(default=100, ge=1)
    features_per_split: float = Field(default=0.3, gt=0, le=1)
    held_out: float = Field(default=0.2, gt=0, le=0.5)
    random_seed: int = Field(default=0, ge=0, lt=2**32)

    def build(self, h: int, level: Sequence[float] = BANDS) -> GradientBoosting:
        """Make the forecaster."""
        return GradientBoosting(h, self, level)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoostedFit(SeriesFit):
    """Trees shared by all series; bands in units of the window's spread.

    Parameters
    ----------
    trees : HistGradientBoostingRegressor or Trees
        The latter where they were kept.
    columns : tuple of str
        Covariates among the features.
    """

    trees: HistGradientBoostingRegressor | Trees
    columns: tuple[str, ...]


class GradientBoosting(PerSeriesForecaster[BoostedFit]):
    """Histogram gradient boosting, one model for all series and steps.

    A row is a pair of origin and step ahead. Its features are the last values at some lags, means over the last week,
    month, quarter and year, the step, and the calendar of the target bar; on intraday bars also the means of the time
    of day of the target and of the origin. Values are in units of the window: less its mean over the last week, divided
    by its standard deviation over the last 252 sessions, so that series can be pooled. Two sets of trees are grown: one
    without the end of each series, whose errors there, less their mean, make the bands (split conformal), and one on
    everything.

    The trees are those of scikit-learn (Ke et al. 2017, LightGBM, NeurIPS 30). Same rows, same settings, same trees.

    Parameters
    ----------
    h : int
        Bars ahead.
    config : GradientBoostingConfig, optional
        Features and trees.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    def __init__(self, h: int, config: GradientBoostingConfig | None = None, level: Sequence[float] = BANDS) -> None:
        super().__init__(h, level)
        self.config = GradientBoostingConfig() if config is None else config

    @property
    def name(self) -> str:
        """``GradientBoosting``, or ``GradientBoosting-calendar`` with calendar terms."""
        return "GradientBoosting-calendar" if self.config.calendar else "GradientBoosting"

    @property
    def reads_calendar(self) -> bool:
        """Whether calendar features are in it."""
        return self.config.calendar

    @property
    def lookback(self) -> int:
        """The furthest feature, or the window that scales them."""
        return max(*self.config.lags, self.config.context, LONGEST_MEAN)

    def _fit_one(self, history: History) -> BoostedFit:
        return self._fit_all([history])[history.unique_id]

    def _fit_all(self, histories: list[History]) -> dict[str, BoostedFit]:
        columns = self._columns(histories[0])
        pool = Pool(tuple((history, self._features(history, columns)) for history in histories), self.h)
        for history, features in pool.members:
            if len(history.y) < features.first + self.h + 2:
                raise SeriesError(
                    f"{history.unique_id}: {len(history.y)} known values are too few for {self.name} with h = {self.h};"
                    f" it needs {features.first + self.h + 2}. Lower h, give a longer history or leave the series out"
                )
        split = pool.date_at(1 - self.config.held_out)
        errors = pool.errors_since(split, self._grow(pool.before(split)).predict, _MOST_ERRORS)
        if sum(map(len, errors.values())) <= 1:
            raise self._too_short()
        bands = _bands(errors)
        trees = self._grow(pool.before(None))
        return {
            history.unique_id: BoostedFit(bands=bands.get(history.unique_id, bands[_ALL]), trees=trees, columns=columns)
            for history in histories
        }

    def _forecast_all(self, asked: Iterable[tuple[History, pd.DataFrame]]) -> list[Forecast]:
        """Ask the trees about all series at once: each question to two hundred trees takes as long by itself."""
        looks = [self._look(*each) for each in asked]
        scaled = _answered(looks)
        return [look.forecast(part) for look, part in zip(looks, scaled, strict=True)]

    def _point(self, fitted: BoostedFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        del fitted
        look = self._look(history, future)
        return look.centre + look.spread * look.fitted.trees.predict(look.rows)

    def _look(self, history: History, future: pd.DataFrame) -> _Look:
        fitted = self._fit_of(history)
        features = self._features(history, fitted.columns, future)
        now = len(history.y) - 1
        if now < features.first:
            raise SeriesError(
                f"{history.unique_id}: {len(history.y)} known values are too few to forecast from with {self.name}; "
                f"give at least {features.first + 1}"
            )
        steps = np.minimum(future["step"].to_numpy(np.int64), self.h)
        rows = features.matrix(np.full(len(future), now), now + 1 + np.arange(len(future)), steps)
        keys = future[["unique_id", "ds", "step"]].reset_index(drop=True)
        return _Look(fitted, rows, float(features.centre[now]), float(features.spread[now]), keys)

    def _features(self, history: History, columns: Sequence[str], future: pd.DataFrame | None = None) -> PastFeatures:
        return PastFeatures.of(history, self.config.lags, self.config.context, columns, future)

    def _columns(self, history: History) -> tuple[str, ...]:
        if not self.config.calendar:
            return ()
        columns = tuple(map(str, history.covariates.columns))
        if not columns:
            raise ConfigError(
                f"{history.unique_id}: {self.name} needs known-future covariates (cal_…) in the panel; make it with "
                "features=True, or set calendar: false"
            )
        return columns

    def _too_short(self) -> SeriesError:
        return SeriesError(
            f"no series is long enough for {self.name} to hold out {self.config.held_out:.0%} of the rows and forecast "
            f"{self.h} bars there; give longer histories, lower h or change held_out"
        )

    def _grow(self, pairs: Pairs) -> HistGradientBoostingRegressor:
        """Grow trees on pairs of origin and step; on a random share of them where there are many."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        if not pairs.count:
            raise self._too_short()
        x, y = pairs.drawn(self.config.max_rows, self.config.random_seed)
        # a lag that no history reaches: scikit-learn cannot bin it, and a constant is never split on
        x[:, np.isnan(x).all(axis=0)] = 0.0
        return HistGradientBoostingRegressor(
            max_iter=self.config.iterations,
            learning_rate=self.config.learning_rate,
            max_leaf_nodes=self.config.leaves,
            min_samples_leaf=self.config.rows_per_leaf,
            max_features=self.config.features_per_split,
            early_stopping=False,
            random_state=self.config.random_seed,
        ).fit(x, y)


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """What is asked of the trees about one series.

    Parameters
    ----------
    fitted : BoostedFit
    rows : ndarray, shape (h, features)
    centre, spread : float
        Of the window that the series is forecast from.
    keys : pandas.DataFrame
        ``unique_id, ds, step`` of the bars asked for.
    """

    fitted: BoostedFit
    rows: NDArray[np.float64]
    centre: float
    spread: float
    keys: pd.DataFrame

    def forecast(self, scaled: NDArray[np.float64]) -> Forecast:
        point = self.centre + self.spread * scaled
        around = self.fitted.bands.around(np.zeros(len(point)), self.keys["step"].to_numpy(np.int64))
        return Forecast(frame=self.keys, mean=point, quantiles=point[:, None] + self.spread * around)


def _answered(looks: list[_Look]) -> list[NDArray[np.float64]]:
    """Ask each set of trees once; a row's answer does not depend on the rows beside it."""
    trees = {id(look.fitted.trees): look.fitted.trees for look in looks}
    answers: dict[int, NDArray[np.float64]] = {}
    for number, grown in trees.items():
        own = [i for i, look in enumerate(looks) if id(look.fitted.trees) == number]
        said = grown.predict(np.vstack([looks[i].rows for i in own]))
        edges = np.cumsum([len(looks[i].rows) for i in own])[:-1]
        answers |= dict(zip(own, np.split(said, edges), strict=True))
    return [answers[i] for i in range(len(looks))]


def _bands(errors: dict[str, NDArray[np.float64]]) -> dict[str, ResidualQuantiles]:
    """Quantiles of the held-out errors of each series that has enough of them, and of all series together.

    What the errors of a stretch have in common is the stretch's, and the trees of the forecast have learnt from it;
    only their spread is carried forward.
    """
    errors = {name: own - own.mean(axis=0) for name, own in errors.items()}
    bands = {name: ResidualQuantiles.from_errors(own) for name, own in errors.items() if len(own) >= _FEWEST_ERRORS}
    return bands | {_ALL: ResidualQuantiles.from_errors(np.vstack(list(errors.values())))}
