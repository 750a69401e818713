"""Random Fourier Rotations estimate q·k·f; propositions 3.1 and 3.2 of ClockRoPE."""

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import TimeAxis, encoding_config
from fints.encodings.kernels import (
    CallableKernel,
    CosineKernel,
    GaussianKernel,
    LaplaceKernel,
    MaternKernel,
    PeriodicGaussianKernel,
)
from fints.encodings.rfr import HeadRotary, LearnedHeadRotary, RfrConfig, rfr, rfr_planes
from fints.encodings.rope import Plane, rope_planes
from fints.errors import EncodingError

DAY = 86_400.0
# Closes of New York on both sides of two changes of daylight saving time, and a date far ahead.
DST = [1_173_474_000.0, 1_173_729_600.0, 1_194_033_600.0, 1_194_296_400.0, 4_000_000_000.0]
KERNELS = [
    GaussianKernel(length=10),
    LaplaceKernel(length=10),
    MaternKernel(length=10),
    CosineKernel(period=20),
    PeriodicGaussianKernel(period=24, sigma=2),
    CallableKernel(function=lambda x: np.clip(1 - np.abs(x) / 30, 0, None), extent=40),
]


def axis(*places):
    t = torch.tensor([places], dtype=torch.float64)
    return TimeAxis(index=t, session=t, calendar=t, seconds=t)


def vectors(seed, heads, n, dim, same=False):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, 1 if same else heads, n, dim, generator=g, dtype=torch.float64)
    return x.expand(1, heads, n, dim)


def scores(encoding, q_place, k_place, q, k):
    q, k = encoding.prepare(axis(q_place), axis(k_place)).layer(0).rotate(q, k)
    return (q * k).sum(-1).flatten()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.kind)
@pytest.mark.parametrize(("q_place", "k_place"), [(10_017.0, 10_012.0), (12_345.0, 12_324.5)])
def test_the_mean_score_is_the_plain_score_times_the_kernel(kernel, q_place, k_place):
    heads, dim = 3_000, 8
    encoding = rfr(RfrConfig(kernel=kernel), dim, heads, 1)
    q, k = vectors(0, heads, 1, dim, same=True), vectors(1, heads, 1, dim, same=True)
    found = scores(encoding, q_place, k_place, q, k)
    plain = float((q[0, 0] * k[0, 0]).sum())
    expected = plain * float(kernel.value(np.array([q_place - k_place]))[0])
    assert float(found.mean()) == pytest.approx(expected, abs=5 * float(found.std()) / math.sqrt(heads) + 2e-4)


@pytest.mark.parametrize("dim", [8, 64])
def test_the_tail_stays_below_its_bound_and_the_spread_falls_with_the_width(dim):
    heads, kernel = 1_000, GaussianKernel(length=10)
    encoding = rfr(RfrConfig(kernel=kernel), dim, heads, 1)
    q = vectors(2, heads, 1, dim, same=True)
    k = q + 0.5 * vectors(3, heads, 1, dim, same=True)
    q, k = (x / x.norm(dim=-1, keepdim=True) * math.sqrt(dim) for x in (q, k))
    expected = float((q[0, 0] * k[0, 0]).sum()) * float(kernel.value(np.array([7.0]))[0])
    error = (scores(encoding, 107.0, 100.0, q, k) - expected).abs() * 2 / dim
    pairs = (q[0, 0].reshape(-1, 2).norm(dim=-1) * k[0, 0].reshape(-1, 2).norm(dim=-1)).square().sum()
    for epsilon in (0.1, 0.3, 1.0, 2.0):
        bound = 2 * math.exp(-(epsilon**2) * dim**2 / (8 * float(pairs)))
        slack = 4 * math.sqrt(min(bound, 1) / heads)
        assert float((error >= epsilon).double().mean()) <= bound + slack
    assert float(error.square().mean().sqrt()) < 6 / math.sqrt(dim)


CONFIGS = [
    RfrConfig(kernel=LaplaceKernel(length=30)),
    RfrConfig(kernel=PeriodicGaussianKernel(period=DAY, sigma=DAY / 12), clock="seconds"),
    RfrConfig(kernel=GaussianKernel(length=30), share=0.5, learn=True),
]


@pytest.mark.parametrize("config", CONFIGS, ids=["laplace", "day", "learned"])
@settings(max_examples=20, deadline=None)
@given(place=st.sampled_from(DST) | st.integers(0, 4_100_000_000), back=st.integers(0, 400), shift=st.integers(-90, 90))
def test_norms_are_kept_and_scores_depend_on_distance_only(config, place, back, shift):
    unit = DAY if config.clock == "seconds" else 1.0
    place = place if config.clock == "seconds" else place // DAY
    encoding = rfr(config, 8, 2, 1)
    q, k = vectors(0, 2, 1, 8), vectors(1, 2, 1, 8)
    here = scores(encoding, place, place - back * unit, q, k)
    there = scores(encoding, place + shift * unit, place + (shift - back) * unit, q, k)
    assert torch.allclose(here, there, atol=2e-5)
    turned, _ = encoding.prepare(axis(float(place)), axis(0.0)).layer(0).rotate(q, k)
    assert torch.allclose(turned.norm(dim=-1), q.norm(dim=-1), rtol=1e-6)


@pytest.mark.parametrize("config", CONFIGS, ids=["laplace", "day", "learned"])
def test_place_zero_changes_nothing(config):
    q, k = vectors(0, 2, 1, 8), vectors(1, 2, 1, 8)
    turned = rfr(config, 8, 2, 1).prepare(axis(0.0), axis(0.0)).layer(0).rotate(q, k)
    assert torch.equal(turned[0], q)
    assert torch.equal(turned[1], k)


