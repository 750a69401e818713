from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from arch import arch_model

from fints.baselines import GARCH
from fints.baselines.garch import VarianceLaw
from fints.errors import SchemaError, SeriesError, UnknownNameError
from fints.sessions import get_calendar

PARAMETERS = {
    "garch": [0.05, 0.08, 0.9, 8.0],
    "gjr": [0.05, 0.04, 0.1, 0.88, 8.0],
    "egarch": [0.01, 0.15, -0.05, 0.97, 8.0],
}


def simulated(n: int, seed: int = 0, alpha: float = 0.1, beta: float = 0.88) -> tuple[np.ndarray, np.ndarray]:
    """Returns of a GARCH(1,1) with unit variance, and their standard deviations."""
    rng = np.random.default_rng(seed)
    variance, returns, sigma = 1.0, np.empty(n), np.empty(n)
    for t in range(n):
        sigma[t] = np.sqrt(variance)
        returns[t] = sigma[t] * rng.normal()
        variance = (1 - alpha - beta) + alpha * returns[t] ** 2 + beta * variance
    return returns, sigma


@pytest.fixture(scope="module")
def volatile() -> pd.DataFrame:
    """Daily log ranges that are the planted volatility and a proxy's noise, with the returns beside them."""
    sessions = get_calendar("XNYS").sessions("2011-01-03", "2018-11-20")
    returns, sigma = simulated(len(sessions))
    noise = np.random.default_rng(1).normal(size=len(sessions))
    panel = pd.DataFrame({"unique_id": "V", "ds": sessions, "y": np.log(0.01 * sigma) - 0.3 + 0.2 * noise})
    panel["exchange"], panel["interval"], panel["past_log_return"] = "XNYS", "1d", 0.01 * returns
    return panel


@pytest.mark.parametrize("variance", ["garch", "gjr"])
def test_variances_ahead_are_the_analytic_ones_of_arch(variance: str) -> None:
    returns, _ = simulated(400)
    parameters = np.array(PARAMETERS[variance])
    model = arch_model(returns, mean="Zero", vol="GARCH", p=1, o=int(variance == "gjr"), q=1, dist="t", rescale=False)
    expected = model.fix(parameters).forecast(horizon=10, start=0, reindex=False).variance.to_numpy()
    origins = np.array([60, 200, 399])
    found = VarianceLaw(variance, parameters).log_volatility(returns, origins, 10)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, 0.5 * np.log(expected[origins]), atol=1e-10)


def test_log_variances_of_egarch_are_the_mean_of_simulated_ones() -> None:
    returns, _ = simulated(300)
    parameters = np.array(PARAMETERS["egarch"])
    found = VarianceLaw("egarch", parameters).log_volatility(returns, np.array([299]), 6)[0]
    model = arch_model(returns, mean="Zero", vol="EGARCH", p=1, o=1, q=1, rescale=False)
    paths = model.fix(parameters[:-1]).forecast(
        horizon=6, start=299, method="simulation", simulations=20_000, reindex=False,
        rng=lambda size: np.random.default_rng(5).normal(size=size),
    ).simulations.variances[0]  # fmt: skip
    np.testing.assert_allclose(found, 0.5 * np.log(paths).mean(axis=0), atol=0.01)


@pytest.mark.parametrize("variance", ["garch", "gjr", "egarch"])
def test_state_update_is_a_filter_over_the_longer_history(volatile: pd.DataFrame, variance: str) -> None:
    model = GARCH(3, variance).fit(volatile.head(1500))  # type: ignore[arg-type]
    fit = model._fits["V"]
    scaled = volatile["past_log_return"].to_numpy() / fit.scales.iloc[0]
    kind, leverage = ("EGARCH", 1) if variance == "egarch" else ("GARCH", int(variance == "gjr"))
    refit = arch_model(scaled, mean="Zero", vol=kind, p=1, o=leverage, q=1, dist="t", rescale=False)
    one_step = refit.fix(fit.law.parameters).forecast(horizon=1, reindex=False).variance.iloc[-1, 0]
    expected = 0.5 * np.log(one_step) + fit.coefficients[0] + fit.by_time.iloc[0]
    assert model.forecast(volatile).mean[0] == pytest.approx(expected, abs=1e-10)


