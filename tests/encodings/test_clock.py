"""ClockRoPE: four laws of harmonics, drawn per head and layer."""

import math
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fints.encodings import TimeAxis
from fints.encodings.clock import ClockConfig, clock, clock_planes
from fints.encodings.rope import Plane, rope_planes
from fints.errors import EncodingError
from fints.plan import Cycle, FrequencyPlan

DAY, HOUR = 86_400.0, 3_600.0
LAWS = ["cosine-sym", "cosine-fold", "gaussian-sym", "gaussian-fold"]
PLAN = FrequencyPlan.from_periods([Cycle(5, strength=3), Cycle(7, "calendar", strength=9), 62.5])
# Closes of New York on both sides of four changes of daylight saving time, and the far ends of the dates we promise.
CLOSES = [
    1_173_474_000,
    1_173_729_600,
    1_194_033_600,
    1_194_296_400,
    1_520_629_200,
    1_520_884_800,
    75_600,
    4_102_434_000,
]


def harmonics(config, plan=None, n_heads=500, head_dim=32, seed=0):
    """Return k of every drawn plane as one array."""
    planes = clock_planes(config, head_dim, n_heads, 1, plan, seed)
    n_drawn = round(config.share * head_dim / 2)
    return np.array([p.frequency * config.period for head in planes[0] for p in head[-n_drawn:]])


def analytic(law, sigma_over_period=1 / 12, s=6):
    """Return the probability of every harmonic, from the definition."""
    k = np.arange(-s, s + 1)
    if law.startswith("cosine"):
        p = (np.abs(k) == 1) / 2
    else:
        p = np.exp(-0.5 * (2 * math.pi * sigma_over_period * k) ** 2)
        p = p / p.sum()
    if law.endswith("fold"):
        p = np.where(k > 0, p + p[::-1], np.where(k == 0, p, 0.0))
    return dict(zip(k.tolist(), p.tolist(), strict=True))


def axis(*places, clock="seconds"):
    t = torch.tensor([places], dtype=torch.float64)
    return TimeAxis(**{"index": torch.arange(len(places))[None], clock: t})


def vectors(seed, heads, n, dim):
    return torch.randn(1, heads, n, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("law", LAWS)
def test_the_drawn_harmonics_follow_their_law(law):
    drawn = np.rint(harmonics(ClockConfig(law=law, period=DAY, clock="seconds"))).astype(int)
    expected = {k: p for k, p in analytic(law).items() if p > 0}
    assert set(drawn.tolist()) <= set(expected)
    common = [k for k, p in expected.items() if p * len(drawn) >= 5]
    observed = [int((drawn == k).sum()) for k in common]
    rest = len(drawn) - sum(observed)
    chances = [expected[k] * len(drawn) for k in common]
    if len(common) > 1:
        observed, chances = [*observed, rest], [*chances, len(drawn) - sum(chances)]
        scaled = [(o, c) for o, c in zip(observed, chances, strict=True) if c > 1e-9]
        assert stats.chisquare(*zip(*scaled, strict=True)).pvalue > 1e-3


@pytest.mark.parametrize("kernel", ["cosine", "gaussian"])
@settings(max_examples=20, deadline=None)
@given(place=st.sampled_from(CLOSES), back=st.integers(0, 90 * 86_400))
def test_folded_and_symmetric_laws_have_equal_cosine_modulation(kernel, place, back):
    q = vectors(0, 4, 1, 16)
    found = []
    for side in ("sym", "fold"):
        config = ClockConfig(law=f"{kernel}-{side}", period=DAY, clock="seconds", share=1.0)
        turned = clock(config, 16, 4, 1).prepare(axis(place), axis(place - back)).layer(0).rotate(q, q)
        # A key equal to the query has no sine term.
        found.append((turned[0] * turned[1]).sum(-1))
    assert torch.allclose(*found, atol=1e-5)


def test_only_the_folded_law_tells_before_from_after():
    values = {}
    for law in ("gaussian-sym", "gaussian-fold"):
        frequencies = harmonics(ClockConfig(law=law, period=24.0), n_heads=200)
        values[law] = np.sin(2 * math.pi * frequencies * 0.1).mean()
    assert abs(values["gaussian-sym"]) < 0.05
    assert values["gaussian-fold"] > 0.3


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=20, deadline=None)
@given(place=st.sampled_from(CLOSES), other=st.integers(0, 4_000_000_000), periods=st.integers(-900, 900))
def test_places_a_period_apart_are_the_same_and_norms_are_kept(law, place, other, periods):
    encoding = clock(ClockConfig(law=law, period=DAY, clock="seconds", share=1.0), 8, 2, 1)
    q, k = vectors(0, 2, 1, 8), vectors(1, 2, 1, 8)
    here = encoding.prepare(axis(place), axis(other)).layer(0).rotate(q, k)
    there = encoding.prepare(axis(place + periods * DAY), axis(other)).layer(0).rotate(q, k)
    assert torch.allclose(here[0], there[0], atol=1e-5)
    assert torch.allclose(here[0].norm(dim=-1), q.norm(dim=-1), rtol=1e-6)
    moved = encoding.prepare(axis(place + 12_345), axis(other + 12_345)).layer(0).rotate(q, k)
    assert torch.allclose((here[0] * here[1]).sum(-1), (moved[0] * moved[1]).sum(-1), atol=2e-5)


