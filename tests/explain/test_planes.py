import numpy as np
import pytest
import torch

from fints.encodings import TimeAxis, build
from fints.explain.planes import count_planes, held_still
from fints.plan import Cycle, FrequencyPlan

WEEK, MONTH = Cycle(7.0, "calendar", (1, 2)), Cycle(20.0)
PLAN = FrequencyPlan((WEEK, MONTH))
CYCLES = PLAN.cycles
MIXTURE = {"kind": "clock", "mixture": True, "sigma_over_period": 1 / 12}
HALVES = [{"share": 0.5, "encoding": "rope"}, {"share": 0.5, "encoding": {"kind": "cycle", "share": 1.0}}]
TURNING = [
    "cycle",
    {"kind": "cycle", "learn": True},
    MIXTURE,
    {
        "kind": "clock",
        "mixture": True,
        "law": "cosine-fold",
        "learn": True,
    },  # of the other laws, some planes are at rest
    {"kind": "split", "by": "feature", "parts": HALVES},
    {"kind": "split", "by": "head", "parts": HALVES},
    {"kind": "sum", "parts": ["alibi", "cycle"]},
]


def axis(first, count, week=0.0):
    """Places that can be moved along the calendar clock alone."""
    t = torch.arange(first, first + count, dtype=torch.float64)[None]
    return TimeAxis(index=t, session=t + 100, calendar=1.3 * t + week, seconds=t * 86_400)


def made(encoding):
    torch.manual_seed(0)
    built = build(encoding, dim=32, n_heads=2, n_layers=2, plan=PLAN)
    with torch.no_grad():
        for parameter in built.frequency_parameters():
            parameter.add_(0.05)  # as if it had been learned
    return built


def scores(encoding, q_at, k_at):
    q = torch.randn(1, 2, 6, 16, generator=torch.Generator().manual_seed(1))
    k = torch.randn(1, 2, 9, 16, generator=torch.Generator().manual_seed(2))
    terms = encoding.prepare(q_at, k_at)
    turned = [terms.layer(i).rotate(q, k) for i in range(2)]
    return torch.stack([a @ b.mT for a, b in turned])


@pytest.mark.parametrize("encoding", TURNING, ids=str)
def test_a_still_cycle_no_longer_sees_its_clock_and_the_others_are_as_they_were(encoding):
    built, asked, moved = made(encoding), axis(30, 6), axis(30, 6, week=1.0)
    known = axis(0, 9)
    assert count_planes(built, WEEK, CYCLES) > 0
    assert (scores(built, asked, known) - scores(built, moved, known)).abs().max() > 0.01
    still = held_still(built, (WEEK,), CYCLES)
    assert torch.equal(scores(still, asked, known), scores(still, moved, known))
    both = held_still(built, (MONTH, WEEK), CYCLES)
    assert (scores(still, asked, known) - scores(both, asked, known)).abs().max() > 0.01


@pytest.mark.parametrize("encoding", TURNING, ids=str)
def test_with_nothing_held_still_it_is_the_same_encoding(encoding):
    built = made(encoding)
    same = held_still(built, (), CYCLES)
    assert torch.equal(scores(built, axis(30, 6), axis(0, 9)), scores(same, axis(30, 6), axis(0, 9)))
    assert same.built == built.built


def test_every_plane_of_a_plan_is_counted_once():
    built = made("cycle")
    assert sum(count_planes(built, cycle, CYCLES) for cycle in CYCLES) == 4


def test_a_plane_that_turns_with_two_cycles_belongs_to_the_faster():
    fast, slow = Cycle(5.0), Cycle(10.0)
    plan = FrequencyPlan((fast, Cycle(10.0, harmonics=(1, 2))))
    built = build("cycle", dim=32, n_heads=2, n_layers=1, plan=plan)
    counted = [count_planes(built, cycle, plan.cycles) for cycle in plan.cycles]
    assert counted == [3, 1]
    assert slow.period == 2 * fast.period


@pytest.mark.parametrize("encoding", ["none", "rope", "alibi", "t_rope", "time_rab"])
def test_an_encoding_without_planes_for_cycles_is_left_alone(encoding):
    built = made(encoding)
    assert [count_planes(built, cycle, CYCLES) for cycle in CYCLES] == [0, 0]
    assert held_still(built, CYCLES, CYCLES) is built


def test_input_features_of_a_still_cycle_are_zero():
    built = made("fourier_features")
    assert count_planes(built, WEEK, CYCLES) == 2
    still = held_still(built, (WEEK,), CYCLES)
    x = torch.zeros(1, 6, 32)
    with torch.no_grad():
        before, moved = built.embed(x, axis(30, 6)), built.embed(x, axis(30, 6, week=1.0))
        after, after_moved = still.embed(x, axis(30, 6)), still.embed(x, axis(30, 6, week=1.0))
    assert (before - moved).abs().max() > 0.01
    assert torch.equal(after, after_moved)
    assert after.abs().max() > 0.01
    assert np.isfinite(after.numpy()).all()