def test_every_head_and_layer_draws_its_own_with_a_seed_counted_from_one():
    config = RfrConfig(seed_base=7)
    planes = rfr_planes(config, 8, 2, 3)
    frequencies = [tuple(p.frequency for p in head) for layer in planes for head in layer]
    assert len(set(frequencies)) == 6
    second = config.kernel.draw(np.random.default_rng(7 + 2), (2, 4))
    assert [[p.frequency for p in head] for head in planes[1]] == second.tolist()
    assert rfr_planes(RfrConfig(), 8, 2, 3, seed=7) == planes
    assert rfr_planes(config, 8, 2, 3, seed=99) == planes


def test_the_other_planes_keep_the_fast_end_of_the_rope_schedule():
    planes = rfr_planes(RfrConfig(share=0.5, base=100.0), 16, 2, 1)
    assert planes[0][0][:4] == rope_planes(16, 100.0)[:4]
    assert {p.clock for p in planes[0][1][4:]} == {"session"}


@pytest.mark.parametrize("make", [HeadRotary, lambda planes: LearnedHeadRotary(planes, 0, 50.0)])
def test_gathered_tables_are_those_of_a_naive_formula(make):
    heads = (
        (Plane("index", 0.25), Plane("seconds", -1 / DAY), Plane("session", 0.0)),
        (Plane("session", 0.2), Plane("seconds", 1 / DAY), Plane("seconds", 3 / DAY)),
    )
    q_at = TimeAxis(
        index=torch.arange(4)[None],
        session=torch.arange(10_000, 10_004).repeat(2, 1),
        seconds=torch.tensor([DST[:4], DST[1:]], dtype=torch.float64),
    )
    table = make((heads, heads[::-1])).prepare(q_at, q_at).layer(0).q_table
    for b in range(2):
        for h, head in enumerate(heads):
            for j, plane in enumerate(head):
                places = q_at.clock(plane.clock)
                angle = 2 * math.pi * ((places[b % len(places)] * plane.frequency) % 1)
                assert torch.allclose(table[b, h, :, j], torch.polar(torch.ones(4), angle.float()), atol=1e-6)


@pytest.mark.parametrize("config", [CONFIGS[0], CONFIGS[2]], ids=["fixed", "learned"])
def test_casts_copies_and_state_leave_the_frequencies_alone(config):
    encoding = rfr(config, 8, 2, 2)
    if config.learn:
        torch.nn.init.normal_(encoding.offset, generator=torch.Generator().manual_seed(0))
    at = axis(10_001.0, 10_009.0)
    table = encoding.prepare(at, at).layer(1).q_table.detach()
    fresh = rfr(config, 8, 2, 2)
    fresh.load_state_dict(encoding.state_dict())
    for other in (copy.deepcopy(encoding), copy.deepcopy(encoding).bfloat16().half().float(), fresh):
        assert torch.equal(other.prepare(at, at).layer(1).q_table, table)
    with torch.device("meta"):
        empty = rfr(config, 8, 2, 2)
    empty = empty.to_empty(device="cpu")
    empty.load_state_dict(encoding.state_dict())
    assert torch.equal(empty.prepare(at, at).layer(1).q_table, table)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoding.prepare(at, at).layer(1).q_table, table)


def test_learned_frequencies_start_at_the_draw_and_get_their_gradient():
    fixed, learned = (rfr(RfrConfig(share=0.5, learn=learn), 8, 2, 2) for learn in (False, True))
    at, now = axis(10_001.0, 10_009.0), axis(10_020.0)
    q, k = vectors(0, 2, 1, 8), vectors(1, 2, 2, 8)
    a, b = (e.prepare(now, at).layer(1).rotate(q, k) for e in (fixed, learned))
    assert torch.allclose(a[0], b[0], atol=1e-6)

    def loss(offset):
        with torch.no_grad():
            learned.offset.copy_(offset)
        turned = learned.prepare(now, at).layer(1).rotate(q, k)
        return (turned[0] * turned[1]).sum()

    loss(torch.zeros_like(learned.offset)).backward()
    step = torch.zeros_like(learned.offset)
    step[1, 0, 1] = 1e-2
    slope = (loss(step) - loss(-step)).item() / 2e-2
    assert learned.offset.grad[1, 0, 1].item() == pytest.approx(slope, rel=1e-2, abs=1e-3)
    assert learned.offset.grad[0].abs().sum() == 0


def test_an_offset_is_the_departure_in_radians_per_unit():
    config = RfrConfig(share=0.5, learn=True, unit=40.0)
    start, moved = rfr(config, 8, 2, 2), rfr(config, 8, 2, 2)
    with torch.no_grad():
        moved.offset.fill_(0.5)
    at = axis(0.0, 10.0, 80.0)
    tables = [encoding.prepare(at, at).layer(1).q_table.detach() for encoding in (start, moved)]
    departure = (tables[1] / tables[0]).angle()
    assert torch.allclose(departure[..., :2], torch.zeros(1), atol=1e-5)
    assert torch.allclose(departure[..., 2:], torch.tensor([0.0, 0.125, 1.0])[:, None], atol=1e-5)


def test_settings_are_read_from_plain_values():
    config = RfrConfig.model_validate({"kind": "rfr", "kernel": {"kind": "matern", "length": 9, "smoothness": 2.5}})
    assert config.kernel == MaternKernel(length=9, smoothness=2.5)
    assert encoding_config(config) is config


@pytest.mark.parametrize(
    ("config", "dim", "says"),
    [(RfrConfig(), 7, "even head width"), (RfrConfig(share=0.05), 8, "leaves none to be drawn")],
)
def test_what_cannot_be_built_is_refused(config, dim, says):
    with pytest.raises(EncodingError, match=says):
        rfr(config, dim, 2, 1)
