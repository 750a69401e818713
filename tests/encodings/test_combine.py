"""Splits and sums: parts act on their own planes, heads and logits, and on nothing else."""

from typing import Annotated

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from fints.encodings import NoEncoding, RopeConfig, TimeAxis
from fints.encodings.absolute import AbsoluteLinear, AbsoluteLinearConfig
from fints.encodings.alibi import AlibiConfig, AlibiEncoding
from fints.encodings.combine import FeatureSplit, HeadSplit, SplitConfig, SplitPart, SumConfig, SumEncoding, allot
from fints.encodings.joined import PlaneTerms
from fints.encodings.rope import Plane, RotaryEncoding, rope_planes
from fints.encodings.rotation import Rotation
from fints.encodings.time_bias import TimeRabConfig, TimeRabEncoding
from fints.encodings.xpos import XposConfig, XposEncoding
from fints.errors import EncodingError

D, HEADS, LAYERS = 12, 4, 2
PLACES = [12_151.0, 12_152.0, 12_152.5, 12_160.0]


def axis(*places):
    t = torch.tensor([places], dtype=torch.float64)
    return TimeAxis(index=t - 12_000, session=t, calendar=t * 1.4, seconds=t * 86_400)


AT = axis(*PLACES)


def vectors(seed=0, n=4):
    return torch.randn(2, HEADS, n, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def rope(width, clock="index"):
    return RotaryEncoding(rope_planes(width, 100.0, clock), LAYERS)


def weekly(width):
    return RotaryEncoding(tuple(Plane("calendar", 1 / 7) for _ in range(width // 2)), LAYERS)


def alibi(heads=HEADS):
    return AlibiEncoding(AlibiConfig(), heads, LAYERS)


def rab():
    return TimeRabEncoding(TimeRabConfig(), HEADS, LAYERS)


def linear():
    return AbsoluteLinear(AbsoluteLinearConfig(), HEADS * D, LAYERS)


PLANE_PARTS = {
    "rope": rope,
    "cycle": weekly,
    "xpos": lambda width: XposEncoding(XposConfig(), width, LAYERS),
    "none": lambda width: NoEncoding(LAYERS),
    "split": lambda width: FeatureSplit([rope(2), weekly(width - 2)], [2, width - 2], LAYERS),
}


@pytest.mark.parametrize("first", sorted(PLANE_PARTS))
@pytest.mark.parametrize("second", sorted(PLANE_PARTS))
def test_every_part_of_a_feature_split_turns_its_own_planes(first, second):
    one, two = PLANE_PARTS[first](8), PLANE_PARTS[second](4)
    split = FeatureSplit([one, two], [8, 4], LAYERS)
    k_at = axis(*PLACES[:3])
    q, k = split.prepare(AT, k_at).layer(1).rotate(vectors(), vectors(1, 3))
    for part, channels in ((one, slice(0, 8)), (two, slice(8, 12))):
        q_alone, k_alone = (
            part.prepare(AT, k_at).layer(1).rotate(vectors()[..., channels], vectors(1, 3)[..., channels])
        )
        assert torch.allclose(q[..., channels], q_alone, atol=1e-12)
        assert torch.allclose(k[..., channels], k_alone, atol=1e-12)


def test_rotations_side_by_side_are_one_rotation_and_shared_by_layers():
    terms = FeatureSplit([rope(8), weekly(4)], [8, 4], LAYERS).prepare(AT, AT)
    assert isinstance(terms.layer(0), Rotation)
    assert terms.layer(0) is terms.layer(1)
    assert terms.layer(0).k_table is terms.layer(0).q_table
    assert isinstance(FeatureSplit([rope(8), NoEncoding(2)], [8, 4], 2).prepare(AT, AT).layer(0), PlaneTerms)


@given(place=st.floats(-20_000, 40_000), shift=st.floats(-1_000, 1_000))
def test_a_move_on_a_clock_that_a_part_does_not_read_leaves_its_planes_alone(place, shift):
    split = FeatureSplit([rope(8, "session"), weekly(4)], [8, 4], LAYERS)

    def turned(session, calendar):
        at = TimeAxis(
            session=torch.tensor([[session]], dtype=torch.float64),
            calendar=torch.tensor([[calendar]], dtype=torch.float64),
        )
        return split.prepare(at, at).layer(0).rotate(vectors(0, 1), vectors(1, 1))[0]

    assert torch.equal(turned(place, place)[..., :8], turned(place, place + shift)[..., :8])
    assert torch.equal(turned(place, place)[..., 8:], turned(place + shift, place)[..., 8:])


def test_a_table_per_head_and_sample_joins_a_shared_one():
    class PerHead(NoEncoding):
        def prepare(self, q_at, k_at):
            turns = torch.rand(2, HEADS, len(PLACES), 2, dtype=torch.float64)
            table = torch.polar(torch.ones_like(turns), turns)
            return type(super().prepare(q_at, k_at))((Rotation(table, table),) * LAYERS)

    layer = FeatureSplit([rope(8), PerHead(LAYERS)], [8, 4], LAYERS).prepare(AT, AT).layer(0)
    assert layer.q_table.shape == (2, HEADS, len(PLACES), 6)


def test_every_part_of_a_head_split_turns_its_own_heads():
    split = HeadSplit([rope(D), weekly(D)], [1, 3], LAYERS)
    layer = split.prepare(AT, AT).layer(0)
    q, k = layer.rotate(vectors(), vectors(1))
    assert layer.bias is None
    for part, heads in ((rope(D), slice(0, 1)), (weekly(D), slice(1, 4))):
        q_alone, k_alone = part.prepare(AT, AT).layer(0).rotate(vectors()[:, heads], vectors(1)[:, heads])
        assert torch.equal(q[:, heads], q_alone)
        assert torch.equal(k[:, heads], k_alone)


def test_heads_without_a_bias_get_zero_beside_heads_with_one():
    layer = HeadSplit([rope(D), alibi(2), NoEncoding(LAYERS)], [1, 2, 1], LAYERS).prepare(AT, AT).layer(0)
    assert layer.bias.shape == (1, HEADS, 4, 4)
    assert torch.equal(layer.bias[:, 1:3], alibi(2).prepare(AT, AT).layer(0).bias)
    assert not layer.bias[:, [0, 3]].any()
    assert torch.equal(layer.rotate(vectors(), vectors(1))[0][:, 1:], vectors()[:, 1:])


def test_a_sum_rotates_and_adds_every_bias_and_every_embedding():
    parts = [alibi(), rope(D), rab(), linear()]
    layer = SumEncoding(parts, LAYERS).prepare(AT, AT).layer(1)
    q, _ = layer.rotate(vectors(), vectors(1))
    assert torch.equal(q, rope(D).prepare(AT, AT).layer(1).rotate(vectors(), vectors(1))[0])
    expected = parts[0].prepare(AT, AT).layer(1).bias + parts[2].prepare(AT, AT).layer(1).bias
    assert torch.equal(layer.bias, expected)
    x = torch.zeros(1, 4, HEADS * D, dtype=torch.float64)
    assert torch.equal(SumEncoding(parts, LAYERS).embed(x, AT), parts[3].embed(x, AT))


def test_a_sum_without_a_bias_has_none():
    assert SumEncoding([rope(D), NoEncoding(LAYERS)], LAYERS).prepare(AT, AT).layer(0).bias is None


def test_a_sum_may_hold_a_split_of_heads_that_rotates_and_biases():
    mixed = HeadSplit([rope(D), alibi(3)], [1, 3], LAYERS)
    layer = SumEncoding([mixed, rab()], LAYERS).prepare(AT, AT).layer(0)
    alone = mixed.prepare(AT, AT).layer(0)
    assert torch.equal(layer.rotate(vectors(), vectors(1))[0], alone.rotate(vectors(), vectors(1))[0])
    assert layer.bias.shape == (1, HEADS, 4, 4)


def test_gradients_reach_the_parameters_of_the_parts():
    encoding = SumEncoding([rope(D), rab()], LAYERS)
    terms = encoding.prepare(AT, AT)
    sum(terms.layer(n).bias.sum() for n in range(LAYERS)).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in encoding.parameters())
    assert any(name.startswith("parts.1.times.0") for name in encoding.state_dict())


@given(shares=st.lists(st.integers(1, 30), min_size=1, max_size=5), total=st.integers(64, 200))
def test_shares_are_met_to_within_one(shares, total):
    exact = [s / sum(shares) for s in shares]
    if min(exact) * total < 1:
        return
    counts = allot(exact, total, "planes")
    assert sum(counts) == total
    assert all(abs(count - share * total) < 1 + 1e-6 for count, share in zip(counts, exact, strict=True))


@pytest.mark.parametrize(
    ("shares", "total", "counts"),
    [([0.5, 0.5], 7, (4, 3)), ([1 / 3, 2 / 3], 6, (2, 4)), ([0.5, 0.25, 0.25], 8, (4, 2, 2)), ([1.0], 3, (3,))],
)
def test_known_shares_get_known_counts(shares, total, counts):
    assert allot(shares, total, "planes") == counts


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FeatureSplit([rope(8), alibi()], [8, 4], LAYERS), "a bias .* no planes to split.*kind: sum"),
        (
            lambda: FeatureSplit([rope(8), SumEncoding([weekly(4), rab()], LAYERS)], [8, 4], LAYERS),
            "a bias .* no planes",
        ),
        (lambda: FeatureSplit([rope(8), linear()], [8, 4], LAYERS), "added to the tokens"),
        (lambda: HeadSplit([rope(D), linear()], [2, 2], LAYERS), "added to the tokens"),
        (lambda: FeatureSplit([rope(8), rope(4)], [7, 5], LAYERS), "cut one in two"),
        (lambda: FeatureSplit([rope(8)], [8, 4], LAYERS), "as many sizes"),
        (lambda: SumEncoding([rope(D), alibi(), weekly(D)], LAYERS), "at most one rotary part; this one has 2"),
        (lambda: SumEncoding([rope(D), NoEncoding(5)], LAYERS), "5 layers does not fit"),
        (lambda: allot([0.5, 0.4], 8, "planes"), "sum to 0.9"),
        (lambda: allot([0.95, 0.05], 4, "heads"), "0.05 of 4 heads gets none"),
    ],
)
def test_what_cannot_be_combined_is_refused(make, says):
    with pytest.raises(EncodingError, match=says):
        make()