def test_place_zero_changes_nothing():
    q, k = vectors(0, 2, 1, 8), vectors(1, 2, 1, 8)
    at = axis(0.0)
    turned = clock(ClockConfig(period=DAY, clock="seconds"), 8, 2, 1).prepare(at, at).layer(0).rotate(q, k)
    assert torch.equal(turned[0], q)
    assert torch.equal(turned[1], k)


def test_the_default_is_the_folded_gaussian_on_half_of_the_planes():
    planes = clock_planes(ClockConfig(), 16, 2, 3, PLAN)
    heads = list(chain.from_iterable(planes))
    assert all(head[:4] == rope_planes(16, 10_000.0)[:4] for head in heads)
    periods = {"calendar": [7.0], "session": [5.0, 62.5]}
    assert {p.clock for head in heads for p in head[4:]} == set(periods)
    for plane in chain.from_iterable(head[4:] for head in heads):
        turns = [plane.frequency * period for period in periods[plane.clock]]
        assert any(0 <= k <= 6 and k == pytest.approx(round(k)) for k in turns)
    assert len({head[4:] for head in heads}) > 1


def test_layers_are_seeded_from_one():
    config = ClockConfig(period=5.0, seed_base=3)
    later = clock_planes(ClockConfig(period=5.0, seed_base=4), 16, 2, 1)
    assert clock_planes(config, 16, 2, 2)[1] == later[0]
    assert clock_planes(ClockConfig(period=5.0), 16, 2, 1, seed=4) == later


def test_a_mixture_draws_each_cycle_as_often_as_it_is_strong():
    planes = clock_planes(ClockConfig(law="cosine-fold", share=1.0), 32, 400, 1, PLAN)
    drawn = [(p.clock, round(1 / p.frequency, 6)) for head in planes[0] for p in head]
    counts = [drawn.count(key) for key in [("session", 5.0), ("calendar", 7.0), ("session", 62.5)]]
    assert sum(counts) == len(drawn)
    assert stats.chisquare(counts, np.array([3, 9, 1]) / 13 * len(drawn)).pvalue > 1e-3


def test_without_a_mixture_all_planes_turn_with_the_strongest():
    planes = clock_planes(ClockConfig(mixture=False, law="cosine-fold", share=1.0), 16, 4, 2, PLAN)
    assert {plane for layer in planes for head in layer for plane in head} == {Plane("calendar", 1 / 7.0)}


def test_a_period_of_its_own_takes_the_place_of_the_plan():
    with_plan = clock_planes(ClockConfig(period=20.0), 16, 2, 1, PLAN)
    assert with_plan == clock_planes(ClockConfig(period=20.0), 16, 2, 1)
    assert with_plan == clock_planes(ClockConfig(period=20.0, mixture=False), 16, 2, 1)


def test_a_cycle_keeps_the_width_it_was_given():
    narrow = clock_planes(ClockConfig(share=1.0), 32, 100, 1, FrequencyPlan((Cycle(24, width=1.0),)))
    usual = clock_planes(ClockConfig(share=1.0), 32, 100, 1, FrequencyPlan((Cycle(24),)))
    spread = [np.mean([p.frequency for head in planes[0] for p in head]) for planes in (narrow, usual)]
    assert spread[0] > 1.5 * spread[1]


def test_a_cast_module_still_knows_the_time_of_day():
    config = ClockConfig(law="cosine-fold", period=DAY, clock="seconds", share=1.0)
    encoding = clock(config, 8, 2, 1).bfloat16()
    at = axis(*(math.floor(t / DAY) * DAY + DAY / 4 for t in CLOSES))
    table = encoding.prepare(at, at).layer(0).q_table
    assert torch.allclose(torch.view_as_real(table), torch.tensor([0.0, 1.0]), atol=1e-6)
    assert sum(p.numel() for p in encoding.parameters()) == 0


@pytest.mark.parametrize(
    ("config", "plan", "says"),
    [
        ({}, None, "pass plan= or set period"),
        ({"share": 0.01}, PLAN, "leaves none"),
        ({"sigma_over_period": 0.5, "mixture": False}, PLAN, r"σ = 3.5 is wide for a period of 7: f\(T/2\) = 0.607"),
        ({"period": 1.5, "clock": "index"}, None, "shorter than the 2"),
    ],
)
def test_what_cannot_be_built_is_refused(config, plan, says):
    with pytest.raises(EncodingError, match=says):
        clock(ClockConfig(**config), 8, 2, 1, plan)