def test_the_planted_volatility_is_forecast_without_bias(volatile: pd.DataFrame) -> None:
    model = GARCH(5).fit(volatile.head(1500))
    assert dict(model.fallbacks) == {}
    _, sigma = simulated(len(volatile))
    errors = [model.forecast(volatile.head(n)).mean[0] - (np.log(0.01 * sigma[n]) - 0.3) for n in range(1500, 1900, 40)]
    assert np.mean(errors) == pytest.approx(0, abs=0.05)
    assert np.std(errors) < 0.1


def test_the_bias_of_the_log_is_what_the_training_rows_leave(volatile: pd.DataFrame) -> None:
    shifted = volatile.assign(y=volatile["y"] + 2.5)
    still, moved = (GARCH(5).fit(panel).forecast() for panel in (volatile, shifted))
    np.testing.assert_allclose(moved.mean, still.mean + 2.5, atol=1e-9)
    np.testing.assert_allclose(moved.quantiles, still.quantiles + 2.5, atol=1e-9)


def test_the_unit_of_the_returns_does_not_matter(volatile: pd.DataFrame) -> None:
    percent = volatile.assign(past_log_return=64 * volatile["past_log_return"])
    np.testing.assert_allclose(GARCH(3).fit(percent).forecast().mean, GARCH(3).fit(volatile).forecast().mean, atol=1e-6)


def test_a_missing_return_leaves_the_variance_as_it_was(volatile: pd.DataFrame) -> None:
    model = GARCH(3).fit(volatile)
    gone = volatile.copy()
    gone.loc[gone.index[-1], "past_log_return"] = np.nan
    np.testing.assert_array_equal(model.forecast(gone).mean, model.forecast(volatile.head(len(gone) - 1)).mean)


def test_intraday_returns_are_measured_against_their_time_of_day(hourly: pd.DataFrame) -> None:
    rng = np.random.default_rng(2)
    loud = np.where(hourly["ds"].dt.hour == 9, 4.0, 1.0)
    returns = 0.01 * loud * rng.normal(size=len(hourly))
    y = np.log(0.01 * loud) + 0.1 * rng.normal(size=len(hourly))
    panel = hourly.assign(y=y, past_log_return=returns)
    forecast = GARCH(14).fit(panel).forecast()
    opens = (forecast.frame["ds"].dt.hour == 9).to_numpy()
    assert forecast.mean[opens].mean() - forecast.mean[~opens].mean() == pytest.approx(np.log(4), abs=0.2)


def test_where_the_likelihood_fails_a_weighted_variance_stands_in_and_says_so(
    volatile: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("no start")

    monkeypatch.setattr("arch.univariate.base.ARCHModel.fit", broken)
    model = GARCH(3, "egarch").fit(volatile)
    assert (
        model.fallbacks["V"]
        == "no EGARCH for its 1986 returns (no start); an exponentially weighted variance stands in"
    )
    assert model._fits["V"].law.variance == "garch"
    # the variance of RiskMetrics is flat ahead
    assert np.ptp(model.forecast().mean - model._fits["V"].coefficients) < 1e-12


def test_a_panel_without_returns_is_refused(daily: pd.DataFrame, volatile: pd.DataFrame) -> None:
    with pytest.raises(SchemaError, match="A: GARCH needs the returns of the series in the column past_log_return"):
        GARCH(3).fit(daily)
    with pytest.raises(SchemaError, match="past_log_return"):
        GARCH(3).fit(volatile).forecast(volatile.drop(columns="past_log_return"))


def test_a_target_that_is_no_log_volatility_is_refused(volatile: pd.DataFrame) -> None:
    with pytest.raises(SeriesError, match=r"V: y lies \+2\d\.\d from the log volatility of its returns"):
        GARCH(3).fit(volatile.assign(y=20 + 0.1 * volatile["y"]))
    annual_percent = volatile.assign(y=volatile["y"] + np.log(100 * np.sqrt(252)))
    GARCH(3).fit(annual_percent)


def test_refuses_what_cannot_be(volatile: pd.DataFrame) -> None:
    with pytest.raises(UnknownNameError, match="unknown law of the variance 'arch'"):
        GARCH(3, "arch")  # type: ignore[arg-type]
    with pytest.raises(SeriesError, match="V: 200 known returns are too few for GARCH with h = 3; it needs 253"):
        GARCH(3).fit(volatile.head(200))
    with pytest.raises(SeriesError, match="V: its returns are all the same"):
        GARCH(3).fit(volatile.assign(past_log_return=0.0))
    with pytest.raises(SeriesError, match="V: 20 known returns are too few to start"):
        GARCH(3).fit(volatile).forecast(volatile.head(20))
