"""Attention that applies an encoding, against a plain softmax."""

import math
from copy import deepcopy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from fints.encodings import LayerTerms, TimeAxis
from fints.encodings.alibi import AlibiConfig, AlibiEncoding
from fints.encodings.attention import attend, attend_rotated
from fints.encodings.combine import HeadSplit, SumEncoding
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.encodings.time_bias import TimeRabConfig, TimeRabEncoding
from fints.encodings.xpos import XposConfig, XposEncoding
from fints.errors import EncodingError

HEADS = 4


def axis(places):
    t = torch.as_tensor(places, dtype=torch.float64).reshape(1, -1)
    return TimeAxis(index=t, session=t, seconds=t * 86_400)


def sessions(n, seed=0):
    """Sessions of a window with gaps and intraday fractions, increasing."""
    gaps = torch.randint(1, 9, (n,), generator=torch.Generator().manual_seed(seed)) / 8
    return 12_000 + gaps.double().cumsum(0)


def vectors(n_queries, n_keys, d=12, dtype=torch.float64):
    g = torch.Generator().manual_seed(n_queries + 7 * n_keys)
    shapes = ((2, HEADS, n_queries, d), (2, HEADS, n_keys, d), (2, HEADS, n_keys, d))
    return tuple(torch.randn(shape, generator=g, dtype=torch.float64).to(dtype) for shape in shapes)


MAKERS = {
    "rope": lambda d: RotaryEncoding(rope_planes(d, 100.0), 1),
    "xpos": lambda d: XposEncoding(XposConfig(), d, 1),
    "alibi": lambda d: AlibiEncoding(AlibiConfig(clock="session"), HEADS, 1),
    "time_rab": lambda d: TimeRabEncoding(TimeRabConfig(), HEADS, 1).double(),
    "alibi + rope": lambda d: SumEncoding([made("alibi"), made("rope", d)], 1),
    "alibi + time_rab + rope": lambda d: SumEncoding([made("alibi"), made("time_rab"), made("rope", d)], 1),
    "alibi | rope": lambda d: HeadSplit([AlibiEncoding(AlibiConfig(), 3, 1), made("rope", d)], [3, 1], 1),
}


def made(name, d=12):
    return MAKERS[name](d)


NAMES = sorted(MAKERS)


