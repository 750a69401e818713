"""RoTE: whole hours, days, weeks … since the first key, a scale per head."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.encodings.rote import SCALES, Rote, RoteConfig
from fints.errors import EncodingError

DAY = 86_400
# Daily closes of New York across the spring change of 2007 (21:00, then 20:00 UTC) and a half-day (17:00 UTC).
CLOSES = [1_173_387_600, 1_173_474_000, 1_173_729_600, 1_173_816_000, 1_183_482_000, 1_183_665_600]
DIM = 8


def made(n_heads=5, **options):
    return Rote(RoteConfig(**options), DIM, n_heads, 2)


def axis(*seconds, first=0):
    return TimeAxis(index=torch.arange(first, first + len(seconds))[None], seconds=torch.tensor([seconds]))


def vectors(seed, heads, n):
    return torch.randn(1, heads, n, DIM, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_tables_are_those_of_a_naive_formula():
    at = axis(*CLOSES)
    encoding = made()
    table = encoding.prepare(at, at).layer(0).q_table
    for h, scale in enumerate([None, "year", "quarter", "week", "day"]):
        for t, seconds in enumerate(CLOSES):
            count = t if scale is None else math.floor((seconds - CLOSES[0]) / SCALES[scale])
            for j in range(DIM // 2):
                angle = count * 10_000 ** (-2 * j / DIM)
                assert abs(complex(table[0, h, t, j]) - complex(math.cos(angle), math.sin(angle))) < 1e-6


@pytest.mark.parametrize(
    ("step", "n_heads", "expected"),
    [
        (DAY, 7, ("year", "quarter", "week", "day", "year", "quarter")),
        (3_600, 6, ("year", "quarter", "week", "day", "hour")),
        (1_800, 7, ("year", "quarter", "week", "day", "hour", "year")),
        (7 * DAY, 5, ("year", "quarter", "week", "year")),
        (800 * DAY, 3, ("year", "year")),
        (1, 8, tuple(SCALES)),
    ],
)
def test_heads_take_the_scales_that_the_bars_resolve_from_the_coarsest_on(step, n_heads, expected):
    places = axis(*(CLOSES[0] + step * i for i in range(4)))
    assert made(n_heads).scales(places) == expected
    assert made(n_heads, interval=step).scales(axis(0)) == expected


def test_the_interval_is_the_smallest_within_a_row_of_the_batch():
    at = TimeAxis(seconds=torch.tensor([[0, 0, 9 * DAY], [50, 50 + 8 * DAY, 50 + 30 * DAY]]))
    assert made().scales(at) == ("year", "quarter", "year", "quarter")


def test_the_first_head_is_plain_rope():
    at = axis(*CLOSES, first=4)
    rope = RotaryEncoding(rope_planes(DIM, 10_000.0), 1).prepare(at, at).layer(0)
    for n_heads in (1, 3):
        rotation = made(n_heads).prepare(at, at).layer(1)
        assert rotation.q_table.shape[1] == n_heads
        assert torch.equal(rotation.q_table[:, :1], rope.q_table)


@settings(max_examples=25, deadline=None)
@given(start=st.integers(0, 4_000_000_000), shift=st.integers(-400 * DAY, 90 * 365 * DAY), ahead=st.integers(1, 400))
def test_norms_are_kept_and_another_start_of_the_window_changes_nothing(start, shift, ahead):
    keys = [start + s - CLOSES[0] for s in CLOSES]
    asked = keys[-1] + ahead * DAY
    q, k = vectors(0, 5, 1), vectors(1, 5, len(keys))
    scores = []
    for move in (0, shift):
        k_at, q_at = axis(*(s + move for s in keys)), axis(asked + move, first=len(keys))
        a, b = made().prepare(q_at, k_at).layer(0).rotate(q, k)
        assert torch.allclose(a.norm(dim=-1), q.norm(dim=-1), rtol=1e-6)
        scores.append(a @ b.transpose(-1, -2))
    assert torch.allclose(*scores, atol=1e-6)


def test_the_first_key_of_a_window_is_left_alone():
    at = axis(*CLOSES)
    k = vectors(1, 5, len(CLOSES))
    _, turned = made().prepare(at, at).layer(0).rotate(vectors(0, 5, len(CLOSES)), k)
    assert torch.equal(turned[:, :, 0], k[:, :, 0])


def test_a_query_asked_alone_gets_what_the_full_pass_gives_it():
    at = axis(*CLOSES)
    full = made().prepare(at, at).layer(0).q_table
    last = made().prepare(axis(CLOSES[-1], first=len(CLOSES) - 1), at).layer(0).q_table
    assert torch.equal(full[:, :, -1:], last)


def test_nothing_is_stored_that_a_cast_could_touch():
    encoding, at = made(), axis(*CLOSES)
    table = encoding.prepare(at, at).layer(0).q_table
    assert not encoding.state_dict()
    assert torch.equal(encoding.bfloat16().prepare(at, at).layer(0).q_table, table)


def test_keys_that_show_no_interval_are_refused():
    with pytest.raises(EncodingError, match="set interval="):
        made().prepare(axis(CLOSES[0]), axis(CLOSES[0]))
    with pytest.raises(EncodingError, match="even head width"):
        Rote(RoteConfig(), 7, 2, 1)
