"""Laws of the rotary encodings, in float64 on real times."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fints.encodings import ENCODINGS, TimeAxis, build
from fints.encodings.kinds import AddedEncoding
from fints.plan import Cycle, FrequencyPlan

DIM, HEADS = 32, 2
PLAN = FrequencyPlan.from_periods([5, Cycle(7, "calendar"), 62.5])
ROTARY = ["rope", {"kind": "rope", "clock": "session"}, "cycle", {"kind": "cycle", "share": 1.0}]
PLACES = st.floats(-20_000, 40_000)


def made(encoding, plan=PLAN):
    return build(encoding, dim=DIM, n_heads=HEADS, n_layers=1, plan=plan)


def axis(*places):
    """Put the same places on every clock; seconds as Unix time."""
    t = torch.tensor([places], dtype=torch.float64)
    return TimeAxis(index=t, session=t, calendar=t, seconds=t * 86_400)


def vectors(seed=0, n=1):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(1, HEADS, n, DIM // HEADS, generator=g, dtype=torch.float64)


def score(encoding, q_place, k_place, seed=0):
    q, k = vectors(seed), vectors(seed + 1)
    q, k = made(encoding).prepare(axis(q_place), axis(k_place)).layer(0).rotate(q, k)
    return (q * k).sum(-1)


@pytest.mark.parametrize("encoding", ROTARY)
@given(place=PLACES)
def test_a_rotation_keeps_the_norm(encoding, place):
    q, _ = made(encoding).prepare(axis(place), axis(0.0)).layer(0).rotate(vectors(), vectors(1))
    assert torch.allclose(q.norm(dim=-1), vectors().norm(dim=-1), rtol=1e-6)


@pytest.mark.parametrize("encoding", ROTARY)
def test_place_zero_changes_nothing(encoding):
    q, k = made(encoding).prepare(axis(0.0), axis(0.0)).layer(0).rotate(vectors(), vectors(1))
    assert torch.equal(q, vectors())
    assert torch.equal(k, vectors(1))


@pytest.mark.parametrize("encoding", ROTARY)
@given(one=PLACES, other=PLACES, shift=st.integers(-10_000, 10_000))
def test_scores_depend_on_distance_only(encoding, one, other, shift):
    assert torch.allclose(score(encoding, one, other), score(encoding, one + shift, other + shift), atol=2e-5)


@pytest.mark.parametrize(("cycle", "clock"), [(Cycle(5), "session"), (Cycle(7, "calendar"), "calendar")])
@given(place=st.integers(0, 20_000), turns=st.integers(-50, 50))
def test_places_a_period_apart_are_the_same_to_a_cycle(cycle, clock, place, turns):
    encoding, plan = {"kind": "cycle", "share": 1.0}, FrequencyPlan((cycle,))
    elsewhere = {"index": 0.0, "session": 0.0, "calendar": 0.0}

    def rotated(at):
        places = {**elsewhere, clock: float(at)}
        q_at = TimeAxis(**{k: torch.tensor([[v]], dtype=torch.float64) for k, v in places.items()})
        return made(encoding, plan).prepare(q_at, axis(0.0)).layer(0).rotate(vectors(), vectors(1))[0]

    assert torch.allclose(rotated(place), rotated(place + turns * cycle.period), atol=1e-6)


def test_the_cycle_takes_the_slow_planes_and_leaves_the_fast_ones_alone():
    rope, cycle = made("rope").planes, made("cycle").planes
    assert len(cycle) == len(rope) == 8
    assert cycle[:4] == rope[:4]
    assert {p.clock for p in cycle[4:]} == {"session", "calendar"}
    assert {round(1 / p.frequency, 6) for p in cycle[4:]} == {5, 7, 62.5}


def test_rope_agrees_with_a_naive_formula():
    t, d = 137.0, DIM // HEADS
    q, _ = made("rope").prepare(axis(t), axis(0.0)).layer(0).rotate(vectors(), vectors(1))
    expected = vectors().clone()
    for j in range(d // 2):
        phi = t * 10_000 ** (-2 * j / d)
        x, y = vectors()[..., 2 * j], vectors()[..., 2 * j + 1]
        expected[..., 2 * j] = x * math.cos(phi) - y * math.sin(phi)
        expected[..., 2 * j + 1] = x * math.sin(phi) + y * math.cos(phi)
    assert torch.allclose(q, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("year", [1970, 1999, 2026, 2099])
def test_a_cast_module_still_knows_the_time_of_day(dtype, year):
    plan = FrequencyPlan.from_periods([Cycle(1.0, "calendar")])
    encoding = made({"kind": "cycle", "share": 1.0}, plan).to(dtype)
    day = (year - 1970) * 365.25
    at = axis(math.floor(day) + 0.25)
    table = encoding.prepare(at, at).layer(0).q_table
    assert torch.allclose(torch.view_as_real(table), torch.tensor([0.0, 1.0]), atol=1e-6)
    q, k = encoding.prepare(at, at).layer(0).rotate(vectors().to(dtype), vectors(1).to(dtype))
    assert q.dtype == k.dtype == dtype


@pytest.mark.parametrize("encoding", ROTARY)
def test_the_order_of_calls_does_not_matter(encoding):
    enc = made(encoding)
    first = enc.prepare(axis(3.0), axis(1.0)).layer(0).rotate(vectors(), vectors(1))[0]
    enc.prepare(axis(7e4), axis(-7e4))
    assert torch.equal(first, enc.prepare(axis(3.0), axis(1.0)).layer(0).rotate(vectors(), vectors(1))[0])


@pytest.mark.parametrize("encoding", ROTARY)
def test_one_query_gets_what_the_full_pass_gives_it(encoding):
    places = [1.0, 2.0, 5.0, 9.0]
    q, k = vectors(0, 4), vectors(1, 4)
    enc = made(encoding)
    full, _ = enc.prepare(axis(*places), axis(*places)).layer(0).rotate(q, k)
    one, _ = enc.prepare(axis(places[-1]), axis(*places)).layer(0).rotate(q[:, :, -1:], k)
    assert torch.equal(full[:, :, -1:], one)


@pytest.mark.parametrize("encoding", ROTARY)
def test_the_compiled_form_gives_the_same(encoding, monkeypatch):
    at = axis(1.0, 17.25, 300.0)
    q, k = vectors(0, 3), vectors(1, 3)
    layer = made(encoding).prepare(at, at).layer(0)
    eager = layer.rotate(q, k)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    compiled = layer.rotate(q, k)
    assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(eager, compiled, strict=True))


@pytest.mark.parametrize("kind", sorted(ENCODINGS))
def test_no_encoding_changes_what_it_is_given(kind):
    q, k, at = vectors(0, 3), vectors(1, 3), axis(1.0, 2.0, 3.0)
    before = q.clone(), k.clone()
    enc = made(kind)
    enc.prepare(at, at).layer(0).rotate(q, k)
    x = torch.ones(1, 3, DIM)
    assert isinstance(enc, AddedEncoding) or torch.equal(enc.embed(x, at), x)
    assert torch.equal(x, torch.ones(1, 3, DIM))
    assert torch.equal(q, before[0])
    assert torch.equal(k, before[1])
