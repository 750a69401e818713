"""Laws of every encoding that attention sees, in float64, at the bars of real sessions."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import ENCODINGS, TimeAxis, build
from fints.encodings.combine import adds_bias, rotates
from fints.plan import Cycle, FrequencyPlan
from tests.encodings.conftest import (
    ATTENDING,
    CASES,
    CLOCKS,
    DAY,
    HEADS,
    LAYERS,
    PLAN,
    STRETCHES,
    WIDTH,
    half,
    logits,
    made,
    moved,
    some,
    unit_vectors,
    window,
)

EXACT = {"rtol": 0, "atol": 1e-10}
FADING = {case for case in CASES if "xpos" in case}
DATED = {"t_rope", "t_rope from the plan", "time_rab + t_rope"}
LEARNED = [case for case in CASES if any(True for _ in made(case).parameters())]
TURNING = [case for case in ATTENDING if rotates(made(case))]
# A key's rotation depends on its own place alone.
ALONE = [case for case in TURNING if case not in FADING and "rote" not in case]
NAMES = st.sampled_from(sorted(STRETCHES))
SHIFTS = st.fixed_dictionaries(
    {
        "index": st.integers(-300, 300),
        "session": st.integers(-2_000, 5_000),
        "calendar": st.integers(-3_000, 7_000),
        "seconds": st.integers(-10_000 * DAY, 25_000 * DAY),
    }
)

pytestmark = pytest.mark.usefixtures("float64")


def zero():
    return TimeAxis(**{clock: torch.zeros(1, 1, dtype=torch.float64) for clock in CLOCKS})


def turned(encoding, q_at, k_at):
    q, k = unit_vectors(0, q_at.index.shape[1]), unit_vectors(1, k_at.index.shape[1])
    return encoding.prepare(q_at, k_at).layer(LAYERS - 1).rotate(q, k)


def scored(encoding, q_at, k_at):
    q, k = unit_vectors(0, q_at.index.shape[1]), unit_vectors(1, k_at.index.shape[1])
    return logits(encoding, q_at, k_at, q, k)


@pytest.mark.parametrize("case", [case for case in TURNING if case not in FADING])
@settings(max_examples=8)
@given(name=NAMES, shift=SHIFTS)
def test_a_rotation_keeps_the_norm(case, name, shift):
    at = moved(window(name), **shift)
    for x in turned(made(case), at, at):
        assert torch.allclose(x.norm(dim=-1), torch.ones(()), **EXACT)


@pytest.mark.parametrize("case", [case for case in TURNING if "plan" not in case and case != "rote"])
def test_place_zero_changes_nothing(case):
    q, k = turned(made(case), zero(), zero())
    assert torch.equal(q, unit_vectors(0, 1))
    assert torch.equal(k, unit_vectors(1, 1))


@pytest.mark.parametrize("case", [case for case in ATTENDING if case not in DATED])
@settings(max_examples=8)
@given(name=NAMES, shift=SHIFTS)
def test_scores_depend_on_distances_only(case, name, shift):
    encoding, at = made(case), window(name)
    there = moved(at, **shift)
    assert torch.allclose(scored(encoding, at, at), scored(encoding, there, there), **EXACT)


@pytest.mark.parametrize("case", sorted(DATED))
@pytest.mark.parametrize("days", [1, 30, 365])
def test_scores_of_the_dated_encodings_change_with_the_date(case, days):
    encoding, at = made(case), window("autumn in New York")
    there = moved(at, seconds=days * DAY)
    assert (scored(encoding, at, at) - scored(encoding, there, there)).abs().max() > 1e-2


@pytest.mark.parametrize("case", ATTENDING)
@pytest.mark.parametrize("name", ["the clocks go back in New York", "New Year in Hong Kong"])
def test_attention_sees_more_than_a_set_of_bars(case, name):
    encoding, at = made(case), window(name)
    backwards = TimeAxis(**{clock: getattr(at, clock).flip(1) for clock in CLOCKS})
    assert (scored(encoding, at, at) - scored(encoding, at, backwards)).abs().max() > 1e-3


@pytest.mark.parametrize("case", ATTENDING)
@settings(max_examples=5)
@given(name=NAMES, token=st.integers(0, 8))
def test_one_query_gets_what_the_full_pass_gives_it(case, name, token):
    encoding, at = made(case), window(name)
    q, k = unit_vectors(0, at.index.shape[1]), unit_vectors(1, at.index.shape[1])
    full = logits(encoding, at, at, q, k)
    one = slice(token, token + 1)
    assert torch.allclose(full[:, :, one], logits(encoding, some(at, one), at, q[:, :, one], k), **EXACT)


@pytest.mark.parametrize("case", ALONE)
@settings(max_examples=5)
@given(name=NAMES, tokens=st.integers(1, 8))
def test_keys_may_be_kept_and_new_ones_added(case, name, tokens):
    """The keys of a prefix are turned as they are in the full pass: a cache of turned keys holds."""
    encoding, at = made(case), window(name)
    first, k = slice(0, tokens), unit_vectors(1, at.index.shape[1])
    prefix = some(at, first)
    _, kept = encoding.prepare(prefix, prefix).layer(LAYERS - 1).rotate(k[:, :, first], k[:, :, first])
    _, full = encoding.prepare(at, at).layer(LAYERS - 1).rotate(k, k)
    assert torch.allclose(full[:, :, first], kept, **EXACT)


@pytest.mark.parametrize("clock", ["session", "calendar"])
@settings(max_examples=20)
@given(name=NAMES, period=st.sampled_from([2.5, 4.84, 5, 7, 20, 62.5, 365.25 / 4]), turns=st.integers(-50, 50))
def test_places_a_period_apart_are_the_same_to_a_cycle(clock, name, period, turns):
    plan = FrequencyPlan((Cycle(period, clock),))
    encoding = build({"kind": "cycle", "share": 1.0}, dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS, plan=plan)
    at = window(name)
    assert torch.allclose(scored(encoding, at, at), scored(encoding, moved(at, **{clock: turns * period}), at), **EXACT)


@pytest.mark.parametrize("clock", CLOCKS)
@settings(max_examples=20)
@given(name=NAMES, period=st.sampled_from([5, 7, 20, 62.5]), turns=st.integers(-20, 20))
def test_places_a_period_apart_are_the_same_to_a_clock(clock, name, period, turns):
    period = period * DAY if clock == "seconds" else period
    settings_ = {"kind": "clock", "share": 1.0, "period": period, "clock": clock}
    encoding = build(settings_, dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS)
    at = window(name)
    assert torch.allclose(
        scored(encoding, at, at), scored(encoding, moved(at, **{clock: turns * period}), at), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("case", ATTENDING)
def test_every_row_of_a_batch_gets_what_it_gets_alone(case):
    """Two markets, each with its own places; they share the index, whose row is one for all."""
    rows = [window(name) for name in ("the clocks go back in New York", "New Year in Hong Kong")]
    both = {clock: torch.cat([getattr(row, clock) for row in rows]) for clock in CLOCKS[1:]}
    batch, encoding = TimeAxis(index=rows[0].index, **both), made(case)
    q, k = (unit_vectors(seed, rows[0].index.shape[1]).expand(2, -1, -1, -1) for seed in (0, 1))
    together = logits(encoding, batch, batch, q, k)
    for number, row in enumerate(rows):
        assert torch.allclose(together[number], scored(encoding, row, row)[0], **EXACT)


@pytest.mark.parametrize("case", [case for case in ALONE if not adds_bias(made(case))])
@pytest.mark.parametrize("grad", [True, False])
def test_the_end_of_a_long_window_is_turned_like_a_short_one(case, grad):
    """Long tables may be made in blocks; nobody can tell."""
    n = 9_000
    bars = torch.arange(n, dtype=torch.float64)[None]
    at = TimeAxis(index=bars, session=bars / 7 + 9_000, calendar=bars / 5 + 13_000, seconds=bars * 17_280 + 1e9)
    end = slice(n - 5, None)
    q, encoding = unit_vectors(0, n), made(case)
    with torch.set_grad_enabled(grad):
        long, _ = encoding.prepare(at, at).layer(1).rotate(q, q)
        short, _ = encoding.prepare(some(at, end), some(at, end)).layer(1).rotate(q[:, :, end], q[:, :, end])
    assert torch.allclose(long[:, :, end], short, **EXACT)


@pytest.mark.parametrize("case", LEARNED)
@pytest.mark.parametrize("name", ["autumn in New York", "the clocks go back in London"])
def test_gradients_are_those_of_finite_differences(case, name):
    encoding, at = made(case), window(name)
    g = torch.Generator().manual_seed(0)
    weights = [p for p in encoding.parameters() if p.requires_grad]
    step = [torch.randn(p.shape, generator=g) for p in weights]
    n = at.index.shape[1]
    x, mix = torch.randn(1, n, HEADS * WIDTH, generator=g), torch.randn(1, HEADS, n, n, generator=g)
    asked = moved(at, session=690, calendar=1_000, seconds=1_000 * DAY)

    def loss(size):
        with torch.no_grad():
            for weight, direction in zip(weights, step, strict=True):
                weight.add_(direction, alpha=size)
        total = (scored(encoding, asked, at) * mix).sum() + (encoding.embed(x, at) * x).sum()
        with torch.no_grad():
            for weight, direction in zip(weights, step, strict=True):
                weight.sub_(direction, alpha=size)
        return total

    grads = torch.autograd.grad(loss(0.0), weights, allow_unused=True)
    slope = sum((g * d).sum() for g, d in zip(grads, step, strict=True) if g is not None)
    # A phase of T-RoPE moves in steps of 3e-9 rad as its coefficient does, so a smaller step would drown in them.
    difference = (loss(1e-4) - loss(-1e-4)) / 2e-4
    assert slope.abs() > 0.05
    assert torch.allclose(slope, difference.detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mic", ["New York", "London"])
def test_a_week_is_seven_days_whatever_the_clocks_do(mic):
    """The same bar before and after a change of daylight saving is the same to a weekly cycle, and not by seconds."""
    at = window(f"the clocks go back in {mic}")
    at = some(at, slice(0, 1))
    week = moved(at, index=40, session=5, calendar=7, seconds=7 * DAY + 3600)
    plan = FrequencyPlan((Cycle(7, "calendar", harmonics=(1, 2)),))
    for kind in ("cycle", "clock"):
        encoding = build({"kind": kind, "share": 1.0}, dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS, plan=plan)
        assert torch.allclose(scored(encoding, at, week), scored(encoding, at, at), **EXACT)
    by_seconds = {"kind": "clock", "share": 1.0, "period": 7 * DAY, "clock": "seconds"}
    encoding = build(by_seconds, dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS)
    assert not torch.allclose(scored(encoding, at, week), scored(encoding, at, at), rtol=0, atol=1e-3)


@pytest.mark.parametrize("kernel", ["cosine", "gaussian"])
@settings(max_examples=20)
@given(name=NAMES)
def test_folded_and_symmetric_laws_have_equal_cosine_modulation(kernel, name):
    at, q = window(name), unit_vectors(0, 1)
    q = q.expand(-1, -1, at.index.shape[1], -1)
    found = []
    for side in ("sym", "fold"):
        settings_ = {"kind": "clock", "law": f"{kernel}-{side}", "period": DAY, "clock": "seconds", "share": 1.0}
        encoding = build(settings_, dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS)
        # A key equal to the query has no sine term.
        found.append(logits(encoding, at, at, q, q))
    assert torch.allclose(*found, **EXACT)


@settings(max_examples=20)
@given(name=NAMES, shift=SHIFTS, clock=st.sampled_from(["index", "calendar"]))
def test_planes_of_one_part_of_a_split_are_untouched_by_the_other(name, shift, clock):
    parts = {"index": "rope", "calendar": {"kind": "cycle", "share": 1.0}}
    plan = FrequencyPlan((Cycle(7, "calendar"),))
    encoding = build(half(*parts.values()), dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS, plan=plan)
    at = window(name)
    here, there = (turned(encoding, q_at, at)[0] for q_at in (at, moved(at, **{clock: shift[clock] * 7 + 1})))
    mine, others = (slice(0, 8), slice(8, 16)) if clock == "index" else (slice(8, 16), slice(0, 8))
    assert torch.equal(here[..., others], there[..., others])
    assert not torch.allclose(here[..., mine], there[..., mine], **EXACT)


@settings(max_examples=20)
@given(name=NAMES, base=st.sampled_from([50.0, 10_000.0]))
def test_rope_agrees_with_a_naive_formula(name, base):
    at = window(name)
    encoding = build({"kind": "rope", "base": base}, dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS)
    q, _ = turned(encoding, at, at)
    given_q = unit_vectors(0, at.index.shape[1])
    for t, place in enumerate(at.index[0].tolist()):
        for j in range(WIDTH // 2):
            phi = place * base ** (-2 * j / WIDTH)
            x, y = given_q[0, :, t, 2 * j], given_q[0, :, t, 2 * j + 1]
            assert torch.allclose(q[0, :, t, 2 * j], x * math.cos(phi) - y * math.sin(phi), **EXACT)
            assert torch.allclose(q[0, :, t, 2 * j + 1], x * math.sin(phi) + y * math.cos(phi), **EXACT)


@settings(max_examples=20)
@given(name=NAMES, share=st.sampled_from([0.25, 0.5, 1.0]))
def test_cycles_turn_by_their_period_and_the_other_planes_by_rope(name, share):
    at = window(name)
    planes, n_cycle = WIDTH // 2, round(share * WIDTH / 2)
    plan = PLAN.strongest(n_cycle)
    encoding = build({"kind": "cycle", "share": share}, dim=HEADS * WIDTH, n_heads=HEADS, n_layers=LAYERS, plan=plan)
    lines = plan.allocate(n_cycle)
    ones = torch.zeros(1, HEADS, at.index.shape[1], WIDTH)
    ones[..., ::2] = 1
    q, _ = encoding.prepare(at, at).layer(0).rotate(ones, ones)
    for j in range(planes):
        if j < planes - n_cycle:
            angle = at.index[0] * 10_000 ** (-2 * j / WIDTH)
        else:
            line = lines[j - planes + n_cycle]
            angle = 2 * math.pi * ((at.clock(line.clock)[0] * line.harmonic / line.cycle.period) % 1)
        assert torch.allclose(q[..., 2 * j], angle.cos(), **EXACT)
        assert torch.allclose(q[..., 2 * j + 1], angle.sin(), **EXACT)


def test_every_kind_stands_under_the_laws():
    assert set(ENCODINGS) <= set(CASES)
    assert set(CASES) >= DATED | FADING
    assert set(TURNING) > {"rope", "xpos", "cycle", "rfr", "clock", "t_rope", "to_rope", "rote"}
