import pytest
import torch

from fints.encodings import TimeAxis, build
from fints.studies.transposed_key import transposed_key
from fints.studies.transposed_key.sign import SignTrial
from fints.studies.transposed_key.study import ARMS, PAIRS, SCOPES, THREE
from fints.studies.transposed_key.verdicts import SEPARATE, SHARED, SHARED_TRANSPOSED, STANDARD

FULL = SCOPES["full"].blocks
TASKS = {task.name: task for block in FULL for task in block.tasks}
DAY = 86_400.0


def score(name, q_place, k_place):
    (arm,) = (arm for arm in ARMS if arm.name == name)
    encoding = build(arm.config(TASKS["two"]), dim=32, n_heads=2, n_layers=1, seed=3)
    drawn = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, 2, 1, 16, generator=drawn, dtype=torch.float64) for _ in range(2))
    at = [TimeAxis(seconds=torch.tensor([[place * DAY]], dtype=torch.float64)) for place in (q_place, k_place)]
    q, k = encoding.prepare(*at).layer(0).rotate(q, k)
    return (q * k).sum(-1)


@pytest.mark.parametrize(
    ("name", "distance", "total"),
    [(SEPARATE, False, False), (STANDARD, False, False), (SHARED, True, False), (SHARED_TRANSPOSED, False, True)],
)
def test_scores_of_an_arm_depend_on_what_its_family_says(name, distance, total):
    base, later, apart = score(name, 900, 800), score(name, 1_000, 900), score(name, 1_000, 700)
    assert torch.allclose(base, later, atol=1e-5) == distance
    assert torch.allclose(base, apart, atol=1e-5) == total


@pytest.mark.parametrize("arm", ARMS, ids=[arm.name for arm in ARMS])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_arm_can_be_built_on_every_task(arm, task):
    net = task.recipe.network
    build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=arm.plan_for(task, 0))


def test_pairs_and_blocks_name_arms_of_the_study():
    names = {arm.name for arm in ARMS}
    assert {name for pair in PAIRS for name in (pair.first, pair.second)} == names
    assert {arm.name for arm in THREE} == {SEPARATE, STANDARD, SHARED}


def test_ordinary_first_weights_are_tried_with_ten_seeds_or_more_and_opposite_signs_with_several():
    for scope in SCOPES.values():
        assert all(block.seeds >= 10 for block in scope.blocks if [mode.name for mode in block.modes] == ["bare"])
        assert len({unit.seed for unit in scope.extra if isinstance(unit, SignTrial)}) >= 3
    assert transposed_key().name == "transposed-key"
