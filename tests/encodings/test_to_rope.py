"""TO-RoPE: order and time with one coefficient for query and key, in three fusions."""

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.to_rope import ToRope, ToRopeConfig
from fints.errors import EncodingError

DAY = 86_400
FUSIONS = ["early", "planes", "heads"]
CLOSES = [1_173_474_000, 1_173_729_600, 1_194_033_600, 1_194_296_400, 1_520_629_200, 1_520_884_800]
SECONDS = st.sampled_from(CLOSES) | st.integers(0, 4_102_444_800)
DIM, HEADS, LAYERS = 16, 3, 2


def axis(index, seconds):
    return TimeAxis(index=torch.tensor([index]), seconds=torch.tensor([seconds]))


def vectors(seed, n=1):
    return torch.randn(1, HEADS, n, DIM, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def made(fusion="early", **options):
    return ToRope(ToRopeConfig(fusion=fusion, **options), DIM, HEADS, LAYERS)


def score(encoding, q_at, k_at):
    q, k = encoding.prepare(q_at, k_at).layer(1).rotate(vectors(0), vectors(1))
    return (q * k).sum(-1)


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=25, deadline=None)
@given(
    q=st.tuples(st.integers(0, 999), SECONDS),
    k=st.tuples(st.integers(0, 999), SECONDS),
    steps=st.integers(-99, 99),
    shift=st.integers(-400 * DAY, 400 * DAY),
)
def test_norms_are_kept_and_scores_depend_on_both_distances_only(fusion, q, k, steps, shift):
    encoding = made(fusion)
    here = score(encoding, axis([q[0]], [q[1]]), axis([k[0]], [k[1]]))
    there = score(encoding, axis([q[0] + steps], [q[1] + shift]), axis([k[0] + steps], [k[1] + shift]))
    assert torch.allclose(here, there, atol=2e-5)
    turned, _ = encoding.prepare(axis([q[0]], [q[1]]), axis([0], [0])).layer(0).rotate(vectors(0), vectors(1))
    assert torch.allclose(turned.norm(dim=-1), vectors(0).norm(dim=-1), rtol=1e-6)


@pytest.mark.parametrize("fusion", FUSIONS)
def test_place_zero_changes_nothing(fusion):
    at = axis([0], [0])
    q, k = made(fusion).prepare(at, at).layer(0).rotate(vectors(0), vectors(1))
    assert torch.equal(q, vectors(0))
    assert torch.equal(k, vectors(1))


@pytest.mark.parametrize("fusion", FUSIONS)
def test_tables_are_those_of_a_naive_formula(fusion):
    encoding = made(fusion)
    at = axis([3, 8], CLOSES[:2])
    table = encoding.prepare(at, at).layer(1).q_table.detach().expand(1, HEADS, 2, DIM // 2)
    alpha = encoding.time.alpha()[1].detach()
    for t, (n, seconds) in enumerate(zip([3, 8], CLOSES[:2], strict=True)):
        for h in range(HEADS):
            for j in range(DIM // 2):
                order, time = n * 10_000 ** (-2 * j / DIM), 0.0
                if fusion == "planes":
                    order = n * 10_000 ** (-2 * j / (DIM / 2)) if j < 4 else 0.0
                    time = seconds * float(alpha[j - 4]) / 10 ** (2 + 2 * (j - 4)) if j >= 4 else 0.0
                else:
                    time = seconds * float(alpha[j]) / 10 ** (2 + 6 * j / 7)
                if fusion == "heads":
                    order, time = (order, 0.0) if h < 2 else (0.0, time)
                angle = order + time
                expected = complex(math.cos(angle), math.sin(angle))
                assert abs(complex(table[0, h, t, j]) - expected) < 2e-6


@pytest.mark.parametrize(("fusion", "index_moves", "time_moves"), [("planes", 8, 8), ("heads", 2, 1)])
def test_a_part_is_untouched_by_the_other(fusion, index_moves, time_moves):
    """Count the channels, or the heads, that one clock moves while the other stands at zero."""
    encoding, q = made(fusion), vectors(0)
    for at, expected in ((axis([7], [0]), index_moves), (axis([0], [CLOSES[0]]), time_moves)):
        turned, _ = encoding.prepare(at, axis([0], [0])).layer(0).rotate(q, q)
        moved = ((turned - q).abs() > 1e-12)[0, :, 0]
        if fusion == "planes":
            assert moved.all(dim=0).sum() == moved.any(dim=0).sum() == expected
        else:
            assert moved.any(dim=1).sum() == moved.all(dim=1).sum() == expected


@pytest.mark.parametrize("fusion", FUSIONS)
def test_the_coefficients_learn_and_survive_casts_copies_and_the_meta_device(fusion):
    encoding = made(fusion)
    q_at, k_at = axis([9], CLOSES[3:4]), axis([3, 8], CLOSES[:2])
    q, k = encoding.prepare(q_at, k_at).layer(0).rotate(vectors(0), vectors(1, 2))
    (q @ k.transpose(-1, -2)).sum().backward()
    assert (encoding.time.offset.grad[0] != 0).all()
    assert not list(made(fusion, learnable=False).parameters())
    torch.nn.init.normal_(encoding.time.offset, generator=torch.Generator().manual_seed(0))
    table = encoding.prepare(q_at, k_at).layer(1).k_table.detach()
    with torch.device("meta"):
        empty = made(fusion)
    empty = empty.to_empty(device="cpu")
    empty.load_state_dict(encoding.state_dict())
    for other in (copy.deepcopy(encoding).bfloat16(), empty):
        assert torch.equal(other.prepare(q_at, k_at).layer(1).k_table, table)


def test_a_batch_may_share_its_index_and_not_its_time():
    at = TimeAxis(index=torch.arange(3)[None], seconds=torch.tensor([CLOSES[:3], CLOSES[3:]]))
    for fusion in FUSIONS:
        rotation = made(fusion).prepare(at, at).layer(0)
        alone = TimeAxis(index=torch.arange(3)[None], seconds=at.seconds[1:])
        assert torch.equal(rotation.q_table[1:], made(fusion).prepare(alone, alone).layer(0).q_table)


@pytest.mark.parametrize(
    ("fusion", "dim", "heads", "says"),
    [("early", 7, 2, "even head width"), ("heads", 8, 1, "split by heads"), ("planes", 2, 2, "split by planes")],
)
def test_what_cannot_be_built_is_refused(fusion, dim, heads, says):
    with pytest.raises(EncodingError, match=says):
        ToRope(ToRopeConfig(fusion=fusion), dim, heads, 1)
