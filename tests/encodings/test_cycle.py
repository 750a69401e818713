"""Cycle-RoPE with learned periods."""

import copy
import math

import pytest
import torch

from fints.encodings import TimeAxis, build, effective_periods
from fints.encodings.cycle import LearnedCycles
from fints.plan import Cycle, FrequencyPlan

PLAN = FrequencyPlan.from_periods([Cycle(20, harmonics=(1, 2)), Cycle(7, "calendar"), Cycle(5, strength=3)])
DIM, HEADS = 32, 2
UNIT = 50.0


def made(plan=PLAN, learn=True, **options):
    config = {"kind": "cycle", "share": 0.75, "learn": learn, **({"unit": UNIT} if learn else {}), **options}
    return build(config, dim=DIM, n_heads=HEADS, n_layers=2, plan=plan)


def axis(*places):
    t = torch.tensor([places], dtype=torch.float64)
    return TimeAxis(index=t, session=t, calendar=1.4 * t)


def moved(offsets=(0.3, -0.2, 0.1)):
    encoding = made()
    with torch.no_grad():
        encoding.offset.copy_(torch.tensor(offsets, dtype=torch.float64))
    return encoding


def test_it_starts_as_the_encoding_that_does_not_learn():
    at = axis(12_000.0, 12_017.0, 12_100.0)
    one, other = (made(learn=learn).prepare(at, at).layer(0) for learn in (True, False))
    assert torch.equal(one.q_table, other.q_table)


def test_an_offset_is_a_departure_in_log_period_that_harmonics_share():
    encoding = moved()
    assert [c.period for c in encoding.cycles] == [5, 20, 7]
    for cycle, offset, period in zip(encoding.cycles, (0.3, -0.2, 0.1), encoding.periods().tolist(), strict=True):
        assert period == pytest.approx(
            cycle.period * math.exp(-offset * cycle.period / (2 * math.pi * UNIT)), rel=1e-12
        )
    start, now = made(learn=False).planes, encoding.frequencies(torch.device("cpu")).tolist()
    ratio = {round(p.frequency, 9): f / p.frequency for p, f in zip(start, now, strict=True)}
    assert ratio[round(1 / 20, 9)] == pytest.approx(ratio[round(2 / 20, 9)], rel=1e-12)
    assert [now[i] == start[i].frequency for i in range(3)] == [True, True, False]


def test_gradients_of_the_offsets_are_right():
    encoding, at = moved(), axis(3.0, 18.5, 40.0)

    def waves(offset):
        state = {"offset": offset}
        return torch.func.functional_call(_Turns(encoding), {f"encoding.{k}": v for k, v in state.items()}, (at,))

    assert torch.autograd.gradcheck(waves, (encoding.offset.detach().clone().requires_grad_(),))


class _Turns(torch.nn.Module):
    def __init__(self, encoding):
        super().__init__()
        self.encoding = encoding

    def forward(self, at):
        return torch.cos(2 * math.pi * self.encoding.turns(at))


@pytest.mark.parametrize("distance", [1.0, UNIT, 3 * UNIT])
def test_a_phase_between_two_places_moves_by_their_distance_in_units(distance):
    """So the gradient is of size 1 within a window, for every period, wherever the window lies."""
    encoding = made(FrequencyPlan.from_periods([Cycle(20, harmonics=(1, 3)), Cycle(250)]))
    turns = encoding.turns(axis(12_345.0, 12_345.0 + distance))[0]
    phase = 2 * math.pi * (turns[1] - turns[0])
    for plane, cycle in enumerate(encoding._cycle_of):
        if cycle == len(encoding.cycles):
            continue
        harmonic = round(encoding.planes[plane].frequency * encoding.cycles[cycle].period)
        (gradient,) = torch.autograd.grad(phase[plane], encoding.offset, retain_graph=True)
        expected = torch.zeros(2, dtype=torch.float64)
        expected[cycle] = harmonic * distance / UNIT
        assert torch.allclose(gradient, expected, rtol=1e-6)


def test_scores_teach_the_offsets_of_every_cycle():
    encoding, at = made(), axis(1.0, 9.0, 30.0)
    q, k = (torch.randn(2, HEADS, 3, DIM // HEADS, generator=torch.Generator().manual_seed(i)) for i in range(2))
    q, k = encoding.prepare(at, at).layer(1).rotate(q, k)
    (q @ k.mT).square().sum().backward()
    assert (encoding.offset.grad.abs() > 1e-3).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_a_cast_leaves_the_offsets_exact(dtype):
    holder = torch.nn.ModuleList([moved()]).to(dtype)
    encoding = holder[0]
    assert encoding.offset.dtype == torch.float64
    assert torch.equal(encoding.offset, moved().offset)
    at = axis(30_000.0, 30_001.0)
    assert torch.equal(encoding.prepare(at, at).layer(0).q_table, moved().prepare(at, at).layer(0).q_table)


def test_a_state_goes_round_and_a_copy_learns_by_itself():
    encoding, fresh = moved(), made()
    fresh.load_state_dict(encoding.state_dict())
    assert torch.equal(fresh.offset, encoding.offset)
    other = copy.deepcopy(encoding)
    with torch.no_grad():
        other.offset.add_(1.0)
    assert torch.equal(encoding.offset, moved().offset)
    assert not torch.equal(other.periods(), encoding.periods())
    other.reset_parameters()
    assert other.periods().tolist() == [5, 20, 7]


def test_it_traces_into_one_graph():
    encoding, at = moved(), axis(1.0, 9.0, 30.0)
    q, k = (torch.randn(1, HEADS, 3, DIM // HEADS) for _ in range(2))

    def scores(q, k):
        q, k = encoding.prepare(at, at).layer(0).rotate(q, k)
        return q @ k.mT

    compiled = torch.compile(scores, fullgraph=True, backend="eager")
    assert torch.allclose(compiled(q, k), scores(q, k), atol=1e-5)


def test_its_periods_are_told_by_name():
    encoding = moved()
    assert isinstance(encoding, LearnedCycles)
    assert effective_periods(encoding) == {"offset": tuple(encoding.periods().tolist())}
