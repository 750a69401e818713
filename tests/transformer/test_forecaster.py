import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import torch

import fints
from fints.errors import ConfigError, NotFittedError, SchemaError, SeriesError
from fints.forecast import Forecaster
from fints.series import add_features, validate_panel
from fints.sessions import bar_grid, get_calendar
from fints.transformer import NetworkConfig
from fints.transformer.forecaster import mean_of_quantiles
from tests.transformer.conftest import BRIEF, SMALL, small_model


def test_it_is_a_forecaster():
    assert isinstance(small_model(), Forecaster)


def test_it_forecasts_real_sessions_with_bands(fitted):
    wide = fitted.predict()
    assert list(wide.columns[:3]) == ["unique_id", "ds", "CycleTransformer"]
    assert wide.groupby("unique_id").size().tolist() == [5, 5]
    expected = pd.to_datetime(["2017-01-03", "2017-01-04", "2017-01-05", "2017-01-06", "2017-01-09"])
    assert wide.loc[wide["unique_id"] == "AAA", "ds"].tolist() == expected.tolist()
    assert (wide["CycleTransformer-lo-95"] <= wide["CycleTransformer-lo-80"]).all()
    assert (wide["CycleTransformer-hi-80"] <= wide["CycleTransformer-hi-95"]).all()


def test_the_same_seed_gives_the_same_bits(daily_panel, fitted):
    again = small_model().fit(daily_panel)
    assert np.array_equal(again.forecast().quantiles, fitted.forecast().quantiles)


