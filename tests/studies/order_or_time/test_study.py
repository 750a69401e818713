import dataclasses

import numpy as np
import pytest

from fints.encodings import build
from fints.studies.comparison import BARE, WHOLE, ArmTrial, Recipe, Results, Shape
from fints.studies.order_or_time import order_or_time
from fints.studies.order_or_time.study import ARMS, BESIDE, BOTH, EVEN, ORDER, PAIRS, SAMPLE, TIME
from fints.studies.order_or_time.verdicts import verdict
from fints.transformer import NetworkConfig, TrainingConfig

TASKS = (EVEN, ORDER, TIME, BOTH, SAMPLE)


@pytest.mark.parametrize("arm", ARMS, ids=[arm.name for arm in ARMS])
@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_every_arm_builds_on_every_task(arm, task):
    net = task.recipe.network
    plan = arm.plan_for(task, 0)
    built = build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=plan, seed=0)
    assert built.n_layers == net.n_layers


def test_quick_asks_for_less_of_the_same():
    scopes = order_or_time().scopes
    full = [block for block in scopes["full"].blocks if block.modes == (BARE,)]
    for block in scopes["quick"].blocks:
        assert any(set(block.tasks) <= set(other.tasks) and set(block.arms) <= set(other.arms) for other in full)
    assert all(block.seeds >= 5 for scope in scopes.values() for block in scope.blocks)


def test_t_rope_beside_order_can_be_trained():
    moment = dataclasses.replace(
        TIME,
        shape=Shape(trained=60, total=100, input_size=24, h=4, horizon=8),
        recipe=Recipe(NetworkConfig(dim=16, n_layers=1, n_heads=2, dropout=0.0), TrainingConfig(max_steps=2)),
    )
    result = ArmTrial.of(BESIDE, moment, BARE, 0).run()
    assert len(result["squared"]) == 8
    assert "parts.0.query.offset" in result["learned"]


def made(levels, modes=(BARE,), spread=0.01, seeds=8):
    """Errors by arm (1 unless said), on order and time."""
    luck, units = np.exp(spread * np.random.default_rng(0).standard_normal(seeds)), {}
    for task in (ORDER, TIME):
        for mode in modes:
            for number, arm in enumerate(ARMS):
                level = levels.get((task.name, arm.name), levels.get(arm.name, 1.0))
                made_of = [level * one for one in np.roll(luck, number)]  # no difference on average
                units[task.name, mode.name, arm.name] = [
                    {"squared": [float(error) ** 2] * task.shape.horizon, "learned": {}, "seconds": 1.0}
                    for error in made_of
                ]
    named = {arm.name: arm for arm in ARMS}
    return Results("full", named, {t.name: t for t in (ORDER, TIME)}, {m.name: m for m in modes}, units, PAIRS)


def test_losses_against_both_rivals_are_said_with_where():
    rope, to_rope, clocks, *rest = verdict(made({"t_rope": 2.0, "t_rope + rope": 2.0}))
    assert rope.startswith("Against index RoPE T-RoPE wins nowhere and loses on order within (t_rope: ")
    assert to_rope.startswith("Against TO-RoPE T-RoPE wins nowhere and loses")
    assert "8 comparisons" in to_rope
    assert "no difference on order within" in clocks
    assert len(rest) == 12


def test_wins_and_mixed_results_are_told_apart():
    assert "wins on order within" in verdict(made({"t_rope": 0.5, "t_rope + rope": 0.5}))[0]
    mixed = verdict(made({("order", "t_rope"): 0.5, ("time", "t_rope"): 2.0}))[0]
    assert "wins on order within" in mixed
    assert "and loses on time within" in mixed


def test_where_nothing_can_be_shown_the_seeds_are_named():
    assert "would need" in verdict(made({}, spread=0.5))[0]
    assert "all are equal" in verdict(made({}, spread=0.001))[0]


def test_time_beside_order_helps_where_it_does():
    said = verdict(made({("time", "to_rope, planes"): 0.5}))
    assert any("it helps on time within" in sentence and "no difference on order" in sentence for sentence in said)


def test_what_covariates_leave_is_said_apart():
    said = verdict(made({}, modes=(BARE, WHOLE), spread=0.001))
    assert any(s.startswith("With calendar covariates and the linear start none of 20") for s in said)
    differing = verdict(made({"t_rope": 2.0}, modes=(BARE, WHOLE), spread=0.001))
    assert any(s.startswith("With calendar covariates and the linear start 8 of 20") for s in differing)
