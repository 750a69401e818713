import math

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial

from fints.tuning.quiet import quiet
from fints.tuning.refinement import Cell, Refinement

ONE = Refinement({"c": Cell(20.0, 0.35, 0.02)})
WIDE = FloatDistribution(-0.35, 0.35)


def trial(number, deltas, value, *, end=None, fixed=True, state=TrialState.COMPLETE, **attrs):
    found = create_trial(
        state=state,
        params={f"delta[{name}]": delta for name, delta in deltas.items()},
        distributions={f"delta[{name}]": WIDE for name in deltas},
        value=value,
        user_attrs={"fixed": fixed, "end": end or {n: 20 * math.exp(d) for n, d in deltas.items()}, **attrs},
    )
    found.number = number
    return found


def test_the_first_point_is_where_training_left_the_best_trial_and_not_where_it_began():
    done = [trial(0, {"c": 0.1}, 2.0, fixed=False), trial(1, {"c": -0.2}, 1.0, fixed=False, end={"c": 18.0})]
    found = ONE.propose(done, seed=0)
    assert found["delta[c]"] == pytest.approx(math.log(18 / 20), abs=0.01 * 0.02)


def test_then_come_points_on_both_sides_within_the_half_width():
    done = [trial(0, {"c": 0.05}, 1.0)]
    for number in (1, 2):
        delta = ONE.propose(done, seed=number)["delta[c]"]
        done.append(trial(number, {"c": delta}, 2.0))
    sides = sorted(each.params["delta[c]"] - 0.05 for each in done[1:])
    assert sides == [pytest.approx(-0.01, abs=3e-4), pytest.approx(0.01, abs=3e-4)]


def test_two_workers_that_ask_at_once_get_different_points():
    done = [trial(0, {"c": 0.05}, 1.0)]
    assert ONE.propose(done, seed=1) != ONE.propose(done, seed=2)


def test_pruned_trials_are_no_place_to_start_from():
    done = [trial(0, {"c": 0.1}, 0.1, pruned=True), trial(1, {"c": -0.1}, 1.0)]
    assert ONE.propose(done, seed=0)["delta[c]"] < 0


def test_without_a_finished_trial_there_is_nothing_to_refine():
    assert ONE.propose([], seed=0) is None
    assert ONE.propose([trial(0, {"c": 0.1}, None, state=TrialState.RUNNING)], seed=0) is None


def test_what_else_is_searched_is_kept_as_the_best_trial_had_it_without_learning():
    best = trial(0, {"c": 0.1}, 1.0)
    best.params |= {"share": 0.4, "learn": True}
    assert ONE.propose([best], seed=0) | {"delta[c]": 0} == {"delta[c]": 0, "share": 0.4, "learn": False}


def test_a_period_stays_within_its_search():
    narrow = Refinement({"c": Cell(20.0, 0.03, 0.03)})
    best = trial(0, {"c": 0.03}, 1.0, end={"c": 25.0})
    for seed in range(5):
        assert abs(narrow.propose([best], seed)["delta[c]"]) <= 0.03


@pytest.mark.parametrize("truth", [{"c": 0.0137}, {"c": 0.0137, "d": -0.021}], ids=["one", "two"])
def test_a_smooth_valley_is_resolved_to_a_small_part_of_its_width(truth):
    refinement = Refinement({name: Cell(20.0, 0.35, 0.03) for name in truth})
    done = [trial(0, dict.fromkeys(truth, 0.0), 5.0, fixed=False)]
    with quiet():
        for number in range(1, 16 * len(truth)):
            found = refinement.propose(done, seed=number)
            deltas = {name: found[f"delta[{name}]"] for name in truth}
            value = sum(((deltas[n] - truth[n]) / 0.02) ** 2 for n in truth)
            done.append(trial(number, deltas, value))
    best = min(done, key=lambda each: each.value)
    assert all(abs(best.params[f"delta[{name}]"] - truth[name]) < 0.03 / 20 for name in truth)


def test_running_trials_are_passed_over_where_the_next_point_is_sought():
    done = [trial(i, {"c": d}, (d - 0.01) ** 2) for i, d in enumerate((0.0, 0.005, -0.004, 0.012))]
    with quiet():
        alone = ONE.propose(done, seed=3)["delta[c]"]
        running = trial(9, {"c": alone}, None, state=TrialState.RUNNING)
        beside = ONE.propose([*done, running], seed=3)["delta[c]"]
    assert beside != alone
    assert optuna.logging.get_verbosity() != optuna.logging.CRITICAL
