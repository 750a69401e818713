"""The last value, carried on along the average slope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.conformal import ResidualQuantiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fints.baselines.history import History


class DriftConfig(BaselineConfig):
    """Settings of `Drift`: none."""

    kind: Literal["drift"] = "drift"

    def build(self, h: int, level: Sequence[float] = BANDS) -> Drift:
        """Make the forecaster."""
        return Drift(h, level)


class Drift(PerSeriesForecaster[SeriesFit]):
    r"""Random walk with drift.

    .. math:: \hat y_{t+k} = y_t + k \, (y_T - y_1) / (T - 1)

    The slope is that of the training rows ``1 … T`` (Hyndman & Athanasopoulos, Forecasting: Principles and Practice,
    3rd ed., section 5.2); it is not estimated again when a longer history is forecast.

    Parameters
    ----------
    h : int
        Bars ahead.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    @property
    def name(self) -> str:
        """``Drift``."""
        return "Drift"

    def _fit_one(self, history: History) -> SeriesFit:
        y = history.y
        self._require(history, self.h + 2)
        slope = (y[-1] - y[0]) / (len(y) - 1)
        origins = np.arange(len(y) - self.h)[:, None]
        steps = np.arange(1, self.h + 1)
        errors = y[origins + steps] - (y[origins] + slope * steps)
        return SeriesFit(bands=ResidualQuantiles.from_errors(errors, parameters=1), coefficients=np.array([slope]))

    def _point(self, fitted: SeriesFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        point: NDArray[np.float64] = history.y[-1] + fitted.coefficients[0] * future["step"].to_numpy(np.float64)
        return point
