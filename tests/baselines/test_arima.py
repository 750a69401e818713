from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.signal import lfilter
from statsmodels.tsa.statespace.sarimax import SARIMAX

from fints.baselines import ARIMA
from fints.baselines import arima as module
from fints.baselines.arima import ArimaErrors
from fints.errors import ConfigError, SeriesError

if TYPE_CHECKING:
    import pandas as pd


def one(panel: pd.DataFrame, name: str = "A") -> pd.DataFrame:
    return panel[panel["unique_id"] == name].reset_index(drop=True)


def arma(ar: list[float], ma: list[float], n: int, seed: int = 0) -> np.ndarray:
    e = np.random.default_rng(seed).normal(size=n + 200)
    return lfilter([1.0, *ma], [1.0, *(-np.array(ar))], e)[200:]


@pytest.mark.parametrize("order", [(1, 0, 1), (2, 1, 1), (0, 1, 2)])
def test_forecasts_from_any_origin_are_those_of_a_filter_over_the_history_up_to_it(order: tuple[int, int, int]) -> None:
    p, _, q = order
    ar, ma = np.array([0.6, 0.2][:p]), np.array([-0.4, 0.1][:q])
    errors = ArimaErrors(order, ar, ma, 0.7)
    u = arma([0.5], [0.3], 120)
    origins = np.array([30, 77, 119])
    together = errors.forecasts(u, origins, 8)
    for row, origin in zip(together, origins, strict=True):
        alone = SARIMAX(u[: origin + 1], order=order, enforce_stationarity=False, enforce_invertibility=False)
        expected = alone.smooth(np.concatenate([ar, ma, [0.7]])).forecast(8)
        np.testing.assert_allclose(row, expected, atol=1e-8)


def test_innovations_undo_the_model_that_made_a_series() -> None:
    e = np.random.default_rng(2).normal(size=300)
    u = np.cumsum(lfilter([1.0, -0.5], [1.0, -0.7], e))
    found = ArimaErrors((1, 1, 1), np.array([0.7]), np.array([-0.5]), 1.0).innovations(u[:, None])
    # the start is forgotten
    np.testing.assert_allclose(found[60:, 0], e[61:], atol=1e-6)


def test_the_order_is_found_on_a_series_that_has_one(daily: pd.DataFrame) -> None:
    panel = one(daily)
    y = arma([0.8], [], len(panel), seed=11)
    model = ARIMA(3, calendar=False).fit(panel.assign(y=y))
    errors = model._fits["A"].errors
    assert errors.order[1] == 0
    # whatever order was chosen, its forecasts decay as the planted one's
    mean = y.mean()
    ratio = (model.forecast().mean - mean) / (y[-1] - mean)
    np.testing.assert_allclose(ratio, 0.8 ** np.arange(1, 4), atol=0.15)


def test_a_random_walk_is_differenced(daily: pd.DataFrame) -> None:
    panel = one(daily).assign(y=lambda d: np.random.default_rng(6).normal(size=len(d)).cumsum())
    model = ARIMA(3, calendar=False, max_order=1).fit(panel)
    assert model._fits["A"].errors.order[1] == 1
    assert model.forecast().mean == pytest.approx(panel["y"].iloc[-1], abs=0.5)


def test_terms_are_found_beside_the_errors(daily: pd.DataFrame) -> None:
    model = ARIMA(10, max_order=2).fit(daily)
    effects = {}
    for name in ("A", "B"):
        fit = model._fits[name]
        effects[name] = fit.coefficients[fit.terms.columns.index("cal_monday")] * fit.spread
    # generalised least squares: the weekday is a jump that persistent errors cannot hide
    assert effects["A"] == pytest.approx(-0.5, abs=0.2)
    assert effects["B"] == pytest.approx(0.0, abs=0.2)


def test_terms_are_generalised_least_squares_given_the_errors(daily: pd.DataFrame) -> None:
    panel = one(daily)
    model = ARIMA(3, max_order=1).fit(panel)
    fit = model._fits["A"]
    z = (panel["y"].to_numpy() - fit.centre) / fit.spread
    x = panel[["cal_monday", "cal_friday"]].to_numpy()
    order = fit.errors.order
    joint = SARIMAX(z, exog=x, order=order, trend="n" if order[1] else "c")
    fixed = {f"ar.L{i + 1}": v for i, v in enumerate(fit.errors.ar)} | {
        f"ma.L{i + 1}": v for i, v in enumerate(fit.errors.ma)
    }
    with joint.fix_params(fixed | {"sigma2": fit.errors.variance}):
        expected = joint.fit(disp=False).params[joint.param_names.index("x1") :][:2]
    np.testing.assert_allclose(fit.coefficients, expected, atol=0.02)


def test_where_nothing_converges_the_last_value_stands_in_and_says_so(
    daily: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_estimate", lambda u, order: None)
    panel = one(daily)
    model = ARIMA(3, calendar=False).fit(panel)
    assert model.fallbacks["A"].startswith("no ARMA up to order 3 converged")
    assert "A: no ARMA" in caplog.text
    assert model.chosen() == {"A": "ARIMA(0,1,0)"}
    np.testing.assert_allclose(model.forecast().mean, panel["y"].iloc[-1], atol=1e-6)


@pytest.mark.parametrize("error", [np.linalg.LinAlgError("singular"), ValueError("no start")])
def test_an_estimation_that_raises_counts_as_one_that_did_not_converge(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("statsmodels.tsa.arima.estimators.innovations.innovations_mle", broken)
    assert module._estimate(arma([0.5], [], 100), (1, 0, 0)) is None


def test_only_the_last_bars_are_learnt_from(daily: pd.DataFrame) -> None:
    panel = one(daily)
    changed = panel.assign(y=np.where(np.arange(len(panel)) < 300, 50.0, panel["y"]))
    means = [ARIMA(3, max_order=1, train_size=400).fit(p).forecast().mean for p in (panel, changed)]
    np.testing.assert_array_equal(*means)


def test_refuses_what_cannot_be(daily: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match="max_order"):
        ARIMA(3, max_order=-1)
    with pytest.raises(SeriesError, match="A: 30 known values are too few for ARIMA-calendar"):
        ARIMA(3).fit(one(daily).head(30))
    model = ARIMA(3, max_order=0).fit(one(daily))
    with pytest.raises(SeriesError, match="A: 10 known values are too few to start"):
        model.forecast(one(daily).head(10))
