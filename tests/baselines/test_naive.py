from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.baselines import Naive, SeasonalNaive
from fints.errors import ConfigError, DateError, NotFittedError, SeriesError, UnknownNameError
from fints.forecast import QUANTILES, Forecaster


def one(panel: pd.DataFrame, name: str = "A") -> pd.DataFrame:
    return panel[panel["unique_id"] == name].reset_index(drop=True)


def test_naive_repeats_the_last_value_at_every_step(daily: pd.DataFrame) -> None:
    forecast = Naive(5).fit(daily).forecast()
    for name in ("A", "B"):
        mine = forecast.mean[(forecast.frame["unique_id"] == name).to_numpy()]
        assert mine.tolist() == [one(daily, name)["y"].iloc[-1]] * 5


def test_naive_bands_are_the_quantiles_of_past_changes(daily: pd.DataFrame) -> None:
    panel = one(daily)
    y = panel["y"].to_numpy()
    forecast = Naive(3).fit(panel).forecast()
    for step in (1, 2, 3):
        # origins are those whose last step is known
        changes = np.array([y[t + step] - y[t] for t in range(len(y) - 3)])
        np.testing.assert_allclose(forecast.quantiles[step - 1], y[-1] + np.quantile(changes, QUANTILES))


def test_forecasts_stand_on_the_sessions_after_the_history(daily: pd.DataFrame) -> None:
    until = daily[daily["ds"] <= "2018-11-20"].reset_index(drop=True)
    forecast = Naive(12).fit(until).forecast()
    days = forecast.frame.loc[forecast.frame["unique_id"] == "A", "ds"].dt.strftime("%m-%d").tolist()
    assert days[:3] == ["11-21", "11-23", "11-26"]
    assert "12-05" in days


def test_a_closure_that_is_known_gets_no_forecast(daily: pd.DataFrame) -> None:
    until = daily[daily["ds"] <= "2018-12-03"].reset_index(drop=True)
    days = Naive(5).fit(until).forecast().frame["ds"].dt.strftime("%m-%d")
    assert "12-05" not in set(days)


def test_the_weekly_season_survives_a_holiday(daily: pd.DataFrame) -> None:
    until = one(daily[daily["ds"] <= "2018-11-23"])
    forecast = SeasonalNaive(8).fit(until).forecast()
    for stamp, mean in zip(forecast.frame["ds"], forecast.mean, strict=True):
        same = until[until["ds"].dt.day_of_week == stamp.day_of_week]
        assert mean == same["y"].iloc[-1]


def test_the_bar_season_survives_a_half_day(hourly: pd.DataFrame) -> None:
    until = hourly[hourly["ds"] < "2018-11-24"].reset_index(drop=True)
    forecast = SeasonalNaive(14, "bar").fit(until).forecast()
    for stamp, mean in zip(forecast.frame["ds"], forecast.mean, strict=True):
        same = until[until["ds"].dt.time == stamp.time()]
        assert mean == same["y"].iloc[-1]


@pytest.mark.parametrize("lag", [1, 3, 5])
def test_a_lag_repeats_the_last_cycle(daily: pd.DataFrame, lag: int) -> None:
    y = one(daily)["y"].to_numpy()
    forecast = SeasonalNaive(7, lag).fit(one(daily)).forecast()
    np.testing.assert_array_equal(forecast.mean, np.resize(y[-lag:], 7))


def test_seasonal_bands_shrink_where_the_season_repeats_exactly() -> None:
    days = pd.DatetimeIndex(pd.date_range("2018-01-02", "2018-01-12"))
    panel = pd.DataFrame({"unique_id": "C", "ds": days, "y": np.resize([1.0, 5.0], len(days)), "exchange": "24/7"})
    panel["interval"] = "1d"
    forecast = SeasonalNaive(4, 2).fit(panel).forecast()
    assert forecast.mean.tolist() == [5.0, 1.0, 5.0, 1.0]
    # the first rows have no season behind them and repeat the last value; all later errors are zero
    assert np.ptp(forecast.quantiles[:, 3:-3], axis=1).max() == 0


@pytest.mark.parametrize("shift", [-1e3, 3.25, 1e6])
@pytest.mark.parametrize(
    "model", [Naive(4), SeasonalNaive(4), SeasonalNaive(4, 3)], ids=lambda m: f"{m.name}-{m.season}"
)
def test_shifting_the_series_shifts_the_forecast(daily: pd.DataFrame, model: SeasonalNaive, shift: float) -> None:
    moved = model.fit(daily.assign(y=daily["y"] + shift)).forecast()
    still = model.fit(daily).forecast()
    np.testing.assert_allclose(moved.mean - shift, still.mean, atol=1e-9 * abs(shift))
    np.testing.assert_allclose(moved.quantiles - shift, still.quantiles, atol=1e-9 * abs(shift))


