import copy

import numpy as np
import pytest

from fints.baselines import BASELINES, HAR, Naive
from fints.errors import EncodingError, NotFittedError
from fints.forecast import Forecaster
from fints.plan import Cycle, FrequencyPlan
from fints.settings import BacktestSettings, read_settings
from pipelines.roster import Named, cycles_left_out, make_models


def test_a_forecaster_under_another_name_forecasts_the_same(daily_panel):
    named, plain = Named(Naive(5), "LastValue"), Naive(5).fit(daily_panel)
    assert isinstance(named, Forecaster)
    assert (named.fit(daily_panel).name, named.h) == ("LastValue", 5)
    assert np.array_equal(named.forecast().quantiles, plain.forecast().quantiles)
    wide = named.predict()
    assert "LastValue-lo-80" in wide.columns
    assert np.array_equal(wide["LastValue"], plain.predict()["Naive"])


def test_a_copy_is_fitted_without_the_original(daily_panel):
    named = Named(HAR(5), "HAR")
    copy.deepcopy(named).fit(daily_panel)
    with pytest.raises(NotFittedError):
        named.forecast(daily_panel)


def models(text):
    settings = read_settings(BacktestSettings, None, [f"models={text}", "interval=1d"])
    return make_models(settings, FrequencyPlan.from_periods([5, 20]))


def test_two_of_a_kind_stand_side_by_side():
    made = models("[{kind: har, name: short, spans: [1, 5]}, {kind: har, name: long}, {kind: transformer, name: mine}]")
    assert [model.name for model in made] == ["short", "long", "mine"]
    assert made[0].model.spans == (1, 5)
    assert made[2].h == 20


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_every_baseline_can_be_chosen_by_its_name(name):
    (model,) = models(f"[{name}]")
    assert isinstance(model, Forecaster)
    assert model.name == BASELINES[name].build(20).name


def test_a_network_that_does_not_fit_its_encoding_is_refused_before_any_work():
    with pytest.raises(EncodingError, match="even head width"):
        models("[{kind: transformer, encoding: rope, network: {dim: 15, n_heads: 1}}]")


def test_cycles_that_find_no_room_are_named_and_not_warned_about_again():
    plan = FrequencyPlan((Cycle(20.0, "session", harmonics=(1, 2)), Cycle(60.0, "session")))
    settings = read_settings(BacktestSettings, None, ["models=[transformer, har]", "network={dim: 16, n_heads: 2}"])
    model, _ = make_models(settings, plan)
    assert len(model.plan.lines) == 2
    (dropped,) = (str(cycle) for cycle in plan if cycle not in model.plan.cycles)
    (said,) = cycles_left_out(settings, plan)
    assert said.startswith("CycleTransformer[cycle]: There are 2 planes")
    assert said.endswith(f"left out of the plan: {dropped}.")
    assert cycles_left_out(settings, model.plan) == ()
