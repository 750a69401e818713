"""xPos against a naive formula per plane."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.encodings.xpos import XposConfig, XposEncoding
from fints.errors import EncodingError

D = 16
PLACES = st.floats(-20_000, 40_000)


def axis(*places):
    t = torch.tensor([places], dtype=torch.float64)
    return TimeAxis(index=t, session=t)


def vectors(seed, n=1):
    return torch.randn(1, 2, n, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def made(**settings):
    return XposEncoding(XposConfig(**settings), D, 2)


def score(q_place, *k_places, encoding=None):
    layer = (encoding or made()).prepare(axis(q_place), axis(*k_places)).layer(0)
    q, k = layer.rotate(vectors(0), vectors(1).expand(-1, -1, len(k_places), -1))
    return q @ k.mT


def naive_score(q_place, k_place, scale=512.0):
    q, k = vectors(0)[0, :, 0], vectors(1)[0, :, 0]
    total = torch.zeros(2, dtype=torch.float64)
    for j in range(D // 2):
        phi = (q_place - k_place) * 10_000 ** (-2 * j / D)
        zeta = ((2 * j / D + 0.4) / 1.4) ** ((q_place - k_place) / scale)
        q1, q2, k1, k2 = q[:, 2 * j], q[:, 2 * j + 1], k[:, 2 * j], k[:, 2 * j + 1]
        total += zeta * ((q1 * k1 + q2 * k2) * math.cos(phi) + (q1 * k2 - q2 * k1) * math.sin(phi))
    return total


@given(place=PLACES, distance=st.floats(-2_000, 2_000))
def test_scores_agree_with_a_naive_formula(place, distance):
    ours = score(place, place - distance)[0, :, 0, 0]
    assert torch.allclose(ours, naive_score(place, place - distance), rtol=1e-5, atol=1e-4)


@given(
    keys=st.lists(st.integers(0, 400), min_size=1, max_size=5),
    ahead=st.integers(0, 50),
    shift=st.integers(-9_999, 30_000),
)
def test_scores_depend_on_distance_only_within_the_clamp(keys, ahead, shift):
    query = max(keys) + ahead
    here, there = score(query, *keys), score(query + shift, *(k + shift for k in keys))
    assert torch.allclose(here, there, atol=5e-5)


@given(place=PLACES, distance=st.floats(0, 4_000))
def test_every_plane_fades_with_distance_by_its_own_factor(place, distance):
    encoding = made(clock="session")
    layer = encoding.prepare(axis(place), axis(place - distance)).layer(0)
    fade = layer.q_table.abs() * layer.k_table.abs()
    expected = [((2 * j / D + 0.4) / 1.4) ** (distance / 512) for j in range(D // 2)]
    assert fade.flatten().tolist() == pytest.approx(expected, rel=1e-5)


def test_a_huge_scale_is_plain_rope():
    at = axis(12_000.0, 12_001.0, 12_004.25)
    rope = RotaryEncoding(rope_planes(D, 10_000.0), 2).prepare(at, at).layer(0)
    q, k = made(scale=1e12).prepare(at, at).layer(0).rotate(vectors(0, 3), vectors(1, 3))
    q_rope, k_rope = rope.rotate(vectors(0, 3), vectors(1, 3))
    assert torch.allclose(q, q_rope, atol=1e-6)
    assert torch.allclose(k, k_rope, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_no_distance_overflows_even_half_precision(dtype):
    layer = made().to(dtype).prepare(axis(1.5e9, -1.5e9), axis(0.0, 1e9)).layer(0)
    q, k = layer.rotate(torch.ones(1, 2, 2, D, dtype=dtype), torch.ones(1, 2, 2, D, dtype=dtype))
    assert q.dtype == k.dtype == dtype
    assert torch.isfinite(q).all()
    assert torch.isfinite(k).all()
    assert layer.q_table.abs().max() == pytest.approx(3.5**8, rel=1e-4)


def test_one_query_gets_what_the_full_pass_gives_it():
    places = [11_000.0, 11_001.0, 11_001.5, 11_009.0]
    q, k = vectors(0, 4), vectors(1, 4)
    full, k_full = made().prepare(axis(*places), axis(*places)).layer(0).rotate(q, k)
    one, k_one = made().prepare(axis(places[-1]), axis(*places)).layer(0).rotate(q[:, :, -1:], k)
    assert torch.equal(full[:, :, -1:], one)
    assert torch.equal(k_full, k_one)


def test_more_keys_in_the_window_change_no_score():
    assert torch.allclose(score(500.0, 400.0)[..., 0], score(500.0, 400.0, 0.0)[..., 0], atol=1e-5)


def test_an_odd_head_is_refused():
    with pytest.raises(EncodingError, match="even head width"):
        XposEncoding(XposConfig(), 7, 1)
