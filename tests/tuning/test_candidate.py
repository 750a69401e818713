import pytest

from fints.encodings import encoding_config
from fints.errors import ConfigError
from fints.plan import Cycle, FrequencyPlan
from fints.transformer import CycleTransformer
from fints.tuning import Candidate, cycle_names

CYCLE = encoding_config("cycle")


def test_a_model_changes_what_the_candidate_says_and_nothing_else():
    base = CycleTransformer(5, 40, "rope", random_seed=3, level=(90,)).named("mine")
    plan = FrequencyPlan.from_periods([5, 20])
    model = Candidate(plan, CYCLE, {"dropout": 0.2}, {"learning_rate": 2e-3}).model(base)
    assert (model.h, model.design.input_size, model.design.random_seed, model.name) == (5, 40, 3, "mine")
    assert model.design.level == (90,)
    assert model.plan == plan
    assert model.design.network == base.design.network.model_copy(update={"dropout": 0.2})
    assert model.design.training == base.design.training.model_copy(update={"learning_rate": 2e-3})


@pytest.mark.parametrize("network", [{"dropout": 2.0}, {"width": 3}])
def test_a_setting_that_does_not_fit_is_named(network):
    candidate = Candidate(FrequencyPlan.from_periods([5]), CYCLE, network)
    with pytest.raises(ConfigError, match=next(iter(network))):
        candidate.model(CycleTransformer(5, 40))


def test_a_plan_larger_than_the_encoding_is_cut_to_its_strongest_without_a_warning():
    plan = FrequencyPlan((Cycle(5.0, strength=3), Cycle(20.0, strength=2), Cycle(60.0, strength=1)))
    small = Candidate(plan, encoding_config({"kind": "cycle", "share": 0.5}), {"dim": 8, "n_heads": 1})
    assert [c.period for c in small.model(CycleTransformer(5, 40)).plan] == [5.0, 20.0]


def test_names_are_those_that_people_read_and_tell_close_cycles_apart():
    plan = FrequencyPlan((Cycle(20.0), Cycle(7.0, "calendar"), Cycle(20.00001)))
    assert cycle_names(plan) == ("20 sessions", "20.00001 sessions", "7 days")


def test_moved_cycles_keep_their_names_their_relative_width_and_say_that_they_are_tuned():
    plan = FrequencyPlan((Cycle(20.0, width=2.0), Cycle(21.0), Cycle(60.0)))
    moved = Candidate(plan, CYCLE).at({"20 sessions": 22.0, "21 sessions": 21.0}, "tried")
    assert moved.periods == {"20 sessions": 22.0, "21 sessions": 21.0, "60 sessions": 60.0}
    assert moved.names == ("21 sessions", "20 sessions", "60 sessions")
    by_name = dict(zip(moved.names, moved.plan, strict=True))
    assert by_name["20 sessions"].width == pytest.approx(2.2)
    assert [by_name[n].origin for n in ("20 sessions", "21 sessions", "60 sessions")] == ["tuned", "prior", "prior"]


def test_plain_values_bring_the_same_candidate_back():
    plan = FrequencyPlan((Cycle(20.1, harmonics=(1, 2), width=1.5), Cycle(7.0, "calendar")))
    encoding = encoding_config(
        {
            "kind": "split",
            "by": "feature",
            "parts": [{"share": 0.5, "encoding": "rope"}, {"share": 0.5, "encoding": "cycle"}],
        }
    )
    one = Candidate(plan, encoding, {"dropout": 0.1}, {"max_steps": 7}).at({"20.1 sessions": 20.5}, "tried")
    back = Candidate.from_dict(one.to_dict())
    assert (back.plan, back.encoding, back.network, back.training, back.names) == (
        one.plan,
        one.encoding,
        one.network,
        one.training,
        one.names,
    )


def test_what_is_no_stored_candidate_is_refused():
    with pytest.raises(ConfigError, match="candidate"):
        Candidate.from_dict({"plan": None})
