import pytest

import fints
from fints.errors import EncodingError, PlanError
from fints.explain import ablate
from fints.studies.planted import PlantedCycles
from fints.transformer import NetworkConfig, TrainingConfig
from tests.explain.conftest import tiny_model

WEEK = PlantedCycles("WEEK", "a week", (7.0,), (1.0,), sigma=0.2)


@pytest.fixture(scope="module")
def by_attention():
    """A network without covariates and linear start: what it knows of the week, it knows by its planes."""
    panel = WEEK.panel(700, seed=0)
    plan = fints.FrequencyPlan.from_periods([7, 30])
    model = fints.CycleTransformer(7, 35, {"kind": "cycle", "share": 1.0}, plan).with_settings(
        NetworkConfig(dim=16, n_heads=2, n_layers=1, dropout=0.0, linear_skip=False),
        TrainingConfig(max_steps=120, batch_size=16, learning_rate=1e-2, average=0.9, validate_every=40, patience=9),
    )
    return model.fit(panel), panel


def test_what_attention_knows_of_a_cycle_is_lost_with_its_planes(by_attention):
    model, panel = by_attention
    week, month = (ablate(model, panel, name, windows=64) for name in ("week", "30 sessions"))
    for loss in ("RMSE", "CRPS"):
        assert week.still[loss].told
        assert week.still[loss].value > 0.2
        assert week.still[loss].value > 5 * abs(month.still[loss].value)
    assert week.still == week.without  # nothing else is tied to it


def test_planes_that_a_network_makes_nothing_of_cost_nothing(weekly_model, weekly_panel):
    cost = ablate(weekly_model, weekly_panel, "quarterly", windows=64)
    assert abs(cost.still["RMSE"].value) < 0.01


def test_a_cycle_in_the_linear_start_is_lost_with_its_calendar_terms(weekly_model, weekly_panel):
    cost = ablate(weekly_model, weekly_panel, "7 days", windows=64)
    assert cost.without["RMSE"].value > 0.1
    assert cost.without["RMSE"].told
    assert abs(cost.still["RMSE"].value) < 0.02


def test_a_weak_cycle_is_taken_out_alone_however_many_there_are(weekly_panel):
    panel = weekly_panel[weekly_panel["ds"] < "2001-06"].reset_index(drop=True)
    plan = fints.FrequencyPlan.from_periods([fints.Cycle(float(p), strength=1 / p) for p in (5, 7, 9, 12, 15, 18)])
    model = tiny_model()
    model = fints.CycleTransformer(5, 40, "fourier_features", plan).with_settings(
        model.design.network, model.design.training
    )
    cost = ablate(model.fit(panel), panel, "18 sessions", windows=16)
    assert [cycle.period for cycle in cost.group.cycles] == [18.0]


@pytest.mark.parametrize("name", ["11 days", "daily", ""])
def test_a_cycle_that_the_plan_lacks_is_refused_with_those_it_has(weekly_model, weekly_panel, name):
    with pytest.raises(PlanError, match=r"has no cycle .*; it has: weekly cycle \(7 days\)"):
        ablate(weekly_model, weekly_panel, name)


def test_one_that_only_calendar_terms_tell_of_is_refused_with_them(weekly_model, weekly_panel):
    with pytest.raises(PlanError, match=r"has no yearly cycle; it has: .*knows 1 calendar term of year"):
        ablate(weekly_model, weekly_panel, "year")


def test_an_encoding_without_planes_is_refused(weekly_panel):
    model = tiny_model("rope").fit(weekly_panel)
    with pytest.raises(EncodingError, match="no plane of the encoding 'rope' turns with the weekly cycle"):
        ablate(model, weekly_panel, "week")
