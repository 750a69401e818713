"""Absolute positions against naive formulas."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fints.encodings import TimeAxis
from fints.encodings.absolute import (
    AbsoluteLearned,
    AbsoluteLearnedConfig,
    AbsoluteLinear,
    AbsoluteLinearConfig,
    AbsoluteSinusoidal,
    AbsoluteSinusoidalConfig,
)
from fints.encodings.base import LayerTerms
from fints.errors import EncodingError

DIM, LAYERS = 12, 3
MAKERS = {
    "linear": lambda: AbsoluteLinear(AbsoluteLinearConfig(), DIM, LAYERS),
    "sinusoidal": lambda: AbsoluteSinusoidal(AbsoluteSinusoidalConfig(), DIM, LAYERS),
    "learned": lambda: AbsoluteLearned(AbsoluteLearnedConfig(), DIM, LAYERS),
}


def index(*places):
    return TimeAxis(index=torch.tensor([places], dtype=torch.float64))


def added(encoding, *places, dtype=torch.float64):
    x = torch.zeros(2, len(places), DIM, dtype=dtype)
    return encoding.embed(x, index(*places))


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_the_places_are_added_to_any_tokens_and_attention_sees_none(name):
    encoding = MAKERS[name]()
    x = torch.randn(2, 3, DIM, dtype=torch.float64)
    at = index(4, 5, 9)
    assert torch.allclose(encoding.embed(x, at) - x, added(encoding, 4, 5, 9), atol=1e-12)
    terms = encoding.prepare(at, at)
    assert [type(layer) for layer in terms.layers] == [LayerTerms] * LAYERS


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_tokens_get_what_their_own_places_say(name):
    encoding = MAKERS[name]()
    assert torch.equal(added(encoding, 700, 701, 703)[:, 2], added(encoding, 703)[:, 0])


def test_the_linear_encoding_is_a_line_of_any_slope_and_level():
    encoding = MAKERS["linear"]()
    level, slope = torch.randn(DIM), torch.randn(DIM)
    with torch.no_grad():
        encoding.project.bias.copy_(level)
        encoding.project.weight.copy_(slope[:, None])
    for place in (0.0, 1.0, 255.5, 4096.0):
        assert torch.allclose(added(encoding, place)[0, 0], level.double() + slope.double() * place / 256, atol=1e-12)


def test_the_line_of_a_window_is_well_conditioned():
    places = torch.arange(256.0, dtype=torch.float64)
    columns = torch.stack([torch.ones_like(places), places / AbsoluteLinearConfig().scale], dim=1)
    raw = torch.stack([torch.ones_like(places), places], dim=1)
    assert torch.linalg.cond(columns) < 5
    assert torch.linalg.cond(raw) > 100


@given(place=st.floats(-1e4, 1e6))
def test_the_sinusoidal_table_is_the_published_formula_at_any_place(place):
    row = added(MAKERS["sinusoidal"](), place)[0, 0]
    for i in range(DIM // 2):
        angle = place / 10_000 ** (2 * i / DIM)
        assert row[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-9)
        assert row[2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-9)


@given(one=st.integers(0, 100_000), other=st.integers(0, 100_000), shift=st.integers(-50_000, 50_000))
def test_products_of_sinusoidal_rows_depend_on_distance_only(one, other, shift):
    encoding = MAKERS["sinusoidal"]()

    def product(a, b):
        return (added(encoding, a)[0, 0] * added(encoding, b)[0, 0]).sum()

    assert torch.allclose(product(one, other), product(one + shift, other + shift), atol=1e-8)


@pytest.mark.parametrize("name", ["linear", "sinusoidal"])
def test_a_half_precision_module_still_tells_neighbouring_bars_apart(name):
    exact, cast = MAKERS[name](), None
    cast = MAKERS[name]()
    cast.load_state_dict(exact.state_dict())
    cast.to(torch.bfloat16)
    step = added(exact, 100_001) - added(exact, 100_000)
    cast_step = added(cast, 100_001) - added(cast, 100_000)
    assert torch.allclose(step, cast_step, rtol=0.02, atol=1e-9)
    assert added(cast, 7, dtype=torch.bfloat16).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("cast", [False, True])
def test_the_line_is_exact_before_it_meets_half_precision_tokens(dtype, cast):
    """Neighbouring bars lie far below the rounding of their places in half precision: 2 in 390 for bfloat16."""
    encoding = MAKERS["linear"]()
    with torch.no_grad():
        encoding.project.weight.fill_(1.0)
        encoding.project.bias.fill_(-384.0)
    encoding = encoding.to(dtype) if cast else encoding
    places = [98_304.0 + step for step in (0, 1, 2, 3, 16, 64)]
    assert added(encoding, *places, dtype=dtype)[0, :, 0].tolist() == [0, 1 / 256, 2 / 256, 3 / 256, 1 / 16, 1 / 4]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_sinusoidal_table_is_exact_before_it_meets_half_precision_tokens(dtype):
    found = added(MAKERS["sinusoidal"](), 98_305.0, dtype=dtype)[0, 0, 0].item()
    assert found == pytest.approx(math.sin(98_305.0), rel=torch.finfo(dtype).eps)


def test_only_the_rows_that_were_asked_for_learn():
    encoding = MAKERS["learned"]()
    added(encoding, 3, 5).sum().backward()
    touched = encoding.table.weight.grad.abs().sum(-1).nonzero().flatten()
    assert touched.tolist() == [3, 5]


def test_the_linear_projection_learns():
    encoding = MAKERS["linear"]()
    added(encoding, 3, 5).sum().backward()
    assert torch.allclose(encoding.project.weight.grad, torch.full((DIM, 1), 2 * (3 + 5) / 256))


def test_the_sinusoidal_table_survives_the_meta_device():
    with torch.device("meta"):
        encoding = MAKERS["sinusoidal"]()
    moved = encoding.to_empty(device="cpu")
    assert torch.equal(added(moved, 77), added(MAKERS["sinusoidal"](), 77))


@pytest.mark.parametrize(("place", "says"), [(1024, "place 1024"), (-1, "place -1"), (2.5, "place 2.5")])
def test_a_place_outside_the_learned_table_is_named(place, says):
    with pytest.raises(EncodingError, match=f"{says} .*1023.*raise `places`"):
        added(MAKERS["learned"](), 0, place)


def test_a_sinusoidal_table_of_odd_width_is_refused():
    with pytest.raises(EncodingError, match="width 7 is odd"):
        AbsoluteSinusoidal(AbsoluteSinusoidalConfig(), 7, 1)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_missing_index_clock_is_named(name):
    at = TimeAxis(seconds=torch.zeros(1, 2, dtype=torch.float64))
    with pytest.raises(EncodingError, match="reads the index clock"):
        MAKERS[name]().embed(torch.zeros(1, 2, DIM), at)


@pytest.mark.parametrize(
    "make",
    [
        lambda: AbsoluteLinearConfig(scale=0),
        lambda: AbsoluteSinusoidalConfig(base=1),
        lambda: AbsoluteLearnedConfig(places=0),
        lambda: AbsoluteLearnedConfig(rows=5),
    ],
)
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(ValidationError):
        make()