def test_a_new_history_is_forecast_without_learning_from_it(daily: pd.DataFrame) -> None:
    early = daily[daily["ds"] < "2018-01-01"].reset_index(drop=True)
    model = Naive(2).fit(early)
    before = model.forecast()
    after = model.forecast(daily)
    np.testing.assert_allclose(
        after.quantiles - after.mean[:, None], before.quantiles - before.mean[:, None], atol=1e-12
    )
    assert after.frame["ds"].min() > daily["ds"].max()


@pytest.mark.parametrize("model", [Naive(3), SeasonalNaive(3)], ids=lambda m: m.name)
def test_the_order_of_the_rows_does_not_matter(daily: pd.DataFrame, model: SeasonalNaive) -> None:
    shuffled = daily.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(model.fit(daily).predict(shuffled), model.fit(daily).predict(daily))
    pd.testing.assert_frame_equal(model.fit(shuffled).predict(), model.fit(daily).predict())


def test_a_lag_of_numpy_is_a_lag(daily: pd.DataFrame) -> None:
    lags = [SeasonalNaive(7, lag).fit(daily).forecast().mean for lag in (3, np.int64(3))]
    np.testing.assert_array_equal(*lags)


def test_unknown_values_are_passed_over(daily: pd.DataFrame) -> None:
    panel = one(daily).copy()
    panel.loc[panel.index[-1], "y"] = np.nan
    forecast = Naive(2).fit(panel).forecast()
    assert forecast.mean[0] == panel["y"].iloc[-2]
    assert forecast.frame["ds"].min() > panel["ds"].max()


def test_a_bare_frame_is_daily_new_york(daily: pd.DataFrame) -> None:
    bare = daily[["unique_id", "ds", "y"]]
    pd.testing.assert_frame_equal(Naive(3).fit(bare).predict(), Naive(3).fit(daily).predict())
    pd.testing.assert_frame_equal(Naive(3).fit(bare).predict(bare), Naive(3).fit(daily).predict())


def test_asking_at_a_later_date_counts_steps_from_the_history(daily: pd.DataFrame) -> None:
    until = one(daily[daily["ds"] <= "2018-11-20"])
    forecast = SeasonalNaive(3, 2).fit(until).forecast(at="2018-11-26")
    assert forecast.frame["step"].tolist() == [3, 4, 5]
    y = until["y"].to_numpy()
    assert forecast.mean.tolist() == [y[-2], y[-1], y[-2]]


def test_asking_inside_the_history_is_refused(daily: pd.DataFrame) -> None:
    with pytest.raises(DateError, match="the history goes on to"):
        Naive(3).fit(daily).forecast(at="2018-06-01")


def test_predict_has_the_columns_of_its_levels(daily: pd.DataFrame) -> None:
    wide = Naive(2, level=[50, 95]).fit(daily).predict()
    assert wide.columns.tolist() == [
        "unique_id",
        "ds",
        "Naive",
        "Naive-lo-50",
        "Naive-hi-50",
        "Naive-lo-95",
        "Naive-hi-95",
    ]


def test_baselines_are_forecasters() -> None:
    assert isinstance(Naive(2), Forecaster)
    assert (Naive(2).name, SeasonalNaive(2).name, Naive(2).h) == ("Naive", "SeasonalNaive", 2)


def test_an_unknown_season_names_the_choices() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown season 'month'.*bar, week"):
        SeasonalNaive(2, "month")  # type: ignore[arg-type]


@pytest.mark.parametrize("build", [lambda: Naive(0), lambda: SeasonalNaive(2, 0)], ids=["h", "season"])
def test_numbers_out_of_range_are_refused(build: object) -> None:
    with pytest.raises(ConfigError):
        build()  # type: ignore[operator]


def test_forecasting_before_fitting_is_refused() -> None:
    with pytest.raises(NotFittedError, match=r"fit\(panel\) first"):
        Naive(2).forecast()


def test_a_series_that_was_not_fitted_is_named(daily: pd.DataFrame) -> None:
    with pytest.raises(UnknownNameError, match="unknown fitted series 'B'"):
        Naive(2).fit(one(daily)).forecast(daily)


def test_a_series_that_is_too_short_is_named(daily: pd.DataFrame) -> None:
    with pytest.raises(SeriesError, match="A: 5 known values are too few"):
        Naive(4).fit(one(daily).head(5))
