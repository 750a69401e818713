import math

import optuna
import pytest

from fints.encodings import encoding_config
from fints.errors import ConfigError, UnknownNameError
from fints.plan import Cycle, FrequencyPlan
from fints.tuning import SearchSpace, SpaceConfig
from fints.tuning.space import parameters

PLAN = FrequencyPlan((Cycle(20.0, origin="detected"), Cycle(7.0, "calendar", harmonics=(1, 2))))
CYCLE = encoding_config("cycle")


def candidate(space, params, *, fixed=False):
    return space.suggest(optuna.trial.FixedTrial(params), fixed=fixed)


def test_a_period_is_its_anchor_times_the_exponential_of_delta():
    space = SearchSpace(SpaceConfig(), PLAN, CYCLE)
    found = candidate(space, {"delta[20 sessions]": 0.1, "delta[7 days]": 0.0})
    assert found.periods == {"20 sessions": pytest.approx(20 * math.exp(0.1)), "7 days": 7.0}
    assert {c.origin for c in found.plan} == {"tuned", "prior"}


def test_delta_zero_leaves_the_plan_untouched():
    space = SearchSpace(SpaceConfig(), PLAN, CYCLE)
    assert candidate(space, {"delta[20 sessions]": 0.0, "delta[7 days]": 0.0}).plan == PLAN


def test_priors_are_searched_up_to_the_guard_and_detected_periods_by_their_standard_error():
    space = SearchSpace(SpaceConfig(standard_errors=5), PLAN, CYCLE, {"20 sessions": 0.08}, {"session": 1e6})
    drawn = parameters(space)
    assert (drawn["delta[20 sessions]"].high, drawn["delta[7 days]"].high) == (pytest.approx(0.02), 0.35)


def test_a_period_is_searched_at_least_as_far_as_the_span_leaves_it_open_and_never_beyond_the_guard():
    narrow = SearchSpace(SpaceConfig(), PLAN, CYCLE, {"20 sessions": 1e-6}, {"session": 400.0})
    assert narrow.width(PLAN.cycles[0], "20 sessions") == pytest.approx(20 / 800)
    wide = SearchSpace(SpaceConfig(), PLAN, CYCLE, {"20 sessions": 100.0}, {"session": 400.0})
    assert wide.width(PLAN.cycles[0], "20 sessions") == 0.35


def test_only_the_cycles_that_are_named_are_searched():
    space = SearchSpace(SpaceConfig(cycles=("7 days",)), PLAN, CYCLE)
    assert set(parameters(space)) == {"delta[7 days]"}
    with pytest.raises(UnknownNameError, match="7 days"):
        SearchSpace(SpaceConfig(cycles=("8 days",)), PLAN, CYCLE)


def test_a_space_of_one_point_is_refused():
    with pytest.raises(ConfigError, match="one point"):
        parameters(SearchSpace(SpaceConfig(periods="fixed"), PLAN, CYCLE))


@pytest.mark.parametrize(
    ("learn", "fixed", "expected"), [("on", False, True), ("on", True, False), ("off", False, False)]
)
def test_learning_is_on_unless_periods_are_kept(learn, fixed, expected):
    space = SearchSpace(SpaceConfig(learn=learn), PLAN, CYCLE)
    found = candidate(space, {"delta[20 sessions]": 0.1, "delta[7 days]": 0.0}, fixed=fixed)
    assert found.encoding.learn is expected


def test_a_bank_is_a_geometric_row_that_needs_no_plan():
    space = SearchSpace(SpaceConfig(periods="bank"), PLAN, CYCLE)
    found = candidate(space, {"bank.shortest": 4.0, "bank.ratio": 3.0, "bank.count": 3})
    assert [c.period for c in found.plan] == [4.0, 12.0, 36.0]
    assert found.names == ("bank 1", "bank 2", "bank 3")


WIDTHS = {"low": 0.03, "high": 0.14}


