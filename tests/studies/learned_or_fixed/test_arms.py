import numpy as np
import pytest

from fints.encodings import build, effective_periods
from fints.studies.learned_or_fixed.arms import (
    BANK,
    BANK_FAST,
    BY_NAME,
    ERROR,
    FAST,
    FIXED,
    FURTHER,
    MAIN,
    PRIOR,
    RANDOM,
    RANDOM_FAST,
    T_ROPE,
    WRONG,
    ZERO_FAST,
    clock_of,
    told,
    told_wrong,
)
from fints.studies.learned_or_fixed.moves import folded
from fints.studies.learned_or_fixed.study import SCOPES

TASKS = {task.name: task for block in SCOPES["full"].blocks for task in block.tasks}


def built(name, task, seed=0):
    arm, net = BY_NAME[name], task.recipe.network
    plan = arm.plan_for(task, seed)
    return build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=plan, seed=seed)


def starts(name, task):
    return np.concatenate([1 / np.array(periods) for periods in effective_periods(built(name, task)).values()])


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_arm_can_be_built_on_every_task(name, task):
    assert bool(effective_periods(built(name, task))) == ("learned" in name or name == T_ROPE)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_planes_start_where_their_arm_says(task):
    lines = np.array([k / cycle.period for cycle in told(task, 0).cycles for k in range(7)])
    for name in (PRIOR, FAST):
        assert np.abs(starts(name, task)[:, None] - lines).min(axis=1).max() < 1e-9
    assert starts(ZERO_FAST, task).max() < 1e-8
    spread = starts(RANDOM_FAST, task)
    assert 0.02 < np.median(spread) < 0.2
    assert len(set(spread)) == len(spread)


def test_a_bank_starts_as_its_fixed_twin_and_turns_queries_as_keys():
    task = TASKS["two"]
    kept, learned = built(BANK, task), built(BANK_FAST, task)
    assert kept.key is kept.query
    np.testing.assert_array_equal(kept.query.alpha(), learned.query.alpha().detach())
    assert not learned.config.non_stationary


@pytest.mark.parametrize("name", [FIXED, RANDOM])
def test_an_arm_and_its_learned_twin_start_alike(name):
    task, twin = TASKS["two"], {FIXED: PRIOR, RANDOM: RANDOM_FAST}[name]
    assert built(name, task).planes == built(twin, task).planes


def test_all_that_draw_give_as_many_planes_to_it():
    counts = {name: len(starts(name, TASKS["two"])) for name in (PRIOR, FAST, ZERO_FAST, RANDOM_FAST)}
    assert set(counts.values()) == {16}


def test_wrong_periods_are_all_too_long_by_the_same_share():
    task = TASKS["two"]
    right, wrong = told(task, 0), told_wrong(task, 0)
    assert [c.period for c in wrong.cycles] == pytest.approx([ERROR * c.period for c in right.cycles])
    assert BY_NAME[WRONG].plan_for(task, 0) == wrong


def test_real_bars_have_their_cycles_on_the_calendar():
    assert {name: clock_of(task) for name, task in TASKS.items()} == {
        "two": "session",
        "routine": "session",
        "sample": "calendar",
    }
    assert told(TASKS["sample"], 0).cycles[0].period == 7


def test_whole_turns_and_signs_are_nothing_to_bars_a_day_apart():
    np.testing.assert_allclose(folded(np.array([0.2, -0.2, 1.2, 0.8, 7.0])), [0.2, 0.2, 0.2, 0.2, 0.0], atol=1e-12)


def test_arms_of_both_budgets_have_names_of_their_own():
    assert len(BY_NAME) == len(MAIN) + len(FURTHER)
