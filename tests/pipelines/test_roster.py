import copy

import numpy as np
import pytest

from fints.baselines import BASELINES, HAR, Naive
from fints.errors import EncodingError, NotFittedError
from fints.forecast import Forecaster
from fints.plan import Cycle, FrequencyPlan
from fints.settings import BacktestSettings, read_settings
from pipelines.named import Named
from pipelines.roster import cycles_left_out, make_entrants, make_models


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
    plan = FrequencyPlan((Cycle(20.0, "session", harmonics=(1, 2, 3)), Cycle(60.0, "session", strength=0.1)))
    settings = read_settings(BacktestSettings, None, ["models=[transformer, har]", "network={dim: 16, n_heads: 2}"])
    model, _ = make_models(settings, plan)
    assert len(model.plan.lines) == 2
    (said,) = cycles_left_out(settings, plan)
    assert said.startswith("CycleTransformer[cycle]: There are 2 planes")
    assert said.endswith("left out of the plan: harmonic 3 of 20 sessions, 60 sessions.")
    assert cycles_left_out(settings, model.plan) == ()


def test_only_what_draws_random_numbers_is_fitted_with_several_seeds():
    settings = read_settings(
        BacktestSettings, None, ["models=[transformer, gradient_boosting, har]", "seeds=3", "random_seed=7"]
    )
    entrants = make_entrants(settings, FrequencyPlan.from_periods([5]))
    assert [(e.name, e.seed) for e in entrants] == [
        *[("CycleTransformer[cycle]", seed) for seed in (7, 8, 9)],
        *[(BASELINES["gradient_boosting"].label, seed) for seed in (0, 1, 2)],
        ("HAR", 0),
    ]
    assert [e.model.design.random_seed for e in entrants[:3]] == [7, 8, 9]
    assert len({e.digest for e in entrants}) == 7


@pytest.mark.parametrize(
    ("change", "models"),
    [
        ("training.max_steps=3", {0}),
        ("network.dim=16", {0}),
        ("input_size=60", {0}),
        ("h=10", {0, 1}),
        ("models=[transformer, {kind: har, ridge: 0.1}]", {1}),
        ("embargo=3", set()),
    ],
)
def test_the_digest_of_a_model_follows_its_own_settings_only(change, models):
    def digests(*changes):
        settings = read_settings(BacktestSettings, None, ["models=[transformer, har]", *changes])
        return [e.digest for e in make_entrants(settings, FrequencyPlan.from_periods([5, 20]))]

    plain, changed = digests(), digests(change)
    assert {i for i in range(2) if plain[i] != changed[i]} == models


def test_the_digest_of_a_transformer_follows_the_plan():
    settings = read_settings(BacktestSettings, None, ["models=[transformer, har]"])
    one, other = (make_entrants(settings, FrequencyPlan.from_periods(p)) for p in ([5, 20], [5, 21]))
    assert [a.digest == b.digest for a, b in zip(one, other, strict=True)] == [False, True]


def test_transformers_are_trained_for_the_horizon_said_and_baselines_for_all():
    settings = read_settings(BacktestSettings, None, ["models=[transformer, har]", "h=20", "trained_h=5"])
    assert [model.h for model in make_models(settings, FrequencyPlan.from_periods([5]))] == [5, 20]
