from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from fints.baselines import GradientBoosting, GradientBoostingConfig
from fints.baselines.features import PastFeatures
from fints.baselines.history import History
from fints.errors import ConfigError, SeriesError

QUICK = GradientBoostingConfig(iterations=40, max_rows=4000)


def test_the_same_rows_and_settings_give_the_same_forecasts_bit_for_bit(daily: pd.DataFrame) -> None:
    first, second = (GradientBoosting(5, QUICK).fit(daily).forecast() for _ in range(2))
    np.testing.assert_array_equal(first.mean, second.mean)
    np.testing.assert_array_equal(first.quantiles, second.quantiles)
    other = GradientBoosting(5, QUICK.model_copy(update={"random_seed": 1})).fit(daily).forecast()
    assert not np.array_equal(first.mean, other.mean)


def test_a_weekday_of_one_of_two_series_is_found(daily: pd.DataFrame) -> None:
    shared = daily.assign(y=lambda d: d["y"] - 0.5 * d["cal_monday"] * (d["unique_id"] == "B"))
    # two hundred trees: with a third of the features at each split, forty may not have come to the weekday
    forecast = GradientBoosting(20, GradientBoostingConfig(max_rows=4000)).fit(shared).forecast()
    mondays = (forecast.frame["ds"].dt.day_of_week == 0).to_numpy()
    assert forecast.mean[mondays].mean() - forecast.mean[~mondays].mean() == pytest.approx(-0.5, abs=0.25)


def test_the_unit_of_one_series_changes_no_forecast_of_another(daily: pd.DataFrame) -> None:
    # a power of two, so that not even the rounding differs
    units = np.where(daily["unique_id"] == "B", 1024.0, 1.0)
    near, far = (
        GradientBoosting(5, QUICK).fit(panel).forecast() for panel in (daily, daily.assign(y=daily["y"] * units))
    )
    factor = np.where(near.frame["unique_id"] == "B", 1024.0, 1.0)
    np.testing.assert_allclose(far.mean, near.mean * factor, rtol=1e-12)
    np.testing.assert_allclose(far.quantiles, near.quantiles * factor[:, None], rtol=1e-12)


def test_forecasts_come_back_to_the_mean_as_the_series_does(daily: pd.DataFrame) -> None:
    until = daily[daily["ds"] < "2018-06-01"].reset_index(drop=True)
    model = GradientBoosting(10, QUICK).fit(until)
    last, ahead = [], []
    for cutoff in pd.date_range("2018-06-01", "2018-12-01", freq="14D"):
        history = daily[daily["ds"] < cutoff].reset_index(drop=True)
        forecast = model.forecast(history)
        last += list(history.groupby("unique_id")["y"].last())
        ahead += list(forecast.mean[(forecast.frame["step"] == 10).to_numpy()])
    # the series keep 0.9 of their level a day, so that a third of it is left after ten
    slope = np.polyfit(last, ahead, 1)[0]
    assert slope == pytest.approx(0.9**10, abs=0.25)


def test_a_series_too_young_for_held_out_errors_takes_the_bands_of_all(daily: pd.DataFrame) -> None:
    ended = daily[(daily["unique_id"] == "A") | (daily["ds"] < "2016-06-01")].reset_index(drop=True)
    model = GradientBoosting(5, QUICK).fit(ended)
    assert np.isfinite(model.forecast(ended[ended["unique_id"] == "B"].reset_index(drop=True)).quantiles).all()
    offsets = [model._fits[name].bands.offsets for name in ("A", "B")]
    assert offsets[0].shape == offsets[1].shape


def test_bands_lie_around_the_forecast_whatever_happened_in_the_held_out_stretch(daily: pd.DataFrame) -> None:
    jumped = daily.assign(y=daily["y"] + 4.0 * (daily["ds"] > "2018-06-01"))
    forecast = GradientBoosting(3, QUICK).fit(jumped).forecast()
    middle, width = forecast.at(0.5), forecast.at(0.9) - forecast.at(0.1)
    assert (np.abs(middle - forecast.mean) < 0.2 * width).all()


def test_a_young_series_does_without_the_lags_it_has_no_history_for(daily: pd.DataFrame) -> None:
    model = GradientBoosting(3, QUICK).fit(daily.head(120))
    assert np.isfinite(model.forecast().quantiles).all()
    assert np.isfinite(model.forecast(daily.head(400)).quantiles).all()


def test_refuses_what_cannot_be(daily: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match=r"A: GradientBoosting-calendar needs known-future covariates"):
        GradientBoosting(5).fit(daily[["unique_id", "ds", "y"]])
    with pytest.raises(
        SeriesError, match=r"A: 25 known values are too few for GradientBoosting with h = 5; it needs 26"
    ):
        GradientBoosting(5, GradientBoostingConfig(calendar=False)).fit(daily.head(25))
    with pytest.raises(SeriesError, match="no series is long enough"):
        GradientBoosting(5, GradientBoostingConfig(calendar=False)).fit(daily.head(28))
    with pytest.raises(SeriesError, match=r"no series is long enough .* forecast 30 bars there"):
        GradientBoosting(30, GradientBoostingConfig(calendar=False)).fit(daily.head(100))
    with pytest.raises(ValidationError, match="lags"):
        GradientBoostingConfig(lags=(0, 1))
    model = GradientBoosting(5, QUICK).fit(daily)
    with pytest.raises(SeriesError, match="A: 12 known values are too few to forecast from"):
        model.forecast(daily.head(12))


def test_no_feature_is_a_rounding_error_that_trees_could_split_on(daily: pd.DataFrame) -> None:
    """The mean of the week, less itself: zero, and not now above it and now below."""
    history = History.of(daily[daily["unique_id"] == "A"])
    past = PastFeatures.of(history, (1, 5), 252, ()).past[252:]
    assert (np.abs(past).max(axis=0)[[0, 1, 3, 4, 5]] > 0.1).all()
    np.testing.assert_array_equal(past[:, 2], 0.0)