def test_every_knob_reaches_the_setting_that_it_is_named_for():
    config = SpaceConfig(
        periods="fixed",
        encodings=("cycle", {"kind": "clock", "mixture": True}, {"kind": "t_rope", "plan_share": 0.5}),
        share={"low": 0.2, "high": 0.9},
        base=(100.0, 10_000.0),
        harmonics=True,
        frequency_rate={"low": 1, "high": 100, "log": True},
        clock={"sigma_over_period": WIDTHS, "truncation": (2, 6), "laws": ("gaussian-fold", "gaussian-sym")},
        t_rope={"epoch": (0.0, 1e9), "shared": True, "plan_share": {"low": 0.1, "high": 1}},
        network={"dropout": {"low": 0, "high": 0.3}, "dim": (16, 32)},
        training={"max_steps": {"low": 10, "high": 20}},
    )
    space = SearchSpace(config, PLAN, CYCLE)
    shared = {
        "harmonics": False,
        "frequency_rate": 30.0,
        "network.dropout": 0.2,
        "network.dim": 16,
        "training.max_steps": 12,
    }
    clock = {
        "share": 0.4,
        "base": 100.0,
        "clock.sigma_over_period": 0.05,
        "clock.truncation": 2,
        "clock.law": "gaussian-sym",
    }
    found = candidate(space, {**shared, **clock, "encoding": "clock"})
    assert found.encoding == encoding_config(
        {
            "kind": "clock",
            "mixture": True,
            "share": 0.4,
            "base": 100.0,
            "sigma_over_period": 0.05,
            "truncation": 2,
            "law": "gaussian-sym",
            "learn": True,
        }
    )
    assert found.network == {"dropout": 0.2, "dim": 16}
    assert found.training == {"max_steps": 12, "frequency_rate": 30.0}
    assert all(cycle.harmonics == (1,) for cycle in found.plan)
    t_rope = {"t_rope.sigma": 0.3, "t_rope.epoch": 1e9, "t_rope.shared": True, "t_rope.plan_share": 0.25}
    found = candidate(space, {**shared, **t_rope, "encoding": "t_rope"})
    assert (found.encoding.sigma, found.encoding.epoch) == (0.3, 1e9)
    assert (found.encoding.shared, found.encoding.plan_share) == (True, 0.25)
    assert not found.encoding.non_stationary  # shared α with a transposed key depends on sums of dates
    separate = candidate(space, {**shared, **t_rope, "t_rope.shared": False, "encoding": "t_rope"})
    assert (separate.encoding.shared, separate.encoding.non_stationary) == (False, True)
    found = candidate(space, {**shared, "share": 0.7, "base": 100.0, "encoding": "cycle"})
    assert (found.encoding.share, found.encoding.base) == (0.7, 100.0)


def test_knobs_reach_into_combinations():
    split = {
        "kind": "split",
        "by": "feature",
        "parts": [{"share": 0.5, "encoding": "rope"}, {"share": 0.5, "encoding": {"kind": "clock"}}],
    }
    config = SpaceConfig(
        periods="fixed",
        clock={"sigma_over_period": WIDTHS, "truncation": (3,)},
        split={"low": 0.2, "high": 0.8},
        learn="off",
    )
    space = SearchSpace(config, PLAN, encoding_config(split))
    found = candidate(space, {"split": 0.25, "clock.sigma_over_period": 0.1, "clock.truncation": 3})
    assert [part.share for part in found.encoding.parts] == [0.25, 0.75]
    assert found.encoding.parts[1].encoding.sigma_over_period == 0.1


def test_an_encoding_is_not_asked_for_what_it_does_not_have():
    space = SearchSpace(SpaceConfig(periods="fixed", share={"low": 0.1, "high": 1}), PLAN, encoding_config("rope"))
    with pytest.raises(ConfigError, match="one point"):
        parameters(space)


def test_the_plan_as_it_stands_comes_first_then_what_learning_makes_of_it_then_the_other_plans():
    space = SearchSpace(SpaceConfig(plans=True), PLAN, CYCLE)
    points = space.points()
    assert [point.origin for point in points] == ["as it stands", "from the plan", "prior", "bank"]
    first = space.suggest(optuna.trial.FixedTrial(dict(points[0].params)), fixed=points[0].fixed)
    assert (first.plan, first.encoding) == (PLAN, CYCLE)
    second = space.suggest(optuna.trial.FixedTrial(dict(points[1].params)), fixed=points[1].fixed)
    assert (second.plan, second.encoding.learn) == (PLAN, True)
    third = space.suggest(optuna.trial.FixedTrial(dict(points[2].params)))
    assert [c.period for c in third.plan] == [5, 20, 60, 252]


def test_a_plan_that_is_the_prior_is_not_tried_twice():
    prior = FrequencyPlan.from_periods([5, 20, 60, 252])
    assert [p.origin for p in SearchSpace(SpaceConfig(plans=True), prior, CYCLE).points()] == [
        "as it stands",
        "from the plan",
        "bank",
    ]


def test_spaces_that_search_the_same_are_described_alike_and_others_are_not():
    def said(config, plan=PLAN, errors=None):
        return SearchSpace(config, plan, CYCLE, errors or {}).describe()

    assert said(SpaceConfig()) == said(SpaceConfig())
    moved = FrequencyPlan((Cycle(20.001, origin="detected"), PLAN.cycles[1]))
    others = [
        said(SpaceConfig(guard=0.2)),
        said(SpaceConfig(), moved),
        said(SpaceConfig(), errors={"20 sessions": 0.1}),
        said(SpaceConfig(learn="off")),
    ]
    assert all(other != said(SpaceConfig()) for other in others)


def test_a_width_is_searched_only_where_it_is_given_a_range():
    space = SearchSpace(SpaceConfig(periods="fixed", clock={"truncation": (3, 6)}), PLAN, encoding_config("clock"))
    searched = parameters(space)
    assert "clock.truncation" in searched
    assert "clock.sigma_over_period" not in searched
