"""Conditional variance of returns as a forecast of volatility: GARCH and EGARCH."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from fints.baselines.config import BANDS, BaselineConfig
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.baselines.seasons import season_keys
from fints.conformal import ResidualQuantiles
from fints.errors import SchemaError, SeriesError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.baselines.history import History

Variance = Literal["garch", "gjr", "egarch"]

RETURNS = "past_log_return"

_NAMES: dict[str, str] = {"garch": "GARCH", "gjr": "GJR-GARCH", "egarch": "EGARCH"}
_LEAST_RETURNS = 250
_WARM_UP = 50
_RISK_METRICS, _DEGREES = 0.94, 8.0
_TINY = 1e-12
_FURTHEST = 8.0  # annual volatility in percent is 7.4 above the daily one; the log of a volume is 20 above


class GARCHConfig(BaselineConfig):
    """Settings of `GARCH`; see there.

    Attributes
    ----------
    variance : {"garch", "gjr", "egarch"}
    returns : str
    """

    kind: Literal["garch"] = "garch"
    variance: Variance = "garch"
    returns: str = RETURNS

    def build(self, h: int, level: Sequence[float] = BANDS) -> GARCH:
        """Make the forecaster."""
        return GARCH(h, self.variance, returns=self.returns, level=level)


class GARCH(PerSeriesForecaster["VolatilityFit"]):
    r"""Log volatility from the conditional variance of returns.

    For targets that are the logarithm of a volatility, such as ``log_range``; one that cannot be is refused. The
    variance of the panel's past returns follows a GARCH(1,1) (Bollerslev 1986, J. Econometrics 31, 307-327), with a
    leverage term (Glosten, Jagannathan & Runkle 1993, J. Finance 48, 1779-1801) or in logarithms (Nelson 1991,
    Econometrica 59, 347-370), with Student's t innovations, estimated by the package arch. Then

    .. math:: \hat y_{t+k} = \tfrac12 \log \hat\sigma^2_{t+k|t} + c_{b(t+k)} + e_k

    where e_k is the mean of what is left in training at step k and c that of the bar's time of day (one value on daily
    bars). They hold the difference between the log of an expectation and the expectation of a log, and between close
    to close and whatever the target measures. EGARCH forecasts the logarithm itself.

    Parameters
    ----------
    h : int
        Bars ahead.
    variance : {"garch", "gjr", "egarch"}
        Law of the variance.
    returns : str
        Column of the panel that holds log returns; a companion, known up to its own bar.
    level : sequence of float
        Bands of `predict`, in percent.
    """

    def __init__(
        self, h: int, variance: Variance = "garch", *, returns: str = RETURNS, level: Sequence[float] = BANDS
    ) -> None:
        super().__init__(h, level)
        if variance not in _NAMES:
            raise UnknownNameError("law of the variance", variance, _NAMES)
        self.variance = variance
        self.returns = returns

    @property
    def name(self) -> str:
        """``GARCH``, ``GJR-GARCH`` or ``EGARCH``."""
        return _NAMES[self.variance]

    @property
    def reads_companions(self) -> bool:
        """It reads returns."""
        return True

    def _fit_one(self, history: History) -> VolatilityFit:
        returns, count = self._returns(history)
        if len(returns) < _LEAST_RETURNS + self.h:
            raise SeriesError(
                f"{history.unique_id}: {len(returns)} known returns are too few for {self.name} with h = {self.h}; it "
                f"needs {_LEAST_RETURNS + self.h}. Give a longer history or leave the series out"
            )
        scales = returns.groupby(level=0).std(ddof=0)
        if not (scales > _TINY).all():
            raise SeriesError(
                f"{history.unique_id}: its returns are all the same, at some time of day at least, so they have no "
                "variance to model; leave the series out"
            )
        parameters, reason = _estimate(self.variance, _scaled(returns, scales))
        law = VarianceLaw("garch" if reason else self.variance, parameters)
        origins = np.flatnonzero(count[: len(count) - self.h] >= _WARM_UP)
        ahead = origins[:, None] + np.arange(1, self.h + 1)
        volatility = law.log_volatility(_scaled(returns, scales), count[origins] - 1, self.h)
        rest = history.y[ahead] - volatility
        _require_volatility(history.unique_id, float(rest[:, 0].mean() - np.log(scales).mean()))
        times = _times(history.ds)
        by_time = pd.Series(rest[:, 0]).groupby(times[ahead[:, 0]]).mean()
        rest -= _of_time(by_time, times)[ahead]
        bias = rest.mean(axis=0)
        return VolatilityFit(
            bands=ResidualQuantiles.from_errors(rest - bias, parameters=len(parameters) + 1),
            coefficients=bias,
            fallback=reason,
            law=law,
            scales=scales,
            by_time=by_time,
        )

    def _point(self, fitted: VolatilityFit, history: History, future: pd.DataFrame) -> NDArray[np.float64]:
        returns, _ = self._returns(history)
        if len(returns) < _WARM_UP:
            raise SeriesError(
                f"{history.unique_id}: {len(returns)} known returns are too few to start {self.name} on; give at least "
                f"{_WARM_UP}"
            )
        steps = future["step"].to_numpy(np.int64)
        last = np.array([len(returns) - 1])
        scaled = _scaled(returns, fitted.scales)
        volatility = fitted.law.log_volatility(scaled, last, int(steps.max()))[0, steps - 1]
        bias = fitted.coefficients[np.minimum(steps, self.h) - 1]
        times = _times(pd.DatetimeIndex(future["ds"]))
        point: NDArray[np.float64] = volatility + bias + _of_time(fitted.by_time, times)
        return point

    def _returns(self, history: History) -> tuple[pd.Series, NDArray[np.int64]]:
        """Return the known returns by time of day, and how many of them each row has up to it.

        Raises
        ------
        SchemaError
            If the panel carries no returns.
        """
        if self.returns not in history.companions.columns:
            raise SchemaError(
                f"{history.unique_id}: {self.name} needs the returns of the series in the column {self.returns}, which "
                "the panel lacks; make it with companions=True, or companions=['log_return']"
            )
        values = history.companions[self.returns].to_numpy(np.float64)
        known = np.isfinite(values)
        return pd.Series(values[known], index=_times(history.ds)[known]), np.cumsum(known)


@dataclass(frozen=True, slots=True, eq=False)
class VarianceLaw:
    """A law of the conditional variance with known parameters.

    Parameters
    ----------
    variance : {"garch", "gjr", "egarch"}
    parameters : ndarray
        As in arch: constant, shock, leverage (not for ``garch``), persistence, degrees of freedom.
    """

    variance: Variance
    parameters: NDArray[np.float64]

    def log_volatility(self, returns: NDArray[np.float64], origins: NDArray[np.int64], h: int) -> NDArray[np.float64]:
        """Half the log variance of the `h` returns after each origin, shape (len(origins), h).

        The next variance is known; those after it follow the expected recursion, of the variance or, for EGARCH, of its
        logarithm.
        """
        fixed = _arch(self.variance, returns).fix(self.parameters)
        variance = fixed.forecast(horizon=1, start=0, reindex=False).variance.to_numpy(np.float64)[origins, 0]
        constant, *slopes, _ = self.parameters
        logs = self.variance == "egarch"
        state = np.log(variance) if logs else variance
        # half of the shocks are negative, and those alone feel the leverage
        decay = slopes[-1] if logs else slopes[0] + slopes[-1] + (slopes[1] / 2 if self.variance == "gjr" else 0.0)
        path = np.empty((len(origins), h))
        for step in range(h):
            path[:, step] = state
            state = constant + decay * state
        return 0.5 * (path if logs else np.log(path))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VolatilityFit(SeriesFit):
    """A law of the variance and the way from it to the target; `coefficients` are the biases of the steps.

    Parameters
    ----------
    law : VarianceLaw
    scales, by_time : pandas.Series
        By time of day in nanoseconds: standard deviation of the returns, and mean of the target over the log
        volatility.
    """

    law: VarianceLaw
    scales: pd.Series
    by_time: pd.Series


def _arch(variance: Variance, returns: NDArray[np.float64]) -> Any:  # noqa: ANN401 — arch is untyped here
    from arch import arch_model

    volatility = "EGARCH" if variance == "egarch" else "GARCH"
    leverage = 0 if variance == "garch" else 1
    return arch_model(returns, mean="Zero", vol=volatility, p=1, o=leverage, q=1, dist="t", rescale=False)


def _estimate(variance: Variance, returns: NDArray[np.float64]) -> tuple[NDArray[np.float64], str]:
    """Estimate by maximum likelihood; the parameters, and why those of RiskMetrics stand in, if they do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _arch(variance, returns).fit(disp="off", show_warning=False)
        parameters = np.asarray(found.params, dtype=np.float64)
        # a log variance with a persistence of one or more explodes
        sound = np.isfinite(parameters).all() and not (variance == "egarch" and abs(parameters[3]) >= 1)
        if found.convergence_flag == 0 and sound:
            return parameters, ""
        cause = "its likelihood found no maximum" if sound else f"its parameters are {parameters.round(3).tolist()}"
    except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        cause = str(error)
    reason = (
        f"no {_NAMES[variance]} for its {len(returns)} returns ({cause}); an exponentially weighted variance stands in"
    )
    return np.array([0.0, 1 - _RISK_METRICS, _RISK_METRICS, _DEGREES]), reason


def _require_volatility(unique_id: str, apart: float) -> None:
    """Refuse a target that stands where no log volatility of the same bars can stand, in whatever unit."""
    if abs(apart) > _FURTHEST:
        raise SeriesError(
            f"{unique_id}: y lies {apart:+.1f} from the log volatility of its returns, so it is not the log of a "
            "volatility; take GARCH for log_range and its like only"
        )


def _times(ds: pd.DatetimeIndex) -> NDArray[np.int64]:
    return season_keys("bar", ds, np.empty(0, np.int64))


def _scaled(returns: pd.Series, scales: pd.Series) -> NDArray[np.float64]:
    """Put returns in units of the standard deviation of their time of day."""
    values: NDArray[np.float64] = returns.to_numpy(np.float64) / _of_time(scales, returns.index.to_numpy(np.int64))
    return values


def _of_time(by_time: pd.Series, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Look times of day up; one that was never seen gets the median."""
    return by_time.reindex(times).fillna(by_time.median()).to_numpy(np.float64)
