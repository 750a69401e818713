"""Every encoding as a module: copies, states, casts, devices, call order, inference."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from fints.encodings import TimeAxis, attend
from tests.encodings.conftest import (
    CASES,
    CLOCKS,
    DIM,
    HEADS,
    LAYERS,
    WIDTH,
    made,
    moved,
    trained,
    unit_vectors,
    window,
)

AT = window("autumn in New York")
LATER = moved(AT, index=18, session=18, calendar=28, seconds=28 * 86_400)
N = AT.index.shape[1]
EVERY = pytest.mark.parametrize("case", sorted(CASES))


def tokens(dtype=torch.float32):
    return unit_vectors(3, N, dtype).transpose(1, 2).reshape(1, N, DIM)


def outputs(encoding, at=AT, dtype=torch.float32):
    """Return all that an encoding makes of the same tokens, queries, keys and values."""
    out = [encoding.embed(tokens(dtype), at)]
    terms = encoding.prepare(at, at)
    for number in range(LAYERS):
        layer = terms.layer(number)
        out += [*layer.rotate(unit_vectors(0, N, dtype), unit_vectors(1, N, dtype))]
        out += [] if layer.bias is None else [layer.bias]
    return out


def same(found, expected):
    return len(found) == len(expected) and all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def loss(encoding, at=AT):
    q, k, v = (unit_vectors(seed, N, torch.float32).requires_grad_() for seed in range(3))
    terms = encoding.prepare(at, at)
    total = encoding.embed(tokens(), at).square().sum()
    for number in range(LAYERS):
        total = total + attend(q, k, v, terms.layer(number), is_causal=True).square().sum()
    return total


@EVERY
def test_a_copy_is_the_same_and_its_own(case):
    encoding = trained(case)
    expected = outputs(encoding)
    other = copy.deepcopy(encoding)
    assert same(outputs(other), expected)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(1)
    assert same(outputs(encoding), expected)


@EVERY
def test_the_state_holds_all_that_was_learned(case):
    encoding = trained(case)
    fresh = made(case)
    assert same(outputs(encoding), outputs(fresh)) is not any(True for _ in encoding.parameters())
    fresh.load_state_dict(encoding.state_dict())
    assert same(outputs(fresh), outputs(encoding))


@EVERY
def test_an_encoding_of_the_meta_device_takes_a_state(case):
    encoding = trained(case)
    with torch.device("meta"):
        empty = made(case)
    assert all(parameter.is_meta for parameter in empty.parameters())
    empty = empty.to_empty(device="cpu")
    with torch.no_grad():
        for parameter in empty.parameters():
            parameter.fill_(math.nan)
    empty.load_state_dict(encoding.state_dict())
    assert same(outputs(empty), outputs(encoding))


@EVERY
def test_an_encoding_of_the_meta_device_can_be_reset(case):
    fresh = made(case)
    with torch.device("meta"):
        empty = made(case)
    empty = empty.to_empty(device="cpu")
    with torch.no_grad():
        for parameter in empty.parameters():
            parameter.fill_(math.nan)
    for module in empty.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    for found, expected in zip(empty.parameters(), fresh.parameters(), strict=True):
        assert torch.isfinite(found).all()
        if found.numel() > 30:
            assert 0.6 * expected.std() <= found.std() <= 1.6 * expected.std()
        assert found.abs().max() <= 3 * expected.abs().max()


@EVERY
def test_terms_prepared_on_the_meta_device_have_the_shapes_of_the_real_ones(case):
    at = TimeAxis(**{clock: getattr(AT, clock).to("meta") for clock in CLOCKS})
    with torch.device("meta"):
        encoding = made(case)
    q = torch.empty(1, HEADS, N, WIDTH, device="meta")
    for layer, real in zip(encoding.prepare(at, at).layers, made(case).prepare(AT, AT).layers, strict=True):
        turned = layer.rotate(q, q)
        assert [x.shape for x in turned] == [q.shape, q.shape]
        assert (layer.bias is None) == (real.bias is None)
        assert layer.bias is None or layer.bias.shape == real.bias.shape
    x = torch.empty(1, N, DIM, device="meta")
    assert encoding.embed(x, at).shape == x.shape


@EVERY
def test_what_was_asked_before_does_not_matter(case):
    """Half precision first, other places, other lengths: nothing of them stays behind."""
    encoding = made(case)
    outputs(encoding, LATER, torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs(encoding, LATER)
    half = TimeAxis(**{clock: getattr(LATER, clock)[:, 5:9] for clock in CLOCKS})
    encoding.prepare(half, LATER)
    assert same(outputs(encoding), outputs(made(case)))


@EVERY
def test_nothing_given_is_changed(case):
    given = [unit_vectors(0, N), unit_vectors(1, N), tokens(torch.float64)]
    before = [x.clone() for x in given]
    places = {clock: getattr(AT, clock).clone() for clock in CLOCKS}
    encoding = made(case)
    encoding.prepare(AT, AT).layer(0).rotate(*given[:2])
    encoding.embed(given[2], AT)
    assert same(given, before)
    assert all(torch.equal(getattr(AT, clock), places[clock]) for clock in CLOCKS)


@EVERY
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_what_comes_out_has_the_dtype_that_went_in(case, dtype):
    encoding = made(case)
    q, k = encoding.prepare(AT, AT).layer(0).rotate(unit_vectors(0, N, dtype), unit_vectors(1, N, dtype))
    assert q.dtype == k.dtype == encoding.embed(tokens(dtype), AT).dtype == dtype
    out = attend(q, k, q, encoding.prepare(AT, AT).layer(0), is_causal=True)
    assert out.dtype == dtype
    assert torch.isfinite(out).all()


@EVERY
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_model_in_half_precision_works_nearly_as_well(case, dtype):
    encoding = trained(case)
    cast = nn.ModuleDict({"encoding": copy.deepcopy(encoding)}).to(dtype)["encoding"]
    for found, expected in zip(outputs(cast, dtype=dtype), outputs(encoding), strict=True):
        scale = max(1.0, float(expected.detach().abs().max()))
        assert torch.allclose(found.float(), expected.float(), rtol=0, atol=0.02 * scale)


@EVERY
def test_a_transformer_may_have_one_layer_and_many_rows(case):
    """Forward and backward; the first layer is that of a deeper model where it is drawn and not learned."""
    encoding = made(case, n_layers=1)
    at = TimeAxis(**{clock: getattr(AT, clock).expand(3, -1) for clock in CLOCKS})
    q, k, v = (unit_vectors(seed, N, torch.float32).expand(3, -1, -1, -1) for seed in range(3))
    out = attend(q, k, v, encoding.prepare(at, at).layer(0), is_causal=True)
    x = encoding.embed(tokens().expand(3, -1, -1), at)
    learned = list(encoding.parameters())
    grads = torch.autograd.grad(out.square().sum() + x.square().sum(), learned) if learned else []
    assert all(torch.isfinite(grad).all() for grad in grads)
    deeper = attend(q, k, v, made(case).prepare(at, at).layer(0), is_causal=True)
    assert learned or torch.equal(out, deeper)


@EVERY
def test_training_after_inference_reaches_every_parameter(case):
    encoding = trained(case)
    with torch.inference_mode():
        loss(encoding)
    for _ in range(2):
        loss(encoding).backward()
    assert_reached(encoding)


def assert_reached(encoding):
    for parameter in encoding.parameters():
        assert torch.isfinite(parameter.grad).all()
        assert parameter.grad.abs().sum() > 0


@EVERY
def test_terms_that_were_first_asked_without_gradients_carry_them_afterwards(case):
    """So it is in checkpointed layers, and where somebody looks at the scores before training goes on."""
    encoding = trained(case)
    q, k, v = (unit_vectors(seed, N, torch.float32).requires_grad_() for seed in range(3))
    terms = encoding.prepare(AT, AT)
    with torch.no_grad():
        for layer in terms.layers:
            attend(q, k, v, layer, is_causal=True)
    total = encoding.embed(tokens(), AT).square().sum()
    for layer in terms.layers:
        total = total + attend(q, k, v, layer, is_causal=True).square().sum()
    total.backward()
    assert_reached(encoding)


@EVERY
@pytest.mark.parametrize("reentrant", [True, False])
def test_activations_may_be_checkpointed(case, reentrant):
    grads = []
    for checkpointed in (False, True):
        encoding = trained(case)
        q, k, v = (unit_vectors(seed, N, torch.float32).requires_grad_() for seed in range(3))

        def layers(q, k, v, encoding=encoding):
            terms = encoding.prepare(AT, AT)
            return sum(attend(q, k, v, layer, is_causal=True).square().sum() for layer in terms.layers)

        out = checkpoint(layers, q, k, v, use_reentrant=reentrant) if checkpointed else layers(q, k, v)
        out.backward()
        grads.append([x.grad for x in (q, k, v, *encoding.parameters()) if x.grad is not None])
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(*grads, strict=True))