@pytest.fixture(scope="module", autouse=True)
def nested_settings():
    """Complete the recursive settings with a union of their own, unless the package has."""
    union = Annotated[RopeConfig | AlibiConfig | SplitConfig | SumConfig, Field(discriminator="kind")]
    for model in (SplitPart, SplitConfig, SumConfig):
        model.model_rebuild(
            _types_namespace={"AnyEncodingConfig": union, "SplitPart": SplitPart, "SplitConfig": SplitConfig}
        )


def test_settings_nest_and_take_bare_keys():
    plain = {
        "kind": "sum",
        "parts": ["alibi", {"kind": "split", "by": "head", "parts": [{"share": 1.0, "encoding": "rope"}]}],
    }
    config = SumConfig.model_validate(plain)
    assert config.parts == (
        AlibiConfig(),
        SplitConfig(by="head", parts=(SplitPart(share=1.0, encoding=RopeConfig()),)),
    )
    assert SumConfig.model_validate(config.model_dump()) == config
    assert SumConfig.model_validate_json(config.model_dump_json()) == config
    assert hash(config) == hash(SumConfig.model_validate(plain))


@pytest.mark.parametrize(
    "value",
    [
        {"parts": []},
        {"parts": [{"share": 0.0, "encoding": "rope"}]},
        {"parts": [{"share": 1.0, "encoding": "rop"}]},
        {"parts": [{"share": 1.0, "encoding": {"kind": "rope", "bse": 3}}]},
        {"by": "plane", "parts": [{"share": 1.0, "encoding": "rope"}]},
    ],
)
def test_nested_settings_that_do_not_fit_are_refused(value):
    with pytest.raises(ValidationError):
        SplitConfig.model_validate(value)
