"""Exponential smoothing in state-space form, with calendar terms."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.disturbed import TRAIN_SIZE, DisturbedRegression
from fints.baselines.ewma import best_weight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.baselines.disturbed import ErrorModel

Trend = Literal["N", "A", "Ad"]

_TRENDS: Mapping[Trend, Mapping[str, Any]] = MappingProxyType(
    {"N": {"trend": None}, "A": {"trend": "add"}, "Ad": {"trend": "add", "damped_trend": True}}
)
_ROUGH_WEIGHT = 0.4


class ETSConfig(BaselineConfig):
    """Settings of `ETS`; see there.

    Attributes
    ----------
    calendar : bool
    train_size : int
    """

    kind: Literal["ets"] = "ets"
    calendar: bool = True
    train_size: int = Field(default=TRAIN_SIZE, ge=100)

    def build(self, h: int, level: Sequence[float] = BANDS) -> ETS:
        """Make the forecaster."""
        return ETS(h, calendar=self.calendar, train_size=self.train_size, level=level)


class ETS(DisturbedRegression):
    """Regression on the calendar with exponentially smoothed errors.

    Additive errors; no trend, an additive or a damped one, whichever has the lowest AICc (Hyndman, Koehler, Ord &
    Snyder 2008, Forecasting with Exponential Smoothing, chapters 2 and 7). Estimated once; a forecast runs the
    smoothing over the history. There is no seasonal part: weekdays, holidays and times of day are terms.

    Parameters
    ----------
    h : int
        Bars ahead.
    calendar : bool
        Add the panel's known-future covariates (``cal_…``) as terms.
    train_size : int
        Only so many last bars are learnt from, and smoothed at forecast time.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    def __init__(
        self, h: int, *, calendar: bool = True, train_size: int = TRAIN_SIZE, level: Sequence[float] = BANDS
    ) -> None:
        super().__init__(h, level)
        self.calendar = calendar
        self.train_size = int(train_size)

    @property
    def name(self) -> str:
        """``ETS``, or ``ETS-calendar`` with calendar terms."""
        return "ETS-calendar" if self.calendar else "ETS"

    def _rough(self) -> ErrorModel:
        return EtsErrors("N", np.array([_ROUGH_WEIGHT]))

    def _choose(self, u: NDArray[np.float64], like: ErrorModel | None = None) -> tuple[ErrorModel, str]:
        trends: Sequence[Trend] = [like.trend] if isinstance(like, EtsErrors) else list(_TRENDS)
        fitted = [found for trend in trends if (found := _estimate(u, trend)) is not None]
        if fitted:
            return min(fitted, key=lambda found: found[0])[1], ""
        reason = f"no exponential smoothing converged on its {len(u)} values; one without trend stands in"
        return EtsErrors("N", np.array([min(best_weight(u), 0.9999)])), reason


@dataclass(frozen=True, slots=True, eq=False)
class EtsErrors:
    """Additive exponential smoothing, started on the first values of whatever it is given.

    Parameters
    ----------
    trend : {"N", "A", "Ad"}
    parameters : ndarray
        As in statsmodels: weight of the level, of the trend, damping.
    """

    trend: Trend
    parameters: NDArray[np.float64]

    @property
    def label(self) -> str:
        """``ETS(A,N,N)``, say: error, trend, season."""
        return f"ETS(A,{self.trend},N)"

    @property
    def n_parameters(self) -> int:
        """Weights."""
        return len(self.parameters)

    def innovations(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """One-step errors, shape (T, k)."""
        return np.column_stack([self._run(column).resid for column in u.T])

    def forecasts(self, u: NDArray[np.float64], origins: NDArray[np.int64], h: int) -> NDArray[np.float64]:
        """Level and trend carried on, shape (len(origins), h)."""
        states = np.asarray(self._run(u).states)[origins]
        level = states[:, :1].repeat(h, axis=1)
        if self.trend == "N":
            return level
        damping = float(self.parameters[2]) if self.trend == "Ad" else 1.0
        ahead: NDArray[np.float64] = level + states[:, 1:2] * np.cumsum(damping ** np.arange(1, h + 1))
        return ahead

    def _run(self, u: NDArray[np.float64]) -> Any:  # noqa: ANN401 — statsmodels has no types
        # the library standardises the errors, all of which are zero for a term that never varies
        with np.errstate(divide="ignore", invalid="ignore"):
            return _model(u, self.trend).smooth(self.parameters)


def _model(u: NDArray[np.float64], trend: Trend) -> Any:  # noqa: ANN401 — statsmodels has no types
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    return ETSModel(np.ascontiguousarray(u), initialization_method="heuristic", **_TRENDS[trend])


def _estimate(u: NDArray[np.float64], trend: Trend) -> tuple[float, EtsErrors] | None:
    """AICc and model by maximum likelihood; None if it does not converge."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _model(u, trend).fit(disp=False)
            criterion = float(found.aicc)
    except (ValueError, np.linalg.LinAlgError, ZeroDivisionError, FloatingPointError):
        return None
    parameters = np.asarray(found.params, dtype=np.float64)
    if not found.mle_retvals["converged"] or not np.isfinite([criterion, *parameters]).all():
        return None
    return criterion, EtsErrors(trend, parameters)