@pytest.mark.parametrize("copied", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copy", "pickle"])
def test_a_fitted_model_can_be_copied_and_sent_to_another_process(fitted, copied):
    np.testing.assert_array_equal(copied(fitted).forecast().quantiles, fitted.forecast().quantiles)


@pytest.mark.parametrize("encoding", ["absolute_learned", "absolute_linear", "time_rab", "fourier_features", "clock"])
def test_whatever_an_encoding_draws_follows_the_seed(encoding):
    states = []
    for before in (1, 2):
        torch.manual_seed(before)
        states.append(small_model(encoding=encoding).design.network_for(0, 2).state_dict())
    assert all(torch.equal(a, b) for a, b in zip(*(s.values() for s in states), strict=True))
    other = small_model(encoding=encoding, random_seed=1).design.network_for(0, 2).state_dict()
    assert not all(torch.equal(a, b) for a, b in zip(states[0].values(), other.values(), strict=True))


def test_other_weights_start_alike_whatever_the_encoding():
    states = [small_model(encoding=e).design.network_for(0, 2).state_dict() for e in ("rope", "absolute_learned")]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_another_seed_gives_another_forecast(daily_panel, fitted):
    assert fitted.fitted.records[0].best[0] > 0  # weights that no step improved on would state the start alone
    other = small_model(random_seed=1).fit(daily_panel)
    assert not np.array_equal(other.forecast().quantiles, fitted.forecast().quantiles)


def renamed(panel, **changes):
    """A panel whose series the model has not seen."""
    return panel.assign(unique_id="new " + panel["unique_id"], **changes)


def test_shifting_a_new_series_shifts_its_forecast(fitted, daily_panel):
    moved, plain = renamed(daily_panel, y=daily_panel["y"] + 100.0), renamed(daily_panel)
    assert np.allclose(fitted.forecast(moved).quantiles, fitted.forecast(plain).quantiles + 100.0, atol=1e-4)


def test_scaling_a_new_series_scales_its_forecast(fitted, daily_panel):
    scaled, plain = renamed(daily_panel, y=daily_panel["y"] * 8.0), renamed(daily_panel)
    assert np.allclose(fitted.forecast(scaled).quantiles, fitted.forecast(plain).quantiles * 8.0, rtol=1e-5)


def test_shifting_a_panel_shifts_its_forecasts(fitted, daily_panel):
    moved = small_model().fit(daily_panel.assign(y=daily_panel["y"] + 100.0))
    assert np.allclose(moved.forecast().quantiles, fitted.forecast().quantiles + 100.0, atol=1e-3)


def test_scaling_a_panel_scales_its_forecasts(fitted, daily_panel):
    scaled = small_model().fit(daily_panel.assign(y=daily_panel["y"] * 8.0))
    assert np.allclose(scaled.forecast().quantiles, fitted.forecast().quantiles * 8.0, rtol=1e-5)


def test_a_forecast_depends_on_its_context_alone(fitted, daily_panel):
    tail = daily_panel.groupby("unique_id").tail(30).reset_index(drop=True)
    assert np.array_equal(fitted.forecast(tail).quantiles, fitted.forecast(daily_panel).quantiles)


def test_a_bar_gets_the_same_forecast_whatever_else_is_asked(fitted):
    short, long = fitted.forecast(h=2), fitted.forecast(h=5)
    wanted = long.frame["step"].to_numpy() <= 2
    assert np.allclose(short.quantiles, long.quantiles[wanted], atol=1e-5)


@pytest.mark.parametrize("ask", ["forecast", "predict"])
def test_a_longer_horizon_than_the_trained_one_extrapolates_with_a_caution(fitted, ask):
    with pytest.warns(UserWarning, match="12 bars are asked for, and the model was trained for 5") as told:
        long = getattr(fitted, ask)(h=12)
    assert told[0].filename == __file__
    assert len(long) == 24


def test_bars_within_the_trained_horizon_do_not_change_when_more_are_asked_for(fitted):
    with pytest.warns(UserWarning, match="extrapolates"):
        long = fitted.forecast(h=60)
    assert np.isfinite(long.quantiles).all()
    assert np.allclose(long.quantiles[long.frame["step"] <= 5], fitted.forecast().quantiles, atol=1e-5)
    assert (np.abs(long.mean - fitted.forecast().mean.mean()) < 12).all()


def test_the_same_history_can_be_asked_about_another_date(fitted):
    asked = fitted.predict(at="2017-01-05")
    direct = fitted.predict(h=3)
    assert asked.loc[0, "ds"] == pd.Timestamp("2017-01-05")
    assert np.isclose(asked.loc[0, "CycleTransformer"], direct.loc[2, "CycleTransformer"], atol=1e-5)


def test_an_unseen_series_can_be_forecast(fitted, daily_panel):
    """The regression of its own and the unit of the whole panel are missing; what all series share does most."""
    seen = daily_panel[daily_panel["unique_id"] == "AAA"].reset_index(drop=True)
    new = fitted.forecast(renamed(seen))
    error = new.mean - fitted.forecast(seen).mean
    assert np.sqrt((error**2).mean()) < 0.25 * seen["y"].std()
    alone = fitted.forecast(pd.concat([daily_panel, renamed(seen)], ignore_index=True))
    assert np.allclose(alone.quantiles[alone.frame["unique_id"] == "new AAA"], new.quantiles, atol=1e-5)


@pytest.mark.parametrize("encoding", sorted(fints.encodings.ENCODINGS))
@pytest.mark.parametrize("skip", [True, False])
def test_every_encoding_trains_with_and_without_the_skip(daily_panel, encoding, skip):
    network = SMALL.model_copy(update={"linear_skip": skip})
    model = small_model(encoding=encoding).with_settings(network, BRIEF).fit(daily_panel)
    assert np.isfinite(model.forecast().quantiles).all()


def test_covariates_and_companions_can_be_switched_off(daily_panel):
    bare = daily_panel[["unique_id", "ds", "y"]]
    network = SMALL.model_copy(update={"covariates": False, "companions": False})
    model = small_model().with_settings(network, BRIEF).fit(daily_panel)
    assert np.array_equal(model.forecast(bare).quantiles, model.forecast(daily_panel).quantiles)


def test_a_mean_lies_between_its_quantiles(fitted):
    forecast = fitted.forecast()
    assert (forecast.mean >= forecast.quantiles[:, 0]).all()
    assert (forecast.mean <= forecast.quantiles[:, -1]).all()
    flat = np.full((2, forecast.quantiles.shape[1]), 3.25)
    assert np.allclose(mean_of_quantiles(flat), 3.25)


def test_a_name_of_its_own_stands_in_the_columns_and_changes_nothing_else(daily_panel, fitted):
    model = small_model().named("CycleTransformer[mine]").fit(daily_panel)
    assert list(model.predict().columns[2:4]) == ["CycleTransformer[mine]", "CycleTransformer[mine]-lo-80"]
    assert np.array_equal(model.forecast().quantiles, fitted.forecast().quantiles)
    assert model.with_settings(SMALL, BRIEF).name == "CycleTransformer[mine]"
    assert (small_model().name, fitted.name) == ("CycleTransformer", "CycleTransformer")


def test_what_cannot_be_forecast_is_refused(fitted, daily_panel):
    with pytest.raises(NotFittedError, match="fit"):
        small_model().forecast()
    with pytest.raises(SchemaError, match="cal_monday"):
        fitted.forecast(daily_panel[["unique_id", "ds", "y"]])
    with pytest.raises(SeriesError, match="AAA: too short: 10 values"):
        fitted.forecast(daily_panel.groupby("unique_id").head(10).reset_index(drop=True))
    with pytest.raises(SeriesError, match="constant"):
        small_model().fit(daily_panel.assign(y=1.0))
    with pytest.raises(ConfigError, match="h is 0"):
        fitted.forecast(h=0)


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (lambda p: pd.concat([p, p.tail(1)]), SchemaError, "BBB has 2016-12-30 more than once"),
        (lambda p: p.assign(interval=np.where(p["unique_id"] == "AAA", "1d", "1h")), SchemaError, "1d, 1h"),
        (lambda p: p.assign(cal_monday=p["cal_monday"].where(p["ds"] < "2016-12-20")), SeriesError, "no cal_monday"),
        (lambda p: p.assign(y=p["y"].where(p["ds"] != p["ds"].max(), np.inf)), SeriesError, "infinite"),
        (lambda p: p.assign(y=p["y"].where(p["ds"] != p["ds"].max())), SeriesError, "missing"),
        (lambda p: p.assign(weather=1.0), SchemaError, "weather"),
    ],
    ids=["twice", "mixed", "covariate", "infinite", "missing", "column"],
)
def test_a_panel_that_cannot_be_read_is_refused_by_fit_and_by_forecast(fitted, daily_panel, spoil, error, says):
    for refuse in (fitted.forecast, small_model().fit):
        with pytest.raises(error, match=says):
            refuse(spoil(daily_panel))


