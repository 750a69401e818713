"""ARIMA with calendar terms, its order chosen on the training rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.disturbed import TRAIN_SIZE, DisturbedRegression
from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.baselines.disturbed import ErrorModel

Order = tuple[int, int, int]

_ROUGH_MA = -0.6
_NEAREST_ROOT = 1.001
_KPSS_5_PERCENT = 0.463
_FIRST_ORDERS = ((2, 2), (0, 0), (1, 0), (0, 1))


class ARIMAConfig(BaselineConfig):
    """Settings of `ARIMA`; see there.

    Attributes
    ----------
    calendar : bool
    max_order : int
    train_size : int
    """

    kind: Literal["arima"] = "arima"
    calendar: bool = True
    max_order: int = Field(default=3, ge=0, le=8)
    train_size: int = Field(default=TRAIN_SIZE, ge=100)

    def build(self, h: int, level: Sequence[float] = BANDS) -> ARIMA:
        """Make the forecaster."""
        return ARIMA(h, calendar=self.calendar, max_order=self.max_order, train_size=self.train_size, level=level)


class ARIMA(DisturbedRegression):
    """Regression on the calendar with ARIMA errors.

    One difference is taken where the KPSS test rejects a constant level at 5 %; p and q have the lowest AICc among the
    orders that a stepwise search visits (Hyndman & Khandakar 2008, Journal of Statistical Software 27(3), section 3.2),
    leaving out fits that did not converge and those with a root on the unit circle. Estimated once; a forecast runs the
    Kalman filter over the history. There is no drift and no seasonal part: weekdays, holidays and times of day are
    terms.

    Parameters
    ----------
    h : int
        Bars ahead.
    calendar : bool
        Add the panel's known-future covariates (``cal_…``) as terms.
    max_order : int
        Largest p and q.
    train_size : int
        Only so many last bars are learnt from, and filtered at forecast time.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    def __init__(
        self,
        h: int,
        *,
        calendar: bool = True,
        max_order: int = 3,
        train_size: int = TRAIN_SIZE,
        level: Sequence[float] = BANDS,
    ) -> None:
        super().__init__(h, level)
        if max_order < 0:
            raise ConfigError(f"ARIMA: max_order is the largest p and q, 0 or more; got {max_order}")
        self.calendar = calendar
        self.max_order = int(max_order)
        self.train_size = int(train_size)

    @property
    def name(self) -> str:
        """``ARIMA``, or ``ARIMA-calendar`` with calendar terms."""
        return "ARIMA-calendar" if self.calendar else "ARIMA"

    def _rough(self) -> ErrorModel:
        return ArimaErrors((0, 1, 1), np.empty(0), np.array([_ROUGH_MA]), 1.0)

    def _choose(self, u: NDArray[np.float64], like: ErrorModel | None = None) -> tuple[ErrorModel, str]:
        if isinstance(like, ArimaErrors):
            return (_estimate(u, like.order) or like), ""
        d = _differences(u)
        best = self._search(u, d)
        if best is not None:
            return best, ""
        reason = f"no ARMA up to order {self.max_order} converged on its {len(u)} values; the last value stands in"
        return ArimaErrors((0, 1, 0), np.empty(0), np.empty(0), float(np.diff(u).var()) or 1.0), reason

    def _search(self, u: NDArray[np.float64], d: int) -> ArimaErrors | None:
        """Walk from order to neighbouring order as long as AICc falls."""
        tried: dict[tuple[int, int], tuple[float, ArimaErrors | None]] = {}
        best: tuple[int, int] | None = None
        frontier = [(min(p, self.max_order), min(q, self.max_order)) for p, q in _FIRST_ORDERS]
        while frontier:
            for p, q in frontier:
                fitted = _estimate(u, (p, d, q))
                tried[p, q] = (np.inf if fitted is None else fitted.aicc(u), fitted)
            winner = min(tried, key=lambda order: tried[order][0])
            if winner == best or tried[winner][1] is None:
                break
            best = winner
            near = [(best[0] + dp, best[1] + dq) for dp in (-1, 0, 1) for dq in (-1, 0, 1)]
            frontier = [o for o in near if o not in tried and min(o) >= 0 and max(o) <= self.max_order]
        return None if best is None else tried[best][1]


