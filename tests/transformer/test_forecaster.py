import numpy as np
import pandas as pd
import pytest
import torch

import fints
from fints.errors import ConfigError, NotFittedError, SchemaError, SeriesError
from fints.forecast import Forecaster
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
    other = small_model(random_seed=1).fit(daily_panel)
    assert not np.array_equal(other.forecast().quantiles, fitted.forecast().quantiles)


def test_shifting_a_series_shifts_its_forecast(fitted, daily_panel):
    moved = daily_panel.assign(y=daily_panel["y"] + 100.0)
    assert np.allclose(fitted.forecast(moved).mean, fitted.forecast(daily_panel).mean + 100.0, atol=1e-4)


def test_scaling_a_series_scales_its_forecast(fitted, daily_panel):
    scaled = daily_panel.assign(y=daily_panel["y"] * 8.0)
    assert np.allclose(fitted.forecast(scaled).quantiles, fitted.forecast(daily_panel).quantiles * 8.0, rtol=1e-5)


def test_a_forecast_depends_on_its_context_alone(fitted, daily_panel):
    tail = daily_panel.groupby("unique_id").tail(30).reset_index(drop=True)
    assert np.array_equal(fitted.forecast(tail).quantiles, fitted.forecast(daily_panel).quantiles)


def test_a_bar_gets_the_same_forecast_whatever_else_is_asked(fitted):
    short, long = fitted.forecast(h=2), fitted.forecast(h=5)
    wanted = long.frame["step"].to_numpy() <= 2
    assert np.allclose(short.quantiles, long.quantiles[wanted], atol=1e-5)


def test_a_longer_horizon_than_the_trained_one_extrapolates(fitted):
    assert len(fitted.forecast(h=12)) == 24


def test_the_same_history_can_be_asked_about_another_date(fitted):
    asked = fitted.predict(at="2017-01-05")
    direct = fitted.predict(h=3)
    assert asked.loc[0, "ds"] == pd.Timestamp("2017-01-05")
    assert np.isclose(asked.loc[0, "CycleTransformer"], direct.loc[2, "CycleTransformer"], atol=1e-5)


def test_an_unseen_series_can_be_forecast(fitted, daily_panel):
    new = daily_panel[daily_panel["unique_id"] == "AAA"].assign(unique_id="NEW").reset_index(drop=True)
    assert np.allclose(fitted.forecast(new).mean, fitted.forecast().mean[:5])


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


def test_what_cannot_be_a_model_is_refused():
    with pytest.raises(ConfigError, match="h=0"):
        small_model(h=0)
    with pytest.raises(ConfigError, match="at most 95"):
        small_model(level=[99])
    with pytest.raises(ValueError, match="n_layer"):
        NetworkConfig(n_layer=3)
