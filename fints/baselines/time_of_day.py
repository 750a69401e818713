"""The mean of the time of day, and a level that is forgotten: what execution desks use for intraday volume."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.design import PROFILE_SESSIONS, Profile
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.conformal import ResidualQuantiles
from fints.errors import ConfigError, SeriesError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.baselines.history import History

_HALF_LIVES = (0.02, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Half-lives in sessions that the search for the decays looks at first; it stays within them."""


class TimeOfDayConfig(BaselineConfig):
    """Settings of `TimeOfDay`.

    Attributes
    ----------
    sessions : int
        How many sessions the mean of a time of day covers.
    """

    kind: Literal["time_of_day"] = "time_of_day"
    sessions: int = Field(default=PROFILE_SESSIONS, ge=1)

    def build(self, h: int, level: Sequence[float] = BANDS) -> TimeOfDay:
        """Make the forecaster."""
        return TimeOfDay(h, sessions=self.sessions, level=level)


class TimeOfDay(PerSeriesForecaster[SeriesFit]):
    r"""Mean of the same time of day over the last sessions, plus a recent level that decays with the horizon.

    .. math:: \hat y_{t+k} = m_t(b_{t+k}) + a_1 \rho_1^k d_t + a_2 \rho_2^k D_t

    :math:`m_t(b)` is the mean of the last 20 bars at the time of day b, :math:`d_t = y_t - m_t(b_t)` the deviation of
    the last bar and :math:`D_t` the mean deviation over the last session's worth of bars. Weights and decays minimise
    the squared errors of all h steps on the training rows, :math:`0 \le \rho \le 1`, so that steps beyond h are
    forecast by the same law. A bar belongs to its time of day, not to its number in the session: after an early close
    the next open is an open. On daily bars it is the mean of 20 sessions and a decaying level. Compare Bialkowski,
    Darolles & Le Fol (2008), Journal of Banking & Finance 32, 1709-1722: a common seasonal part and a mean-reverting
    deviation.

    Parameters
    ----------
    h : int
        Bars ahead.
    sessions : int
        How many sessions the mean of a time of day covers.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    def __init__(self, h: int, *, sessions: int = PROFILE_SESSIONS, level: Sequence[float] = BANDS) -> None:
        super().__init__(h, level)
        if sessions < 1:
            raise ConfigError(f"TimeOfDay: a mean needs at least one session; got {sessions}")
        self.sessions = int(sessions)

    @property
    def name(self) -> str:
        """``TimeOfDay``."""
        return "TimeOfDay"

    def _fit_one(self, history: History) -> SeriesFit:
        session = history.bars_per_session()
        first, last = self.sessions * session, len(history.y) - self.h
        if last - first < 2 * session + 8:
            raise SeriesError(
                f"{history.unique_id}: {len(history.y)} known values are too few for {self.name} with h = {self.h}; it "
                f"needs {first + self.h + 2 * session + 8}. Lower h or sessions, or leave the series out"
            )
        origins = np.arange(first, last)
        ahead = origins[:, None] + np.arange(1, self.h + 1)
        profile = Profile.of(history.y, history.ds, self.sessions)
        base = np.column_stack([profile.at(origins, ahead[:, k]) for k in range(self.h)])
        deviations = self._deviations(history, profile)[origins]
        rest = history.y[ahead] - base
        law = _decays(deviations, rest, session)
        errors = rest - deviations @ _weights(law, np.arange(1, self.h + 1)).T
        return SeriesFit(bands=ResidualQuantiles.from_errors(errors, parameters=law.size), coefficients=law)

    def _point(self, fitted: SeriesFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        ds = pd.DatetimeIndex(history.ds.append(pd.DatetimeIndex(future["ds"])))
        profile = Profile.of(history.y, ds, self.sessions)
        now = len(history.y) - 1
        base = profile.at(np.full(len(future), now), now + 1 + np.arange(len(future)))
        weights = _weights(fitted.coefficients, future["step"].to_numpy(np.int64))
        point: NDArray[np.float64] = base + weights @ self._deviations(history, profile)[now]
        return point

    def _deviations(self, history: History, profile: Profile) -> NDArray[np.float64]:
        """Deviations of the last bar and of the last session from the means as known then, shape (T, 2)."""
        last = pd.Series(history.y - profile.means)
        return np.column_stack([last, last.rolling(history.bars_per_session(), min_periods=1).mean()])


def _weights(law: NDArray[np.float64], steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights of the deviations at some steps, shape (n, 2); `law` holds the rows ``a`` and ``rho``."""
    weights: NDArray[np.float64] = law[0] * law[1] ** steps[:, None]
    return weights


def _decays(deviations: NDArray[np.float64], rest: NDArray[np.float64], session: int) -> NDArray[np.float64]:
    """Estimate weights and decays by least squares over all origins and steps.

    Given the decays the weights are a linear regression, so that only the half-lives are searched: a grid first,
    because the squares may have several valleys.

    Parameters
    ----------
    deviations : ndarray, shape (n, 2)
    rest : ndarray, shape (n, h)
        What the mean of the time of day leaves unexplained.
    session : int
        Bars of a session, the unit of the grid.

    Returns
    -------
    ndarray, shape (2, 2)
        The rows ``a`` and ``rho``.
    """
    from scipy.optimize import minimize

    gram, cross = deviations.T @ deviations, deviations.T @ rest
    steps = np.arange(1, rest.shape[1] + 1)

    def law(log_half_lives: NDArray[np.float64]) -> NDArray[np.float64]:
        rho = np.exp2(-np.exp(-log_half_lives) / session)
        powers = rho ** steps[:, None]
        normal = gram * (powers.T @ powers)
        a = np.linalg.lstsq(normal, (powers * cross.T).sum(axis=0), rcond=1e-10)[0]
        return np.array([a, rho])

    def loss(log_half_lives: NDArray[np.float64]) -> float:
        weights = _weights(law(log_half_lives), steps)
        return float(np.einsum("ki,ij,kj->", weights, gram, weights) - 2 * (weights * cross.T).sum())

    grid = np.log(_HALF_LIVES)
    start = min((np.array([fast, slow]) for fast in grid for slow in grid if fast <= slow), key=loss)
    found = minimize(loss, start, method="Nelder-Mead", bounds=[(grid[0], grid[-1])] * 2)
    return law(found.x)
