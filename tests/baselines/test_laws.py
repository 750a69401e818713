"""What holds for every baseline."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fints.backtest import cross_validation
from fints.baselines import BASELINES
from fints.errors import SeriesError
from fints.series import add_features, future_frame
from fints.sessions import bar_grid, get_calendar

if TYPE_CHECKING:
    from fints.forecast import Forecaster

FEATURES = ["monday", "friday", "before_closure", "early_close"]
OF_VOLATILITY = {"garch", "gjr_garch", "egarch"}
LEARN_THE_SHAPE = ["seasonal_naive_bar", "time_of_day", "har", "har_calendar", "ets", "arima", "gradient_boosting"]

every_baseline = pytest.mark.parametrize("name", sorted(BASELINES))


def build(name: str, h: int) -> Forecaster:
    """Make a baseline, with trees few enough for a test."""
    config = BASELINES[name]
    quick = {"gradient_boosting": {"iterations": 30, "max_rows": 3000}, "arima": {"max_order": 1}}
    return config.model_copy(update=quick.get(name, {})).build(h)


def persistent(name: str, exchange: str, first: str, last: str, seed: int) -> pd.DataFrame:
    """Level that forgets a tenth a day, with noise, and returns beside it."""
    sessions = get_calendar(exchange).sessions(first, last)
    rng = np.random.default_rng(seed)
    level = np.convolve(rng.normal(size=len(sessions) + 200), 0.9 ** np.arange(200), mode="valid")[: len(sessions)]
    frame = pd.DataFrame({"unique_id": name, "ds": sessions, "y": -4 + level + rng.normal(size=len(sessions))})
    frame["exchange"], frame["interval"] = exchange, "1d"
    frame["past_log_return"] = 0.01 * rng.standard_t(6, size=len(sessions))
    return frame


@pytest.fixture(scope="module")
def world() -> pd.DataFrame:
    """One series of New York and one of London."""
    series = [
        persistent("N", "XNYS", "2015-06-01", "2018-12-14", 1),
        persistent("L", "XLON", "2015-09-01", "2018-12-14", 2),
    ]
    return add_features(pd.concat(series, ignore_index=True), FEATURES)


@pytest.fixture(scope="module")
def hours() -> pd.DataFrame:
    """Hourly bars of New York with a U per session, up to the eve of Thanksgiving."""
    grid = bar_grid(get_calendar("XNYS"), "2016-10-03", "2018-11-20", "1h")
    rng = np.random.default_rng(3)
    shape = np.array([2.0, 1.0, 0.5, 0.2, 0.3, 0.8, 1.6])[grid["bar"]]
    frame = pd.DataFrame({"unique_id": "H", "ds": grid["ds"].to_numpy(), "y": shape + 0.2 * rng.normal(size=len(grid))})
    frame["exchange"], frame["interval"] = "XNYS", "1h"
    frame["past_log_return"] = 0.01 * rng.normal(size=len(grid))
    return add_features(frame, ["bar_sin", "bar_cos", "bar_first", "early_close"])


@pytest.fixture(scope="module")
def crowd() -> pd.DataFrame:
    """Four alike series of New York."""
    series = [persistent(f"S{i}", "XNYS", "2014-06-02", "2018-11-20", 10 + i) for i in range(4)]
    return add_features(pd.concat(series, ignore_index=True), ["friday"])


@every_baseline
def test_nothing_after_a_cutoff_changes_a_bit_of_its_forecast(name: str, world: pd.DataFrame) -> None:
    h, windows = 4, 2
    model = build(name, h)
    before = cross_validation(world, [model], h=h, n_windows=windows, step_size=h)
    assert dict(before.failures) == {}
    cutoff = before.folds.cutoffs[0]
    later = world["ds"] > cutoff
    rng = np.random.default_rng(0)
    changed = world.copy()
    for column in ("y", "past_log_return"):
        changed.loc[later, column] = 50 * rng.normal(size=int(later.sum()))
    after = cross_validation(changed, [model], h=h, n_windows=windows, step_size=h)
    columns = [c for c in before.frame.columns if c != "y"]
    rows = [result.frame.loc[result.frame["cutoff"] == cutoff, columns] for result in (before, after)]
    pd.testing.assert_frame_equal(*rows, check_exact=True)
    # and the next window did see the change
    assert not before.frame["mean"].equals(after.frame["mean"])


@every_baseline
def test_a_fitted_one_can_be_sent_to_another_process(name: str, world: pd.DataFrame) -> None:
    model = build(name, 3).fit(world)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).forecast().quantiles, model.forecast().quantiles)


@every_baseline
def test_forecasts_stand_on_real_sessions_and_their_quantiles_are_ordered(name: str, world: pd.DataFrame) -> None:
    history = world[world["ds"] <= "2018-11-20"].reset_index(drop=True)
    forecast = build(name, 8).fit(history).forecast()
    expected = future_frame(history, 8)
    pd.testing.assert_frame_equal(forecast.frame, expected[["unique_id", "ds", "step"]])
    days = forecast.frame.groupby("unique_id")["ds"].apply(lambda ds: set(ds.dt.strftime("%m-%d")))
    assert "11-22" in days["L"]
    assert "11-22" not in days["N"]
    assert np.isfinite(forecast.mean).all()
    assert (np.diff(forecast.quantiles, axis=1) >= 0).all()
    assert (forecast.quantiles[:, -1] > forecast.quantiles[:, 0]).all()


@every_baseline
def test_a_later_date_is_asked_of_the_same_history(name: str, world: pd.DataFrame) -> None:
    model = build(name, 6).fit(world)
    near, far = model.forecast(), model.forecast(at="2018-12-19")
    shared = near.frame.merge(far.frame, on=["unique_id", "ds", "step"])
    assert len(shared) > 0
    values = [
        f.frame.assign(mean=f.mean).merge(shared, on=["unique_id", "ds", "step"])["mean"].to_numpy()
        for f in (near, far)
    ]
    np.testing.assert_allclose(*values, rtol=1e-12)
    assert far.frame["step"].max() > 6
    assert np.isfinite(far.quantiles).all()


@every_baseline
def test_missing_sessions_and_missing_values_are_lived_with(name: str, world: pd.DataFrame) -> None:
    rng = np.random.default_rng(4)
    gappy = world[rng.random(len(world)) > 0.1].reset_index(drop=True)
    gappy.loc[rng.random(len(gappy)) < 0.05, "y"] = np.nan
    gappy.loc[rng.random(len(gappy)) < 0.05, "past_log_return"] = np.nan
    forecast = build(name, 5).fit(gappy).forecast()
    assert np.isfinite(forecast.quantiles).all()
    assert np.abs(forecast.mean + 4).max() < 10


@every_baseline
def test_a_constant_series_is_forecast_by_its_constant(name: str, world: pd.DataFrame) -> None:
    constant = world[world["unique_id"] == "N"].assign(y=-7.25).reset_index(drop=True)
    forecast = build(name, 5).fit(constant).forecast()
    # what is left for a volatility is the movement of the returns' variance, which the constant does not have
    tolerance = 0.2 if name in OF_VOLATILITY else 1e-6
    np.testing.assert_allclose(forecast.mean, -7.25, atol=tolerance)
    assert np.isfinite(forecast.quantiles).all()


@every_baseline
def test_a_series_that_is_too_short_is_named(name: str, world: pd.DataFrame) -> None:
    with pytest.raises(SeriesError, match=r"^L: 4 known (values|returns) are too few"):
        build(name, 5).fit(world.groupby("unique_id").head(4))


@every_baseline
def test_intraday_bars_go_on_through_a_half_day(name: str, hours: pd.DataFrame) -> None:
    forecast = build(name, 16).fit(hours).forecast()
    # a full Wednesday, no Thanksgiving, the half-day on Friday, then Monday
    counts = forecast.frame["ds"].dt.strftime("%m-%d").value_counts().sort_index()
    assert counts.to_dict() == {"11-21": 7, "11-23": 4, "11-26": 5}
    assert (np.diff(forecast.quantiles, axis=1) >= 0).all()
    if name in LEARN_THE_SHAPE:
        by_time = pd.Series(forecast.mean).groupby(forecast.frame["ds"].dt.time).mean()
        np.testing.assert_allclose(by_time.to_numpy(), [2.0, 1.0, 0.5, 0.2, 0.3, 0.8, 1.6], atol=0.45)
        opens = forecast.mean[(forecast.frame["ds"].dt.hour == 9).to_numpy()]
        np.testing.assert_allclose(opens, 2.0, atol=0.6)


@pytest.mark.parametrize("name", ["naive", "drift", "ewma", "time_of_day", "har", "ets", "arima", "gradient_boosting"])
def test_bands_hold_their_share_of_what_comes(name: str, crowd: pd.DataFrame) -> None:
    result = cross_validation(crowd, [build(name, 5)], h=5, n_windows=20, step_size=5)
    assert dict(result.failures) == {}
    board = result.leaderboard(levels=[50, 80, 95]).iloc[0]
    assert board["n"] == 20 * 5 * 4
    for level in (50, 80, 95):
        # the forecasts of a window hang together, so that the shares of 400 of them vary
        assert board[f"cov{level}"] == pytest.approx(level / 100, abs=0.09)
