"""Tensors that are not what an encoding was built and prepared for: one error, which says what it was, and the cure."""

import pytest
import torch

from fints.encodings import LayerTerms, TimeAxis, attend, attend_rotated
from fints.errors import EncodingError
from tests.encodings.conftest import CASES, CLOCKS, DIM, HEADS, LAYERS, WIDTH, made, some, window

AT = window("autumn in New York")
N = AT.index.shape[1]
FITTING = (1, HEADS, N, WIDTH)
EVERY = pytest.mark.parametrize("case", sorted(CASES))

WRONG = {
    "tokens": ((1, HEADS, 1, WIDTH), f"T is 1, not {N}; give it the places of these tokens"),
    "more heads": ((1, 2 * HEADS, N, WIDTH), f"H is {2 * HEADS}, not {HEADS}; build it with n_heads="),
    "one head": ((1, 1, N, WIDTH), f"H is 1, not {HEADS}; .* repeat keys"),
    "width": ((1, HEADS, N, 2 * WIDTH), f"D is {2 * WIDTH}, not {WIDTH}; build it with dim="),
    "axes": ((HEADS, N, WIDTH), "give 4 axes"),
}


def samples(count, at=AT):
    """Let every sample have its own row of places."""
    return TimeAxis(**{clock: getattr(at, clock).repeat(count, 1) for clock in CLOCKS})


def kind(case):
    return CASES[case]["kind"]


@EVERY
@pytest.mark.parametrize("wrong", WRONG)
def test_queries_and_keys_of_another_shape_are_refused_by_every_encoding(case, wrong):
    shape, says = WRONG[wrong]
    layer = made(case).prepare(AT, AT).layer(LAYERS - 1)
    bad, good = torch.ones(shape), torch.ones(FITTING)
    start = rf"'{kind(case)}', for these places, takes {{}} of shape \(B, {HEADS}, {N}, {WIDTH}\); got .*{says}"
    for use in (layer.rotate, lambda q, k: attend(q, k, good, layer)):
        with pytest.raises(EncodingError, match=start.format("queries")):
            use(bad, good)
        with pytest.raises(EncodingError, match=start.format("keys")):
            use(good, bad)


@EVERY
def test_one_row_of_places_serves_any_batch_and_others_only_their_own(case):
    good, many = torch.ones(FITTING), torch.ones(3, *FITTING[1:])
    shared, own = made(case).prepare(AT, AT).layer(0), made(case).prepare(samples(3), samples(3)).layer(0)
    assert attend(many, many, many, shared).shape == attend(many, many, many, own).shape == many.shape
    with pytest.raises(EncodingError, match=r"B is 1, not 3; give one row of places for all samples"):
        own.rotate(good, good)
    mixed = made(case).prepare(samples(3), AT).layer(0)
    assert mixed.rotate(many, many)[1].shape == many.shape
    with pytest.raises(EncodingError, match="places of 3 samples for the queries and of 2 for the keys"):
        made(case).prepare(samples(3), samples(2))


@EVERY
def test_whole_numbers_are_not_turned(case):
    layer = made(case).prepare(AT, AT).layer(0)
    with pytest.raises(EncodingError, match=rf"'{kind(case)}' takes keys of floating-point numbers; got torch\.int64"):
        layer.rotate(torch.ones(FITTING), torch.ones(FITTING, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(1, HEADS, N - 1, WIDTH), (1, 1, N, WIDTH)])
@pytest.mark.parametrize("case", ["rope", "alibi", "time_rab", "none"])
def test_values_are_those_of_the_keys(case, shape):
    layer = made(case).prepare(AT, AT).layer(0)
    good = torch.ones(FITTING)
    with pytest.raises(EncodingError, match=rf"takes values of shape \(B, {HEADS}, {N}, D\); got"):
        attend(good, good, torch.ones(shape), layer)


@pytest.mark.parametrize("case", ["rope", "alibi", "alibi + rope", "alibi or cycle by head"])
def test_the_bias_of_some_queries_fits_those_queries(case):
    layer = made(case).prepare(AT, AT).layer(0)
    good = torch.ones(FITTING)
    for rows in (slice(0, 3), slice(3, None), slice(-2, None)):
        part, fitting = layer.bias_of(rows), good[:, :, rows]
        assert attend_rotated(fitting, good, good, part).shape == fitting.shape
        with pytest.raises(EncodingError, match=f"T is {N}, not {fitting.shape[2]}"):
            attend_rotated(good, good, good, part)


@EVERY
def test_tokens_of_another_shape_are_refused(case):
    encoding = made(case)
    x = torch.ones(3, N, DIM)
    assert encoding.embed(x, AT).shape == encoding.embed(x, samples(3)).shape == x.shape
    for wrong, says in (
        (x[..., 1:], f"C is {DIM - 1}, not {DIM}; build it with dim="),
        (x[:, 1:], f"T is {N - 1}, not {N}"),
        (x[0], "give 3 axes"),
        (x.long(), r"tokens of floating-point numbers; got torch\.int64"),
    ):
        with pytest.raises(EncodingError, match=f"'{kind(case)}'.* {says}"):
            encoding.embed(wrong, AT)
    with pytest.raises(EncodingError, match="B is 3, not 2"):
        encoding.embed(x, samples(2))


def test_places_that_are_no_time_axis_are_refused():
    encoding, places = made("rope"), torch.arange(N)[None]
    for name, use in {
        "q_at": lambda: encoding.prepare(places, AT),
        "k_at": lambda: encoding.prepare(AT, places),
        "at": lambda: encoding.embed(torch.ones(1, N, DIM), places),
    }.items():
        with pytest.raises(EncodingError, match=rf"^{name} is of type Tensor; .* TimeAxis\(index=places\)"):
            use()


def test_a_layer_that_is_not_there_is_refused():
    terms = made("rope").prepare(AT, AT)
    for index in (LAYERS, 5, -LAYERS - 1):
        with pytest.raises(EncodingError, match=f"no layer {index}: the encoding was built with n_layers={LAYERS}"):
            terms.layer(index)


def test_terms_that_no_encoding_prepared_take_anything():
    x = torch.ones(2, 1, 3, 5)
    assert all(torch.equal(y, x) for y in LayerTerms().rotate(x, x))


@pytest.mark.parametrize("case", ["rope", "alibi + rope"])
def test_the_checks_stay_out_of_the_graph_for_windows_of_any_length(case):
    encoding = made(case)

    def whole(q, places):
        at = TimeAxis(**places)
        layer = encoding.prepare(at, at).layer(0)
        q, k = layer.rotate(q, q)
        part = layer.bias_of(slice(1, None))
        return attend_rotated(q[:, :, 1:], k, k, part)

    torch.compiler.reset()
    compiled = torch.compile(whole, fullgraph=True, dynamic=True, backend="eager")
    for n in (N, N - 3, N - 5):
        at = some(AT, slice(0, n))
        q, places = torch.rand(2, HEADS, n, WIDTH), {clock: getattr(at, clock) for clock in CLOCKS}
        assert torch.allclose(compiled(q, places), whole(q, places), atol=1e-5)
