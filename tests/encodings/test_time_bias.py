"""Learned time biases against double loops, at real closes."""

import math
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.time_bias import (
    IntervalBiasConfig,
    IntervalBiasEncoding,
    TimeRabConfig,
    TimeRabEncoding,
    interval_rows,
    log_buckets,
)
from fints.errors import EncodingError

HEADS, LAYERS = 3, 2
NEW_YORK = ZoneInfo("America/New_York")
# Friday before daylight saving, the Monday after, a half-day, the Monday after that.
CLOSES = [
    datetime(*close, tzinfo=NEW_YORK).timestamp()
    for close in [(2018, 3, 9, 16), (2018, 3, 12, 16), (2018, 11, 23, 13), (2018, 11, 26, 16)]
]


def axis(seconds, first=0):
    return TimeAxis(
        index=torch.arange(first, first + len(seconds))[None], seconds=torch.tensor([seconds], dtype=torch.float64)
    )


def rab(**settings):
    return TimeRabEncoding(TimeRabConfig(**settings), HEADS, LAYERS)


def interval(**settings):
    return IntervalBiasEncoding(IntervalBiasConfig(**settings), HEADS, LAYERS)


MAKERS = {"time_rab": rab, "time_rab per head": lambda: rab(per_head=True), "interval_bias": interval}


def naive_bucket(delta, buckets=128):
    return min(math.floor(math.log(max(abs(delta), 1)) / 0.301), buckets - 1)


@given(delta=st.integers(-5_000_000_000, 5_000_000_000))
def test_the_buckets_are_those_of_the_formula(delta):
    assert log_buckets(torch.tensor([float(delta)], dtype=torch.float64), 128).item() == naive_bucket(delta)


@pytest.mark.parametrize(
    ("delta", "bucket"), [(0, 0), (1, 0), (-1, 0), (2, 2), (86_400, 37), (-86_400, 37), (1e30, 127)]
)
def test_known_times_fall_into_known_buckets(delta, bucket):
    assert log_buckets(torch.tensor([delta], dtype=torch.float64), 128).item() == bucket


@pytest.mark.parametrize(("delta", "row"), [(0, 0), (86_399, 0), (86_400, 1), (-86_400, 1), (3 * 86_400, 3), (1e12, 5)])
def test_known_times_fall_into_known_intervals(delta, row):
    assert interval_rows(torch.tensor([delta], dtype=torch.float64), 86_400, 5).item() == row


@pytest.mark.parametrize("per_head", [False, True])
def test_time_rab_adds_a_bucket_and_a_clipped_offset_per_layer(per_head):
    encoding = rab(per_head=per_head, max_offset=2)
    terms = encoding.prepare(axis(CLOSES[1:], first=1), axis(CLOSES))
    for number in range(LAYERS):
        bias = terms.layer(number).bias
        assert bias.shape == (1, HEADS if per_head else 1, 3, 4)
        for h in range(bias.shape[1]):
            for i in range(3):
                for j in range(4):
                    offset = max(-2, min(2, i + 1 - j))
                    expected = (
                        encoding.times[number][naive_bucket(CLOSES[i + 1] - CLOSES[j]), h]
                        + encoding.offsets[number][offset + 2, h]
                    )
                    assert torch.equal(bias[0, h, i, j], expected)


def test_the_spring_weekend_is_an_hour_short_of_three_days():
    encoding = interval(clip=10)
    bias = encoding.prepare(axis(CLOSES), axis(CLOSES)).layer(1).bias
    assert bias.shape == (1, HEADS, 4, 4)
    table = encoding.intervals[1]
    assert torch.equal(bias[0, :, 1, 0], table[2])
    assert torch.equal(bias[0, :, 3, 2], table[3])
    assert torch.equal(bias[0, :, 2, 1], table[10])
    assert torch.equal(bias[0, :, 0, 0], table[0])


@pytest.mark.parametrize("name", sorted(MAKERS))
@given(times=st.lists(st.integers(0, 4_000_000_000), min_size=1, max_size=5), shift=st.integers(-(10**9), 10**9))
def test_the_bias_depends_on_elapsed_time_only(name, times, shift):
    encoding = MAKERS[name]()
    here = encoding.prepare(axis(times), axis(times)).layer(0).bias
    moved = [t + shift for t in times]
    assert torch.equal(here, encoding.prepare(axis(moved, first=7), axis(moved, first=7)).layer(0).bias)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_gradients_reach_exactly_the_rows_that_were_read(name):
    encoding = MAKERS[name]()
    encoding.prepare(axis(CLOSES), axis(CLOSES)).layer(1).bias.sum().backward()
    first, second = encoding.intervals if name == "interval_bias" else encoding.times
    assert first.grad is None
    row = interval_rows if name == "interval_bias" else None
    rows = {
        interval_rows(torch.tensor(a - b), 86_400, 256).item() if row else naive_bucket(a - b)
        for a in CLOSES
        for b in CLOSES
    }
    assert set(second.grad.abs().sum(-1).nonzero().flatten().tolist()) == rows
    assert second.grad.sum().item() == pytest.approx(len(CLOSES) ** 2 * second.shape[1])


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_preparing_twice_trains_twice(name):
    encoding = MAKERS[name]()
    for _ in range(2):
        encoding.prepare(axis(CLOSES), axis(CLOSES)).layer(0).bias.sum().backward()


@pytest.mark.parametrize("name", sorted(MAKERS))
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_cast_module_finds_the_same_rows(name, dtype):
    encoding = MAKERS[name]()
    rows = encoding.prepare(axis(CLOSES), axis(CLOSES)).layer(0).rows
    cast = encoding.to(dtype).prepare(axis(CLOSES), axis(CLOSES)).layer(0)
    assert all(torch.equal(a, b) for a, b in zip(rows, cast.rows, strict=True))
    assert cast.bias.dtype == dtype


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_one_query_gets_what_the_full_pass_gives_it(name):
    encoding = MAKERS[name]()
    full = encoding.prepare(axis(CLOSES), axis(CLOSES)).layer(0).bias
    one = encoding.prepare(axis(CLOSES[-1:], first=3), axis(CLOSES)).layer(0).bias
    assert torch.equal(full[:, :, -1:], one)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_missing_clock_is_named(name):
    at = TimeAxis(index=torch.arange(3)[None])
    with pytest.raises(EncodingError, match="reads the seconds clock"):
        MAKERS[name]().prepare(at, at)
