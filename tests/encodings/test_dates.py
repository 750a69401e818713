"""Angles are right to a microradian at every date from 1970 to 2100, whatever a module is cast to."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fints.encodings import TimeAxis, build
from fints.encodings.combine import rotates
from tests.encodings.conftest import ATTENDING, DAY, DIM, HEADS, LAYERS, WIDTH, made

TURN = 2 * Fraction("3.14159265358979323846264338327950288419716939937510")
MICRORADIAN = 1e-6
TURNING = [case for case in ATTENDING if rotates(made(case))]
# Closes of New York around changes of daylight saving time, a half-day, and the ends of what is promised.
SECONDS = st.sampled_from(
    [75_600, 1_173_474_000, 1_173_729_600, 1_194_033_600, 1_194_296_400, 1_542_992_400, 4_102_434_000]
) | st.integers(0, 4_102_444_800)


def axis(seconds: int, bars: int = 3) -> TimeAxis:
    """Return some bars, an hour apart, that begin at a date."""
    at = torch.tensor([[seconds + 3600 * i for i in range(bars)]], dtype=torch.int64)
    days = at.double() / DAY
    return TimeAxis(
        index=torch.arange(bars)[None], session=(days * 252 / 365.25 * 7).floor() / 7, calendar=days, seconds=at
    )


def tables(encoding, at) -> list[torch.Tensor]:
    """Read the tables off what the encoding makes of the vector (1, 0) in every plane."""
    ones = torch.zeros(1, HEADS, at.index.shape[1], WIDTH, dtype=torch.get_default_dtype())
    ones[..., ::2] = 1
    turned = [x for layer in encoding.prepare(at, at).layers for x in layer.rotate(ones, ones)]
    pairs = [torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous()).detach() for x in turned]
    return [x / x.abs() for x in pairs]


def exact(encoding, at):
    """Evaluate the tables in float64 throughout."""
    torch.set_default_dtype(torch.float64)
    try:
        return tables(encoding, at)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("case", TURNING)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@settings(max_examples=5)
@given(seconds=SECONDS)
def test_casts_and_autocast_move_no_angle(case, dtype, seconds):
    at = axis(seconds)
    expected = exact(made(case), at)
    cast = nn.ModuleList([made(case)]).to(dtype)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
        found = tables(cast, at)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).abs().max() <= MICRORADIAN


@pytest.mark.parametrize(
    ("settings_", "clock"),
    [
        ({"kind": "rope"}, "index"),
        ({"kind": "rope", "clock": "session"}, "session"),
        ({"kind": "clock", "law": "cosine-fold", "period": 2 * math.pi, "clock": "seconds", "share": 1.0}, "seconds"),
        ({"kind": "clock", "law": "cosine-fold", "period": DAY, "clock": "seconds", "share": 1.0}, "seconds"),
        ({"kind": "clock", "law": "cosine-fold", "period": 7.0, "clock": "calendar", "share": 1.0}, "calendar"),
        ({"kind": "rfr", "kernel": {"kind": "cosine", "period": 61, "fold": True}, "clock": "seconds"}, "seconds"),
    ],
    ids=str,
)
@settings(max_examples=30)
@given(seconds=SECONDS)
def test_angles_are_those_of_rational_arithmetic(settings_, clock, seconds):
    encoding, at = build(settings_, dim=DIM, n_heads=HEADS, n_layers=LAYERS), axis(seconds)
    for bar, place in enumerate(at.clock(clock)[0].tolist()):
        for plane, found in enumerate(tables(encoding, at)[0][0, 0, bar].tolist()):
            if settings_["kind"] == "rope":
                radians = Fraction(place) * Fraction(10_000 ** (-2 * plane / WIDTH))
            else:
                period = settings_.get("period") or settings_["kernel"]["period"]
                radians = TURN * Fraction(place) / Fraction(period)
            turns = radians / TURN
            angle = float((turns - round(turns)) * TURN)
            assert abs(math.remainder(math.atan2(found.imag, found.real) - angle, 2 * math.pi)) <= MICRORADIAN


@pytest.mark.parametrize("year", [1970, 1999, 2026, 2099])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_learned_bank_at_one_radian_a_second_is_right_too(dtype, year):
    """T-RoPE at β = 100 s and α = 100, where float32 seconds would be wrong by many turns."""
    settings_ = {"kind": "t_rope", "beta_min": 100.0, "beta_max": 100.0, "sigma": 0.0}
    encoding = build(settings_, dim=DIM, n_heads=HEADS, n_layers=LAYERS)
    with torch.no_grad():
        encoding.query.offset.fill_(1e9)
    seconds = (year - 1970) * 31_557_600 + 51_300
    encoding = nn.ModuleList([encoding]).to(dtype)[0]
    rate = Fraction(float(encoding.query.alpha()[0, 0].detach())) / 100
    turns = rate * seconds / TURN
    angle = float((turns - round(turns)) * TURN)
    found = complex(tables(encoding, axis(seconds))[0][0, 0, 0, 0])
    assert float(rate) == pytest.approx(1.0)
    assert abs(found - complex(math.cos(angle), math.sin(angle))) <= MICRORADIAN
