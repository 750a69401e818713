"""Heterogeneous autoregression: the last bar, the last week and the last month, one regression per step ahead.

Source: F. Corsi, "A simple approximate long-memory model of realized volatility", Journal of Financial Econometrics 7
(2009), here estimated directly for each step and with optional calendar terms at the target bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.design import Design, Profile
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.baselines.regression import least_squares
from fints.conformal import ResidualQuantiles
from fints.errors import ConfigError, SchemaError, SeriesError
from fints.series.lags import HAR_SPANS, har_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.baselines.history import History


class HARConfig(BaselineConfig):
    """Settings of `HAR`.

    Attributes
    ----------
    calendar : bool
        Known-future covariates of the target bar among the regressors.
    spans : tuple of int, optional
        Lengths of the means in bars; see `HAR`.
    ridge : float
        Penalty on standardised coefficients, relative to the number of rows.
    """

    kind: Literal["har"] = "har"
    calendar: bool = False
    spans: tuple[Annotated[int, Field(ge=1)], ...] | None = Field(default=None, min_length=1)
    ridge: float = Field(default=1e-6, ge=0)

    def build(self, h: int, level: Sequence[float] = BANDS) -> HAR:
        """Make the forecaster."""
        return HAR(h, calendar=self.calendar, spans=self.spans, ridge=self.ridge, level=level)


class HAR(PerSeriesForecaster[SeriesFit]):
    """Direct regressions on means of the past.

    Step k ahead of origin t is a linear function of the means of ``y`` over the last `spans` bars up to t. On intraday
    bars, two terms are added: the mean of the last 20 sessions at the time of day of the origin and at that of the
    target bar; without them a linear model of hourly volume knows no opening and no close.

    Parameters
    ----------
    h : int
        Bars ahead.
    calendar : bool
        Add the panel's known-future covariates (``cal_…``) of the target bar.
    spans : sequence of int, optional
        Lengths of the means in bars. By default 1, 5 and 22 bars on daily data; the last bar and 1, 5 and 22
        sessions of bars on intraday data.
    ridge : float
        Penalty on standardised coefficients, relative to the number of rows. The default only makes collinear
        calendar terms solvable; 0 is ordinary least squares (of minimum norm).
    level : sequence of float
        Bands of `predict`, in percent.
    """

    def __init__(
        self,
        h: int,
        *,
        calendar: bool = False,
        spans: Sequence[int] | None = None,
        ridge: float = 1e-6,
        level: Sequence[float] = BANDS,
    ) -> None:
        super().__init__(h, level)
        if spans is not None and (not len(spans) or min(spans) < 1):
            raise ConfigError(f"HAR: spans are lengths in bars, each at least 1; got {tuple(spans)}")
        if ridge < 0:
            raise ConfigError(f"HAR: ridge is a penalty, 0 or more; got {ridge:g}")
        self.calendar = calendar
        self.spans = None if spans is None else tuple(spans)
        self.ridge = ridge

    @property
    def name(self) -> str:
        """``HAR``; with spans of its own and calendar terms ``HAR-63-252-calendar``, say."""
        return "-".join(["HAR", *self._spans_in_name(), *(["calendar"] if self.calendar else [])])

    @property
    def reads_calendar(self) -> bool:
        """Whether calendar terms are in it."""
        return self.calendar

    @property
    def lookback(self) -> int:
        """The longest mean."""
        return max(self.spans or HAR_SPANS)

    def _fit_one(self, history: History) -> SeriesFit:
        design = self._design(history, None)
        origins = np.arange(max(self._spans(history)) - 1, len(history.y) - self.h)
        needed = 2 * (design.width + 1)
        if len(origins) < needed:
            raise SeriesError(
                f"{history.unique_id}: {len(history.y)} known values are too few for {self.name} with h = {self.h} and "
                f"{design.width + 1} coefficients; it needs {max(self._spans(history)) - 1 + self.h + needed}. Lower "
                "h, give a longer history or leave the series out"
            )
        ahead = origins[:, None] + np.arange(1, self.h + 1)
        targets = history.y[ahead]
        if design.same_at_every_step:
            coefficients, residuals = least_squares(design.matrix(origins, ahead[:, 0]), targets, self.ridge)
        else:
            fits = [
                least_squares(design.matrix(origins, ahead[:, k]), targets[:, [k]], self.ridge) for k in range(self.h)
            ]
            coefficients = np.vstack([c for c, _ in fits])
            residuals = np.hstack([r for _, r in fits])
        bands = ResidualQuantiles.from_errors(residuals, parameters=design.width + 1)
        return SeriesFit(bands=bands, coefficients=coefficients)

    def _point(self, fitted: SeriesFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        design = self._design(history, future)
        now = len(history.y) - 1
        if len(history.y) < max(self._spans(history)):
            raise SeriesError(
                f"{history.unique_id}: {len(history.y)} known values are fewer than the longest mean of {self.name} "
                f"({max(self._spans(history))} bars); give a longer history"
            )
        targets = now + 1 + np.arange(len(future))
        rows = design.matrix(np.full(len(future), now), targets)
        trained = np.minimum(future["step"].to_numpy(int), self.h) - 1
        weights = fitted.coefficients[trained]
        point: NDArray[np.float64] = weights[:, 0] + (rows * weights[:, 1:]).sum(axis=1)
        return point

    def _spans_in_name(self) -> list[str]:
        """Spans beside the usual ones; all of them where a usual one is missing."""
        if self.spans is None:
            return []
        added = [span for span in self.spans if span not in HAR_SPANS]
        return [str(span) for span in (added if set(HAR_SPANS) <= set(self.spans) else self.spans)]

    def _spans(self, history: History) -> tuple[int, ...]:
        if self.spans is not None:
            return self.spans
        session = history.bars_per_session()
        return (1, session, 5 * session, 22 * session) if history.intraday else HAR_SPANS

    def _design(self, history: History, future: pd.DataFrame | None) -> Design:
        ds, calendar = history.ds, history.covariates
        if future is not None:
            ds = pd.DatetimeIndex(ds.append(pd.DatetimeIndex(future["ds"])))
            missing = [c for c in calendar.columns if c not in future.columns]
            if missing and self.calendar:
                raise SchemaError(f"{history.unique_id}: the future bars lack the covariates {missing}")
            calendar = pd.concat([calendar, future.reindex(columns=calendar.columns)], ignore_index=True)
        if self.calendar and calendar.shape[1] == 0:
            raise ConfigError(
                f"{history.unique_id}: HAR with calendar=True needs known-future covariates (cal_…) in the panel; "
                "make it with features=True"
            )
        return Design(
            past=har_features(history.y, self._spans(history)),
            calendar=calendar.to_numpy(float) if self.calendar else np.empty((len(ds), 0)),
            profile=Profile.of(history.y, ds) if history.intraday else None,
        )
