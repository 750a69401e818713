import numpy as np
import pytest
import torch

from fints.encodings import build
from fints.encodings.base import TimeAxis
from fints.studies.several_periods.arms import ALONE, ARMS, CYCLE, FEATURE, HEAD, MIXTURE, SHARE, WAYS, told
from fints.studies.several_periods.study import SAMPLE, SCOPES, SINES
from tests.studies.several_periods.planes import planes_for_cycles

ARM = {arm.name: arm for arm in ARMS}
TASKS = {task.name: task for block in SCOPES["full"].blocks for task in block.tasks}


def built(name, task, seed=0):
    net, arm = task.recipe.network, ARM[name]
    return build(
        arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=arm.plan_for(task, 0), seed=seed
    )


def is_line_of(plane, period):
    return abs(plane.frequency * period - round(plane.frequency * period)) < 1e-6


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_as_many_planes_to_the_cycles_on_their_clock(way, task):
    net = task.recipe.network
    layers = planes_for_cycles(built(way, task))
    assert [len(head) for layer in layers for head in layer] == [net.dim // net.n_heads // 4] * net.n_heads * 2
    assert {p.clock for layer in layers for head in layer for p in head} == {told(task).cycles[0].clock}
    assert (task is SAMPLE) == (told(task).cycles[0].clock == "calendar")


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_splits_hold_every_period_and_one_period_alone_is_the_shortest(task):
    periods = [cycle.period for cycle in told(task).cycles]
    count = planes_for_cycles(built(FEATURE, task))[0][0]
    per = len(count) // len(periods)
    for layer in planes_for_cycles(built(FEATURE, task)):
        for head in layer:
            for i, period in enumerate(periods):
                assert all(is_line_of(plane, period) for plane in head[i * per : (i + 1) * per])
    for layer in planes_for_cycles(built(HEAD, task)):
        for head, period in zip(layer, periods, strict=True):
            assert all(is_line_of(plane, period) for plane in head)
    assert all(
        is_line_of(plane, min(periods))
        for layer in planes_for_cycles(built(ALONE, task))
        for head in layer
        for plane in head
    )


@pytest.mark.parametrize("task", SINES, ids=[task.name for task in SINES])
@pytest.mark.parametrize("way", WAYS)
def test_the_planes_left_to_rope_turn_alike_in_every_way(way, task):
    net = task.recipe.network
    at = TimeAxis(index=torch.arange(6)[None], session=torch.zeros(1, 6, dtype=torch.float64))
    head_dim = net.dim // net.n_heads
    ones = torch.ones(1, net.n_heads, 6, head_dim)
    turned = built(way, task).prepare(at, at).layers[0].rotate(ones, ones)[0]
    n = head_dim - 2 * round(SHARE * head_dim // 2)
    alike = built(MIXTURE, task).prepare(at, at).layers[0].rotate(ones, ones)[0]
    assert torch.allclose(turned[..., :n], alike[..., :n], atol=1e-5)


def test_the_reference_holds_every_period_as_a_line():
    for task in TASKS.values():
        frequencies = [plane.frequency for plane in built(CYCLE, task).planes if plane.clock != "index"]
        for cycle in told(task).cycles:
            assert np.min(np.abs(np.array(frequencies) - 1 / cycle.period)) < 1e-12