def test_a_covariate_that_no_calendar_continues_is_refused_before_training(daily_panel):
    with pytest.raises(SchemaError, match="cal_weather: no calendar continues this"):
        small_model().fit(daily_panel.assign(cal_weather=1.0), progress=lambda *_: pytest.fail("trained"))


def test_columns_that_the_model_does_not_read_are_no_matter(daily_panel, fitted):
    told = daily_panel.assign(cal_weather=np.nan, past_mood=np.nan)
    assert np.array_equal(fitted.forecast(told).quantiles, fitted.forecast(daily_panel).quantiles)
    blind = SMALL.model_copy(update={"covariates": False, "companions": False})
    one, other = (small_model().with_settings(blind, BRIEF).fit(panel) for panel in (told, daily_panel))
    assert np.array_equal(one.forecast().quantiles, other.forecast().quantiles)


def test_bars_of_another_interval_are_refused(fitted, daily_panel):
    grid = bar_grid(get_calendar("XNYS"), "2016-10-03", "2016-12-23", "1h", "open")
    hourly = pd.DataFrame({"unique_id": "AAA", "ds": grid["ds"], "y": np.arange(len(grid)), "interval": "1h"})
    features = [name.removeprefix("cal_") for name in daily_panel if name.startswith("cal_")]
    with pytest.raises(SchemaError, match="holds 1h bars, and the model was fitted on 1d ones"):
        fitted.forecast(add_features(validate_panel(hourly), features))


def test_what_cannot_be_a_model_is_refused():
    with pytest.raises(ConfigError, match="h=0"):
        small_model(h=0)
    with pytest.raises(ConfigError, match="at most 95"):
        small_model(level=[99])
    with pytest.raises(ValueError, match="n_layer"):
        NetworkConfig(n_layer=3)


def test_hourly_bars_are_forecast_with_their_profile_of_the_day_through_a_half_day():
    """The history ends two sessions before the half day of 2016-11-25, which has four bars."""
    grid = bar_grid(get_calendar("XNYS"), "2016-06-01", "2016-11-22", "1h", "open")
    profile = np.array([5.0, 3.0, 1.0, 0.0, 1.0, 2.0, 4.0])
    noise = np.random.default_rng(0).normal(size=len(grid))
    y = 20.0 + profile[grid["bar"]] + 0.3 * noise
    panel = validate_panel(pd.DataFrame({"unique_id": "A", "ds": grid["ds"], "y": y, "interval": "1h"}))
    model = small_model(h=18, input_size=42).fit(panel)
    asked = model.forecast()
    hours = asked.frame["ds"].dt.hour.to_numpy() - 9
    assert hours.tolist() == [*range(7), *range(4), *range(7)]
    assert np.abs(asked.at(0.5) - 20.0 - profile[hours]).max() < 0.6
