"""ALiBi against the published slopes and a double loop."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.alibi import AlibiConfig, AlibiEncoding, alibi_slopes
from fints.errors import EncodingError

SESSIONS = [12_151.0, 12_152.0, 12_152.25, 12_152.5, 12_153.0, 12_160.0]


def axis(*places):
    t = torch.tensor([places], dtype=torch.float64)
    return TimeAxis(index=t - t[:, :1], session=t)


def bias(q_places, k_places, heads=4, clock="session"):
    encoding = AlibiEncoding(AlibiConfig(clock=clock), heads, 2)
    return encoding.prepare(axis(*q_places), axis(*k_places)).layer(0).bias


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, [1 / 256]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),
        (3, [1 / 16, 1 / 256, 1 / 4]),
        (6, [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]),
    ],
)
def test_the_slopes_are_the_published_ones(heads, slopes):
    assert alibi_slopes(heads) == pytest.approx(slopes, rel=1e-15)


def test_twelve_heads_interleave_the_slopes_of_sixteen():
    assert alibi_slopes(12)[:8] == alibi_slopes(8)
    assert alibi_slopes(12)[8:] == alibi_slopes(16)[0:8:2]


def test_the_bias_is_minus_slope_times_distance():
    dense = bias(SESSIONS, SESSIONS, heads=3)
    for h, slope in enumerate([1 / 16, 1 / 256, 1 / 4]):
        for i, q in enumerate(SESSIONS):
            for j, k in enumerate(SESSIONS):
                assert dense[0, h, i, j].item() == pytest.approx(-slope * abs(q - k), rel=1e-6)


@given(
    places=st.lists(st.integers(-20_000 * 8, 40_000 * 8), min_size=1, max_size=6),
    shift=st.integers(-20_000, 20_000),
)
def test_the_bias_depends_on_distance_only(places, shift):
    exact = [p / 8 for p in places]
    moved = [p + shift for p in exact]
    assert torch.equal(bias(exact, exact), bias(moved, moved))


@given(queries=st.lists(st.floats(0, 1e4), min_size=1, max_size=5), keys=st.lists(st.floats(0, 1e4), min_size=1))
def test_the_bias_is_symmetric_and_never_positive(queries, keys):
    assert torch.equal(bias(queries, keys), bias(keys, queries).mT)
    assert (bias(queries, keys) <= 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_cast_module_keeps_its_slopes_and_places(dtype):
    encoding = AlibiEncoding(AlibiConfig(clock="session"), 6, 1)
    before = encoding.prepare(axis(*SESSIONS), axis(*SESSIONS)).layer(0).bias
    after = encoding.to(dtype).prepare(axis(*SESSIONS), axis(*SESSIONS)).layer(0).bias
    assert torch.equal(before, after)


def test_layers_share_one_bias_and_materialise_it_once():
    terms = AlibiEncoding(AlibiConfig(), 4, 3).prepare(axis(*SESSIONS), axis(*SESSIONS))
    assert terms.layer(0) is terms.layer(2)
    assert terms.layer(0)._kept is None
    assert terms.layer(0).bias is terms.layer(2).bias


@pytest.mark.parametrize(
    ("queries", "keys", "folds", "causally"),
    [
        ([1, 2, 5], [1, 2, 5], False, True),
        ([2, 1, 5], [2, 1, 5], False, False),
        ([5], [1, 2, 5], True, False),
        ([5, 6], [1, 2, 5], True, False),
        ([4, 6], [1, 2, 5], False, False),
        ([2, 3, 9], [1, 3, 5], False, True),
        ([1, 3, 9], [2, 3, 5], False, False),
    ],
)
def test_only_a_bias_whose_keys_are_past_may_be_folded(queries, keys, folds, causally):
    layer = AlibiEncoding(AlibiConfig(clock="session"), 2, 1).prepare(axis(*queries), axis(*keys)).layer(0)
    assert (layer.folds, layer.folds_causally) == (folds, causally)


def test_queries_fold_by_halves_where_they_do_not_together():
    places = [1.0, 2.0, 5.0, 6.0, 8.0]
    layer = AlibiEncoding(AlibiConfig(), 2, 1).prepare(axis(*places), axis(*places[:3])).layer(0)
    assert not layer.folds
    assert not layer.folds_causally
    assert layer.bias_of(slice(0, 3)).folds_causally
    assert layer.bias_of(slice(3, None)).folds
    assert not layer.bias_of(slice(1, None)).folds


def test_the_meta_device_needs_no_places():
    at = TimeAxis(index=torch.zeros(1, 4, dtype=torch.float64, device="meta"))
    layer = AlibiEncoding(AlibiConfig(), 4, 1).prepare(at, at).layer(0)
    assert layer.bias.shape == (1, 4, 4, 4)
    assert not layer.folds


def test_a_missing_clock_is_named():
    at = TimeAxis(index=torch.arange(3)[None])
    with pytest.raises(EncodingError, match="reads the session clock"):
        AlibiEncoding(AlibiConfig(clock="session"), 4, 1).prepare(at, at)
