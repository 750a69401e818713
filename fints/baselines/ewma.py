"""An exponentially weighted mean of the past: simple exponential smoothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.conformal import ResidualQuantiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.baselines.history import History

_SLOWEST = 1e-4


class EWMAConfig(BaselineConfig):
    """Settings of `EWMA`: none, its weight is estimated."""

    kind: Literal["ewma"] = "ewma"

    def build(self, h: int, level: Sequence[float] = BANDS) -> EWMA:
        """Make the forecaster."""
        return EWMA(h, level)


class EWMA(PerSeriesForecaster[SeriesFit]):
    r"""Simple exponential smoothing, its weight estimated for each series.

    .. math:: \ell_t = \alpha y_t + (1 - \alpha) \ell_{t-1}, \quad \ell_1 = y_1, \quad \hat y_{t+k} = \ell_t

    α minimises the squared one-step errors of the training rows (Gardner 1985, Journal of Forecasting 4, 1-28).

    Parameters
    ----------
    h : int
        Bars ahead.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    @property
    def name(self) -> str:
        """``EWMA``."""
        return "EWMA"

    def _fit_one(self, history: History) -> SeriesFit:
        y = history.y
        self._require(history, self.h + 3)
        alpha = best_weight(y)
        origins = np.arange(len(y) - self.h)[:, None]
        errors = y[origins + np.arange(1, self.h + 1)] - smoothed(y, alpha)[origins]
        return SeriesFit(bands=ResidualQuantiles.from_errors(errors, parameters=1), coefficients=np.array([alpha]))

    def _point(self, fitted: SeriesFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        return np.full(len(future), smoothed(history.y, float(fitted.coefficients[0]))[-1])


def smoothed(y: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Exponentially weighted mean up to each row, started at the first value, shape (T,)."""
    return np.asarray(pd.Series(y).ewm(alpha=alpha, adjust=False).mean(), dtype=np.float64)


def best_weight(y: NDArray[np.float64]) -> float:
    """Find the α in (0, 1] of the least squared one-step errors, to 1e-8.

    The sum of squares may have several valleys, so that a grid is searched first.
    """
    from scipy.optimize import minimize_scalar

    # centred, so that a level far from zero does not cost the digits of the errors
    centred = y - y[0]

    def squares(alpha: float) -> float:
        return float(np.square(centred[1:] - smoothed(centred, alpha)[:-1]).sum())

    grid = np.concatenate([[_SLOWEST], np.linspace(0.02, 1.0, 50)])
    losses = [squares(float(alpha)) for alpha in grid]
    best = int(np.argmin(losses))
    bounds = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)]))
    found = minimize_scalar(squares, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    return float(found.x) if found.fun < losses[best] else float(grid[best])
