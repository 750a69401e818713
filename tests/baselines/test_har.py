from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fints.baselines import HAR
from fints.baselines.design import Profile
from fints.errors import ConfigError, SeriesError
from fints.forecast import QUANTILES, Forecaster

SPANS = (1, 5, 22)


def one(panel: pd.DataFrame, name: str = "A") -> pd.DataFrame:
    return panel[panel["unique_id"] == name].reset_index(drop=True)


def means(y: np.ndarray) -> np.ndarray:
    """The last bar, week and month up to each row."""
    return np.column_stack([pd.Series(y).rolling(span).mean() for span in SPANS])


@pytest.mark.parametrize("ridge", [0.0, 1e-6])
def test_each_step_is_the_ordinary_least_squares_of_statsmodels(daily: pd.DataFrame, ridge: float) -> None:
    h, y = 6, one(daily)["y"].to_numpy()
    forecast = HAR(h, ridge=ridge).fit(one(daily)).forecast()
    x = sm.add_constant(means(y))
    origins = np.arange(max(SPANS) - 1, len(y) - h)
    for step in range(1, h + 1):
        fit = sm.OLS(y[origins + step], x[origins]).fit()
        tolerance = 1e-9 if ridge == 0 else 1e-4
        assert forecast.mean[step - 1] == pytest.approx(fit.predict(x[-1:])[0], abs=tolerance)
        inflation = np.sqrt(len(origins) / (len(origins) - 4))
        expected = forecast.mean[step - 1] + inflation * np.quantile(fit.resid, QUANTILES)
        np.testing.assert_allclose(forecast.quantiles[step - 1], expected, atol=tolerance)


def test_calendar_terms_are_those_of_the_target_bar(daily: pd.DataFrame) -> None:
    h, panel = 7, one(daily)
    y, calendar = panel["y"].to_numpy(), panel[["cal_monday", "cal_friday"]].to_numpy()
    forecast = HAR(h, calendar=True, ridge=0.0).fit(panel).forecast()
    x = means(y)
    origins = np.arange(max(SPANS) - 1, len(y) - h)
    for step, stamp in enumerate(forecast.frame["ds"], start=1):
        fit = sm.OLS(y[origins + step], sm.add_constant(np.hstack([x[origins], calendar[origins + step]]))).fit()
        target = [1.0, *x[-1], float(stamp.day_of_week == 0), float(stamp.day_of_week == 4)]
        assert forecast.mean[step - 1] == pytest.approx(fit.predict([target])[0], abs=1e-9)


def test_calendar_terms_find_a_weekday_effect_that_plain_har_misses(daily: pd.DataFrame) -> None:
    history = one(daily[daily["ds"] < "2018-06-01"])
    effect = {}
    for model in (HAR(40), HAR(40, calendar=True)):
        forecast = model.fit(history).forecast()
        mondays = (forecast.frame["ds"].dt.day_of_week == 0).to_numpy()
        effect[model.name] = forecast.mean[mondays].mean() - forecast.mean[~mondays].mean()
    assert effect["HAR-calendar"] == pytest.approx(-0.5, abs=0.15)
    assert abs(effect["HAR"]) < 0.05


def test_collinear_calendar_terms_do_no_harm(daily: pd.DataFrame) -> None:
    doubled = daily.assign(cal_christmas_week=0.0)
    plain = HAR(5, calendar=True).fit(daily).forecast()
    np.testing.assert_allclose(HAR(5, calendar=True).fit(doubled).forecast().mean, plain.mean, atol=1e-9)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shift=st.floats(-1e4, 1e4), scale=st.floats(0.01, 100))
def test_forecasts_follow_a_change_of_unit(daily: pd.DataFrame, shift: float, scale: float) -> None:
    panel = one(daily).tail(400)
    still = HAR(4).fit(panel).forecast()
    moved = HAR(4).fit(panel.assign(y=shift + scale * panel["y"])).forecast()
    np.testing.assert_allclose(moved.mean, shift + scale * still.mean, atol=1e-7 * (1 + abs(shift) + scale))
    np.testing.assert_allclose(moved.quantiles, shift + scale * still.quantiles, atol=1e-7 * (1 + abs(shift) + scale))


def test_intraday_forecasts_follow_the_shape_of_the_session(hourly: pd.DataFrame) -> None:
    until = hourly[hourly["ds"] < "2018-11-21"].reset_index(drop=True)
    forecast = HAR(16).fit(until).forecast()
    stamps = forecast.frame["ds"]
    # a full Wednesday, no Thanksgiving, the half-day on Friday, then Monday
    assert stamps.dt.strftime("%m-%d").value_counts().sort_index().tolist() == [7, 4, 5]
    truth = hourly.set_index("ds")["y"]
    assert np.abs(forecast.mean - truth.reindex(stamps).to_numpy()).max() < 0.5
    assert forecast.mean.max() - forecast.mean.min() > 1.5


def test_a_profile_is_the_mean_of_the_last_sessions_at_that_time(hourly: pd.DataFrame) -> None:
    y, ds = hourly["y"].to_numpy(), pd.DatetimeIndex(hourly["ds"])
    profile = Profile.of(y, ds)
    origins, targets = np.array([200, 410, 700]), np.array([203, 421, 713])
    for value, origin, target in zip(profile.at(origins, targets), origins, targets, strict=True):
        same = [y[j] for j in range(origin + 1) if ds[j].time() == ds[target].time()]
        assert value == pytest.approx(np.mean(same[-20:]))


def test_intraday_spans_are_sessions_long(hourly: pd.DataFrame) -> None:
    # one value short of the 22 sessions of seven bars that the longest mean needs
    with pytest.raises(SeriesError, match="known values are fewer than the longest mean"):
        HAR(3).fit(hourly).forecast(hourly.tail(22 * 7 - 1))
    assert len(HAR(3).fit(hourly).forecast(hourly.tail(22 * 7 + 3))) == 3


def test_asking_further_ahead_uses_the_longest_step(daily: pd.DataFrame) -> None:
    panel = one(daily[daily["ds"] <= "2018-10-01"])
    model = HAR(3).fit(panel)
    near, far = model.forecast(), model.forecast(at="2018-12-03")
    assert far.frame["ds"].dt.strftime("%m-%d").tolist() == ["12-03", "12-04", "12-05"]
    assert far.frame["step"].tolist() == [44, 45, 46]
    assert far.mean.tolist() == [near.mean[2]] * 3


def test_refuses_calendar_terms_that_the_panel_lacks(daily: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match="A: HAR with calendar=True needs known-future covariates"):
        HAR(3, calendar=True).fit(daily[["unique_id", "ds", "y"]])


def test_a_series_that_is_too_short_is_named_with_what_it_needs(daily: pd.DataFrame) -> None:
    with pytest.raises(SeriesError, match=r"A: 30 known values are too few for HAR with h = 5.*it needs 34"):
        HAR(5).fit(one(daily).head(30))
    HAR(5).fit(one(daily).head(34))


@pytest.mark.parametrize("options", [{"spans": ()}, {"spans": (0, 5)}, {"ridge": -1.0}])
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        HAR(3, **options)  # type: ignore[arg-type]


def test_is_a_forecaster_with_a_name_for_each_variant() -> None:
    assert isinstance(HAR(2), Forecaster)
    assert (HAR(2).name, HAR(2, calendar=True).name) == ("HAR", "HAR-calendar")
