from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import norm

from fints.backtest.metrics import LEVELS, crps, losses, season_lag, seasonal_scale, summarise
from fints.forecast import QUANTILE_COLUMNS, QUANTILES


def brier_integral(y: float, quantiles: np.ndarray, probabilities: np.ndarray) -> float:
    """CRPS by its definition on the distribution function: the integral of (F(x) − 1{x ≥ y})²."""
    x = np.linspace(min(quantiles[0], y) - 1, max(quantiles[-1], y) + 1, 400_001)
    distribution = np.interp(x, quantiles, probabilities, left=0.0, right=1.0)
    return float(trapezoid((distribution - (x >= y)) ** 2, x))


@pytest.mark.parametrize("y", [-3.0, -0.7, 0.0, 0.31, 2.4])
def test_crps_is_the_integral_of_its_definition(y: float) -> None:
    probabilities = np.array([0.025, 0.1, 0.3, 0.5, 0.75, 0.8, 0.975])
    quantiles = np.array([-1.9, -1.1, -0.4, 0.05, 0.8, 0.81, 2.0])
    expected = brier_integral(y, quantiles, probabilities)
    assert crps(np.array([y]), quantiles[None], probabilities)[0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("y", [-1.0, 0.2, 1.5])
def test_crps_of_a_finely_stated_normal_is_its_closed_form(y: float) -> None:
    probabilities = np.linspace(0.0005, 0.9995, 1000)
    exact = y * (2 * norm.cdf(y) - 1) + 2 * norm.pdf(y) - 1 / np.sqrt(np.pi)
    assert crps(np.array([y]), norm.ppf(probabilities)[None], probabilities)[0] == pytest.approx(exact, abs=2e-3)


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_crps_of_a_certain_forecast_is_its_absolute_error(y: float, forecast: float) -> None:
    certain = np.full((1, len(QUANTILES)), forecast)
    assert crps(np.array([y]), certain)[0] == pytest.approx(abs(y - forecast), abs=1e-9)


@given(st.lists(st.floats(-50, 50), min_size=len(QUANTILES), max_size=len(QUANTILES)), st.floats(-80, 80))
def test_crps_is_never_negative(quantiles: list[float], y: float) -> None:
    assert crps(np.array([y]), np.sort(quantiles)[None])[0] >= -1e-9


def test_levels_are_the_bands_whose_ends_are_stated() -> None:
    assert LEVELS == (95, 90, 80, 60, 50, 40, 20)


def test_the_scale_is_the_mean_seasonal_difference() -> None:
    y = np.array([0.0, 1, 2, 3, 4, 10, np.nan, 2])
    assert seasonal_scale(y, 5) == pytest.approx((10 + 0) / 2)


@pytest.mark.parametrize("y", [np.ones(20), np.arange(3.0)])
def test_a_scale_that_cannot_be_is_not_a_number(y: np.ndarray) -> None:
    assert np.isnan(seasonal_scale(y, 5))


def test_the_season_is_a_week_of_daily_bars_and_a_session_of_hours() -> None:
    days = pd.DataFrame({"ds": pd.date_range("2018-01-01", periods=9), "interval": "1d"})
    hours = pd.DataFrame({"ds": pd.date_range("2018-01-01 10:00", "2018-01-01 16:00", freq="h"), "interval": "1h"})
    shorter = hours.head(4).assign(ds=lambda f: f["ds"] + pd.Timedelta(days=2))
    following = hours.assign(ds=lambda f: f["ds"] + pd.Timedelta(days=1))
    assert season_lag(days) == 5
    assert season_lag(pd.concat([hours, following, shorter])) == 7


def scored() -> pd.DataFrame:
    spread = np.linspace(-1, 1, len(QUANTILES))
    rows = [("A", 1, 0.0, 0.1), ("A", 2, 2.0, 1.0), ("B", 1, 5.0, 5.0), ("B", 2, 5.0, 3.0)]
    frame = pd.DataFrame(rows, columns=["unique_id", "step", "y", "mean"])
    frame[list(QUANTILE_COLUMNS)] = frame["mean"].to_numpy()[:, None] + spread
    frame["model"] = "M"
    return frame


def test_coverage_counts_values_inside_the_band_ends_included() -> None:
    table = losses(scored())
    # bands reach ±1 at 95 %: errors are 0.1, 1 (on the edge), 0 and 2
    assert table["cov95"].tolist() == [1, 1, 1, 0]
    assert table["cov20"].tolist() == [1, 0, 1, 0]


def test_every_series_counts_the_same() -> None:
    frame = scored()
    frame = pd.concat([frame, frame[frame["unique_id"] == "B"].assign(step=3)], ignore_index=True)
    table = summarise(frame.join(losses(frame)), pd.Series({"A": 0.5, "B": 2.0}), ["model"]).iloc[0]
    rmse_a, rmse_b = np.sqrt((0.01 + 1) / 2), np.sqrt(4 / 2)
    assert table["RMSE"] == pytest.approx((rmse_a + rmse_b) / 2)
    assert table["MAE"] == pytest.approx((0.55 + 1) / 2)
    assert table["MASE"] == pytest.approx((0.55 / 0.5 + 1 / 2.0) / 2)
    assert table["cov95"] == pytest.approx((1 + 0.5) / 2)
    assert table["n"] == 6
