"""Regression on the calendar with errors that follow a time-series model: what ETS and ARIMA have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pandas as pd

from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.baselines.regression import least_squares
from fints.baselines.terms import CalendarTerms
from fints.conformal import ResidualQuantiles
from fints.errors import SeriesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.baselines.history import History

TRAIN_SIZE = 5000
"""Bars that are learnt from: twenty years of sessions, or three years of hourly bars."""

_RIDGE = 1e-6
_LEAST = 50


class ErrorModel(Protocol):
    """A linear time-series model with known parameters, started anew on whatever series it is given."""

    @property
    def label(self) -> str:
        """Its name, with its order: ``ARIMA(2,1,1)``."""

    @property
    def n_parameters(self) -> int:
        """Number of parameters that were estimated."""

    def innovations(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """One-step forecast errors, linear in `u` of shape (T, k); shorter than T where differences are taken."""

    def forecasts(self, u: NDArray[np.float64], origins: NDArray[np.int64], h: int) -> NDArray[np.float64]:
        """Forecasts of the `h` values after each origin, from ``u`` (shape (T,)) up to it; shape (len(origins), h)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DisturbedFit(SeriesFit):
    """A regression with time-series errors; `coefficients` are those of the terms.

    Parameters
    ----------
    terms : CalendarTerms
    centre, spread : float
        Mean and standard deviation of the training rows; everything else is in units of them.
    errors : ErrorModel
    """

    terms: CalendarTerms
    centre: float
    spread: float
    errors: ErrorModel

    def rest(self, history: History) -> NDArray[np.float64]:
        """Return what the calendar leaves of a history, in units of the training rows; shape (T,)."""
        effect = self.terms.matrix(history.covariates, history.ds) @ self.coefficients
        rest: NDArray[np.float64] = (history.y - self.centre) / self.spread - effect
        return rest


class DisturbedRegression(PerSeriesForecaster[DisturbedFit]):
    """Base of the models ``y = calendar terms + error``, the error being a linear time-series model.

    Estimated in steps, each a closed form or the library's likelihood: terms by least squares on the innovations of a
    rough error model (an exponentially weighted mean); the error model on what they leave; terms again, now on the
    innovations of that error model, which is generalised least squares given its parameters (Harvey 1989, Forecasting,
    Structural Time Series Models and the Kalman Filter, section 3.4.2); the error model once more. Nothing is estimated
    at forecast time: the error model is run over the history with the parameters as they are.

    On intraday bars each time of day has a term of its own, whether calendar terms are asked for or not.
    """

    calendar: bool
    train_size: int

    @property
    def reads_calendar(self) -> bool:
        """Whether calendar terms are in it."""
        return self.calendar

    def chosen(self) -> dict[str, str]:
        """Return the error model chosen for each fitted series, by ``unique_id``."""
        return {name: fit.errors.label for name, fit in self._fits.items()}

    @abstractmethod
    def _choose(self, u: NDArray[np.float64], like: ErrorModel | None = None) -> tuple[ErrorModel, str]:
        """Choose and estimate the error model, or estimate one like another.

        Returns
        -------
        errors : ErrorModel
        reason : str
            Why a simpler one stands in, empty if none does.
        """

    @abstractmethod
    def _rough(self) -> ErrorModel:
        """Make an error model that needs no estimation, for the first look at the terms."""

    def _fit_one(self, history: History) -> DisturbedFit:
        history = history.tail(self.train_size)
        terms = CalendarTerms.of(history, calendar=self.calendar)
        x = terms.matrix(history.covariates, history.ds)
        needed = self.h + max(_LEAST, 2 * x.shape[1])
        if len(history.y) < needed:
            raise SeriesError(
                f"{history.unique_id}: {len(history.y)} known values are too few for {self.name} with h = {self.h} and "
                f"{x.shape[1]} calendar terms; it needs {needed}. Lower h, give a longer history or leave the series "
                "out"
            )
        centre, spread = float(history.y.mean()), float(history.y.std())
        if spread <= 1e-12 * max(abs(centre), 1.0):
            spread = 1.0
        z = (history.y - centre) / spread
        errors, reason = self._choose(z - x @ _slopes(self._rough(), x, z))
        slopes = np.zeros(x.shape[1])
        if x.shape[1]:
            slopes = _slopes(errors, x, z)
            errors, reason = self._choose(z - x @ slopes, like=errors)
        fit = DisturbedFit(
            bands=ResidualQuantiles(np.empty((0, 0))),
            coefficients=slopes,
            fallback=reason,
            terms=terms,
            centre=centre,
            spread=spread,
            errors=errors,
        )
        return replace(fit, bands=self._bands(fit, history))

    def _bands(self, fit: DisturbedFit, history: History) -> ResidualQuantiles:
        """Measure the errors from every origin behind the start of the filter."""
        u = fit.rest(history)
        origins = np.arange(min(_LEAST, len(u) - self.h - 2) // 2, len(u) - self.h)
        errors = u[origins[:, None] + np.arange(1, self.h + 1)] - fit.errors.forecasts(u, origins, self.h)
        parameters = len(fit.coefficients) + fit.errors.n_parameters
        return ResidualQuantiles.from_errors(fit.spread * errors, parameters=parameters)

    def _point(self, fitted: DisturbedFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        if len(history.y) < _LEAST // 2:
            raise SeriesError(
                f"{history.unique_id}: {len(history.y)} known values are too few to start {self.name} on; give at "
                f"least {_LEAST // 2}"
            )
        steps = future["step"].to_numpy(np.int64)
        u = fitted.rest(history.tail(self.train_size))
        ahead = fitted.errors.forecasts(u, np.array([len(u) - 1]), int(steps.max()))[0, steps - 1]
        effect = fitted.terms.matrix(future, pd.DatetimeIndex(future["ds"])) @ fitted.coefficients
        point: NDArray[np.float64] = fitted.centre + fitted.spread * (ahead + effect)
        return point


def _slopes(errors: ErrorModel, x: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimate terms by generalised least squares under a known error model, shape (k,)."""
    if not x.shape[1]:
        return np.zeros(0)
    # the first innovations hold the error model's unknown start
    whitened = errors.innovations(np.column_stack([z, x]))[_LEAST // 2 :]
    coefficients, _ = least_squares(whitened[:, 1:], whitened[:, :1], _RIDGE)
    return coefficients[0, 1:]