@dataclass(frozen=True, slots=True, eq=False)
class ArimaErrors:
    """ARIMA without a constant.

    Parameters
    ----------
    order : (p, d, q)
    ar, ma : ndarray, shapes (p,) and (q,)
        ``(1 - ar₁L - …)(1 - L)^d u = (1 + ma₁L + …) e``.
    variance : float
        Of e.
    """

    order: Order
    ar: NDArray[np.float64]
    ma: NDArray[np.float64]
    variance: float

    @property
    def label(self) -> str:
        """``ARIMA(p,d,q)``."""
        return f"ARIMA{self.order}".replace(" ", "")

    @property
    def n_parameters(self) -> int:
        """Coefficients."""
        return len(self.ar) + len(self.ma)

    def innovations(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """One-step errors given zeros before the start, shape (T - d, k)."""
        from scipy.signal import lfilter

        out: NDArray[np.float64] = lfilter(
            np.append(1.0, -self.ar), np.append(1.0, self.ma), np.diff(u, n=self.order[1], axis=0), axis=0
        )
        return out

    def forecasts(self, u: NDArray[np.float64], origins: NDArray[np.int64], h: int) -> NDArray[np.float64]:
        """Forecasts by the Kalman filter, shape (len(origins), h)."""
        from statsmodels.tsa.statespace.sarimax import SARIMAX

        model = SARIMAX(u, order=self.order, enforce_stationarity=False, enforce_invertibility=False)
        model.update(np.concatenate([self.ar, self.ma, [self.variance]]))
        state = model.ssm.filter().predicted_state[:, origins + 1]
        out = np.empty((len(origins), h))
        for step in range(h):
            out[:, step] = model.ssm["design"][0] @ state
            state = model.ssm["transition"] @ state
        return out

    def aicc(self, u: NDArray[np.float64]) -> float:
        """Akaike's criterion, corrected for the number of rows; Gaussian, from the innovations."""
        n, k = len(u) - self.order[1], self.n_parameters + 1
        return float(n * np.log(self.variance) + 2 * k + 2 * k * (k + 1) / max(n - k - 1, 1))


def _differences(u: NDArray[np.float64]) -> int:
    """Differences to take, 0 or 1."""
    from statsmodels.tsa.stattools import kpss

    if np.ptp(u) == 0:
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the statistic lies outside the table of p-values; only it is read
        statistic = kpss(u, regression="c", nlags="auto")[0]
    return int(statistic > _KPSS_5_PERCENT)


def _estimate(u: NDArray[np.float64], order: Order) -> ArimaErrors | None:
    """Estimate by exact Gaussian likelihood; None if it fails."""
    from statsmodels.tsa.arima.estimators.innovations import innovations_mle

    p, d, q = order
    x = np.diff(u, n=d)
    if p == q == 0:
        return ArimaErrors(order, np.empty(0), np.empty(0), float(np.square(x).mean()) or 1.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, extra = innovations_mle(x, order=(p, 0, q), demean=False, minimize_kwargs={"method": "L-BFGS-B"})
    except (ValueError, np.linalg.LinAlgError, ZeroDivisionError, FloatingPointError):
        return None
    ar, ma, variance = np.asarray(found.ar_params), np.asarray(found.ma_params), float(found.sigma2)
    known = np.isfinite(np.concatenate([ar, ma, [variance]])).all() and variance > 0
    if not known or not extra.minimize_results.success or _on_the_unit_circle(ar, ma):
        return None
    return ArimaErrors(order, ar, ma, variance)


def _on_the_unit_circle(ar: NDArray[np.float64], ma: NDArray[np.float64]) -> bool:
    polynomials = (np.append(1.0, -ar)[::-1], np.append(1.0, ma)[::-1])
    roots = np.concatenate([np.abs(np.roots(polynomial)) for polynomial in polynomials])
    return bool(roots.min(initial=np.inf) < _NEAREST_ROOT)