def softmax_attention(q, k, v, layer, is_causal):
    """Attend as the formula says."""
    q, k = layer.rotate(q, k)
    logits = q.double() @ k.double().mT / math.sqrt(q.shape[-1])
    if layer.bias is not None:
        logits = logits + layer.bias.double()
    if is_causal:
        logits = logits.masked_fill(torch.ones(logits.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    return logits.softmax(-1) @ v.double()


class LargestTensor(TorchDispatchMode):
    """Remember the most elements that any operation returned."""

    def __init__(self):
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if isinstance(tensor, torch.Tensor):
                self.largest = max(self.largest, tensor.numel())
        return out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_causal", [True, False])
def test_attention_is_the_softmax_of_rotated_scores_plus_bias(name, is_causal):
    places = sessions(9)
    layer = made(name).prepare(axis(places), axis(places)).layer(0)
    q, k, v = vectors(9, 9)
    assert torch.allclose(
        attend(q, k, v, layer, is_causal=is_causal), softmax_attention(q, k, v, layer, is_causal), atol=1e-6
    )


def test_no_encoding_is_plain_attention():
    q, k, v = vectors(5, 5)
    expected = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.equal(attend(q, k, v, LayerTerms(), is_causal=True), expected)


@given(
    gaps=st.lists(st.integers(0, 64), min_size=1, max_size=12),
    start=st.integers(-10_000, 40_000),
    d=st.sampled_from([4, 7, 8, 12, 15, 16]),
)
def test_the_folded_bias_equals_the_dense_one_at_any_increasing_places(gaps, start, d):
    places = start + torch.tensor(gaps, dtype=torch.float64).cumsum(0) / 8
    layer = made("alibi").prepare(axis(places), axis(places)).layer(0)
    assert layer.folds_causally
    q, k, v = vectors(len(gaps), len(gaps), d)
    folded = attend(q, k, v, layer, is_causal=True)
    assert folded.shape == v.shape
    assert torch.allclose(folded, softmax_attention(q, k, v, layer, is_causal=True), atol=1e-5)


@pytest.mark.parametrize("name", ["alibi", "alibi + rope"])
def test_a_long_window_folds_to_1e5_in_single_precision_and_makes_no_square_tensor(name):
    n = 512
    places = sessions(n)
    layer = made(name, 32).prepare(axis(places), axis(places)).layer(0)
    q, k, v = vectors(n, n, 32, torch.float32)
    with LargestTensor() as seen:
        folded = attend(q, k, v, layer, is_causal=True)
    assert seen.largest == 2 * HEADS * n * 40
    linear = layer if name == "alibi" else layer.biases[0]
    assert linear._kept is None
    assert torch.allclose(folded.double(), softmax_attention(q, k, v, layer, is_causal=True), atol=1e-5)


@pytest.mark.parametrize("width", [1, 4, 11, 12, 13, 16, 17, 40])
@pytest.mark.parametrize("is_causal", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_values_may_be_narrower_or_wider_than_queries(name, is_causal, width):
    """Folded where all keys are past, dense where they are not."""
    for q_places in (sessions(9), sessions(9) + 100):
        layer = made(name).prepare(axis(q_places), axis(sessions(9))).layer(0)
        q, k, _ = vectors(9, 9)
        v = torch.randn(2, HEADS, 9, width, generator=torch.Generator().manual_seed(width), dtype=torch.float64)
        out = attend(q, k, v, layer, is_causal=is_causal)
        assert out.shape == v.shape
        assert torch.allclose(out, softmax_attention(q, k, v, layer, is_causal), atol=1e-6)


def test_wide_values_make_no_square_tensor():
    n, width = 256, 72
    layer = made("alibi", 32).prepare(axis(sessions(n)), axis(sessions(n))).layer(0)
    q, k, _ = vectors(n, n, 32, torch.float32)
    with LargestTensor() as seen:
        attend(q, k, torch.ones(2, HEADS, n, width), layer, is_causal=True)
    assert seen.largest == 2 * HEADS * n * width


def test_forecast_queries_fold_too():
    layer = made("alibi").prepare(axis([20.0, 25.0]), axis(sessions(6) - 12_000)).layer(0)
    assert layer.folds
    q, k, v = vectors(2, 6)
    assert torch.allclose(attend(q, k, v, layer), softmax_attention(q, k, v, layer, is_causal=False), atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_one_query_gets_what_the_full_pass_gives_it(name):
    places = sessions(7)
    encoding = made(name)
    q, k, v = vectors(7, 7)
    full = attend(q, k, v, encoding.prepare(axis(places), axis(places)).layer(0), is_causal=True)
    one = attend(q[:, :, -1:], k, v, encoding.prepare(axis(places[-1:]), axis(places)).layer(0))
    assert torch.allclose(full[:, :, -1:], one, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_future_changes_nothing_in_a_causal_pass(name):
    places = sessions(8)
    layer = made(name).prepare(axis(places), axis(places)).layer(0)
    q, k, v = vectors(8, 8)
    before = attend(q, k, v, layer, is_causal=True)[:, :, :5]
    k[:, :, 5:], v[:, :, 5:] = 99.0, -99.0
    assert torch.allclose(before, attend(q, k, v, layer, is_causal=True)[:, :, :5], atol=1e-6)


@pytest.mark.parametrize("name", ["alibi", "alibi + time_rab + rope"])
def test_gradients_are_those_of_the_dense_softmax(name):
    places = sessions(6)
    encoding = made(name)
    grads = []
    for attention in (lambda *a: attend(*a, is_causal=True), lambda *a: softmax_attention(*a, is_causal=True)):
        leaves = [x.clone().requires_grad_() for x in vectors(6, 6)]
        layer = encoding.prepare(axis(places), axis(places)).layer(0)
        out = attention(*leaves, layer)
        grads.append(torch.autograd.grad(out.square().sum(), [*leaves, *encoding.parameters()]))
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*grads, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_half_precision_is_as_near_as_half_precision_can_be(name):
    places = sessions(64)
    layer = made(name).prepare(axis(places), axis(places)).layer(0)
    q, k, v = vectors(64, 64, dtype=torch.bfloat16)
    out = attend(q, k, v, layer, is_causal=True)
    assert out.dtype == torch.bfloat16
    assert torch.allclose(out.double(), softmax_attention(q, k, v, layer, is_causal=True), atol=0.05)


def test_autocast_does_not_blur_the_bias():
    places = sessions(64)
    layer = made("alibi").prepare(axis(places), axis(places)).layer(0)
    q, k, v = vectors(64, 64, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = attend(q, k, v, layer, is_causal=True)
    assert torch.allclose(out.double(), softmax_attention(q, k, v, layer, is_causal=True), atol=0.05)


def test_places_that_run_backwards_are_not_folded():
    places = sessions(6).flip(0)
    layer = made("alibi").prepare(axis(places), axis(places)).layer(0)
    q, k, v = vectors(6, 6)
    assert torch.allclose(
        attend(q, k, v, layer, is_causal=True), softmax_attention(q, k, v, layer, is_causal=True), atol=1e-6
    )


@pytest.mark.parametrize("name", ["alibi + time_rab + rope", "alibi | rope", "xpos"])
def test_preparation_and_attention_trace_into_one_graph(name):
    places = sessions(6)
    encoding, at = made(name), axis(places)
    q, k, v = vectors(6, 6)

    def whole(q, k, v):
        return attend(q, k, v, encoding.prepare(at, at).layer(0), is_causal=True)

    compiled = torch.compile(whole, fullgraph=True, backend="eager")
    assert torch.allclose(compiled(q, k, v), whole(q, k, v), atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_inference_before_training_leaves_nothing_behind(name):
    places = sessions(6)
    encoding = made(name)
    copy = deepcopy(encoding)
    with torch.inference_mode():
        attend(*vectors(6, 6), encoding.prepare(axis(places), axis(places)).layer(0), is_causal=True)
    leaves = [x.requires_grad_() for x in vectors(6, 6)]
    for _ in range(2):
        out = attend(*leaves, encoding.prepare(axis(places), axis(places)).layer(0), is_causal=True)
        out.sum().backward()
    copy.load_state_dict(encoding.state_dict())
    again = attend(*leaves, copy.prepare(axis(places), axis(places)).layer(0), is_causal=True)
    assert torch.equal(out, again)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [slice(0, 6), slice(6, None), slice(2, 4)], ids=str)
def test_some_queries_get_their_rows_of_the_bias_and_no_rotation(name, rows):
    places = sessions(9)
    layer = made(name).prepare(axis(places), axis(places[:6])).layer(0)
    part = layer.bias_of(rows)
    q, k, _ = vectors(len(places[rows]), 6)
    assert all(torch.equal(a, b) for a, b in zip(part.rotate(q, k), (q, k), strict=True))
    if layer.bias is None:
        assert part.bias is None
    else:
        assert torch.equal(part.bias, layer.bias[..., rows, :])


@pytest.mark.parametrize("name", NAMES)
def test_context_and_forecast_queries_attended_apart_get_what_they_get_together(name):
    """As the transformer does: keys rotated once, the context causal, the queries not."""
    places = sessions(9)
    layer = made(name).prepare(axis(places), axis(places[:6])).layer(0)
    q, k, v = vectors(9, 6)
    hidden = torch.ones(9, 6, dtype=torch.bool).triu(1)
    turned, keys = layer.rotate(q, k)
    logits = turned @ keys.mT / math.sqrt(q.shape[-1]) + (0 if layer.bias is None else layer.bias.double())
    expected = logits.masked_fill(hidden, -math.inf).softmax(-1) @ v
    context = attend_rotated(turned[:, :, :6], keys, v, layer.bias_of(slice(0, 6)), is_causal=True)
    queries = attend_rotated(turned[:, :, 6:], keys, v, layer.bias_of(slice(6, None)))
    assert torch.allclose(torch.cat((context, queries), dim=2), expected, atol=1e-6)


def test_causal_attention_with_unequal_lengths_is_refused():
    q, k, v = vectors(2, 6)
    with pytest.raises(EncodingError, match="2 queries and 6 keys"):
        attend(q, k, v, LayerTerms(), is_causal=True)
