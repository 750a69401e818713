import math

import pytest

from fints.encodings import encoding_config
from fints.plan import Cycle, FrequencyPlan
from fints.tuning import Candidate, SearchSpace, SpaceConfig, TrialSummary
from fints.tuning.warmth import warm_points

CYCLE = encoding_config("cycle")


def trial(number, value, periods, **params):
    plan = FrequencyPlan(tuple(Cycle(period, clock) for period, clock in periods))
    return TrialSummary(number, "complete", value, 1.0, params, candidate=Candidate(plan, CYCLE))


def test_periods_are_carried_over_to_anchors_that_have_moved():
    space = SearchSpace(SpaceConfig(), FrequencyPlan((Cycle(21.0), Cycle(7.0, "calendar"))), CYCLE)
    old = trial(0, 1.0, [(20.0, "session"), (7.1, "calendar"), (60.0, "session")], **{"delta[20 sessions]": 0.3})
    (point,) = warm_points(space, [old])
    assert point.params == {
        "delta[21 sessions]": pytest.approx(math.log(20 / 21)),
        "delta[7 days]": pytest.approx(math.log(7.1 / 7)),
    }


def test_a_cycle_that_has_no_period_near_is_drawn():
    space = SearchSpace(SpaceConfig(guard=0.1), FrequencyPlan((Cycle(30.0),)), CYCLE)
    (point,) = warm_points(space, [trial(0, 1.0, [(20.0, "session")])])
    assert point.params == {}


def test_the_best_come_first_and_other_parameters_with_them():
    space = SearchSpace(SpaceConfig(periods="fixed"), FrequencyPlan((Cycle(20.0),)), CYCLE)
    old = [trial(n, value, [(20.0, "session")], share=value) for n, value in enumerate((3.0, 1.0, 2.0))]
    points = warm_points(space, old, most=2)
    assert [(p.origin, p.params) for p in points] == [
        ("warm start 1", {"share": 1.0}),
        ("warm start 2", {"share": 2.0}),
    ]
