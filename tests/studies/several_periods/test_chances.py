import numpy as np
import pytest

from fints.encodings import build
from fints.errors import ConfigError
from fints.studies.several_periods.arms import FEATURE, HEAD, MIXTURE, WAYS, told
from fints.studies.several_periods.chances import Chances, fundamental
from fints.studies.several_periods.study import ARMS, THREE_BROKEN, TWO_BROKEN
from tests.studies.several_periods.planes import planes_for_cycles

TASKS = (TWO_BROKEN, THREE_BROKEN)


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
@pytest.mark.parametrize("way", WAYS)
def test_the_chance_is_that_of_what_is_built(way, task):
    net = task.recipe.network
    (arm,) = [arm for arm in ARMS if arm.name == way]
    period, plan = told(task).cycles[-1].period, arm.plan_for(task, 0)
    missing = []
    for seed in range(150):
        encoding = build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=2, plan=plan, seed=1000 * seed)
        layers = planes_for_cycles(encoding)
        missing += [not any(np.isclose(p.frequency, 1 / period) for head in layer for p in head) for layer in layers]
    chance = Chances.of(net, len(told(task).cycles)).without(way)
    assert np.mean(missing) == pytest.approx(chance, abs=4 * np.sqrt(chance / len(missing)))


def test_a_mixture_leaves_a_period_out_more_often_than_a_split_and_many_planes_mend_it():
    few, many = Chances(2, 4, 2), Chances(8, 16, 2)
    assert few.without(MIXTURE) > few.without(FEATURE) == few.without(HEAD)
    assert max(many.without(way) for way in WAYS) < 1e-4


def test_the_law_draws_the_fundamental_in_a_third_of_cases():
    assert fundamental() == pytest.approx(0.364, abs=1e-3)


def test_an_arm_that_shares_nothing_out_is_refused():
    with pytest.raises(ConfigError, match="'cycle' shares no planes out"):
        Chances(2, 4, 2).without("cycle")
