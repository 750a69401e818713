import pytest
import torch

from fints.encodings import ENCODINGS, CycleConfig, RopeConfig, TimeAxis, attend, build, encoding_config
from fints.errors import EncodingError, UnknownNameError
from fints.plan import Cycle, FrequencyPlan

PLAN = FrequencyPlan.from_periods([5, 20])


def made(encoding, dim=32, plan=PLAN):
    return build(encoding, dim=dim, n_heads=2, n_layers=3, plan=plan)


def test_a_key_stands_for_its_defaults():
    assert encoding_config("cycle") == CycleConfig()
    assert encoding_config({"kind": "rope", "base": 100}) == RopeConfig(base=100)
    assert encoding_config(RopeConfig(base=7)) == RopeConfig(base=7)


def test_a_plan_with_more_cycles_than_planes_gives_its_strongest_and_a_warning_names_the_others():
    plan = FrequencyPlan.from_periods([Cycle(5, strength=1), Cycle(20, strength=9), Cycle(60, strength=3)])
    says = (
        r"'cycle' leaves out 5 sessions: the plan has 3 lines, .* are 2; widen the heads, raise share, or pass plan\."
    )
    with pytest.warns(UserWarning, match=says):
        encoding = made("cycle", dim=16, plan=plan)
    assert [1 / plane.frequency for plane in encoding.planes[2:]] == pytest.approx([20, 60])
    with pytest.warns(UserWarning, match="'t_rope' leaves out 5 sessions: .* raise plan_share"):
        made({"kind": "t_rope", "plan_share": 0.5}, dim=16, plan=plan)
    assert made("cycle", dim=16, plan=plan.strongest(2)).planes == encoding.planes


def test_layers_share_their_tables():
    at = TimeAxis(index=torch.arange(4)[None], session=torch.arange(4)[None])
    terms = made("cycle").prepare(at, at)
    assert terms.layer(0) is terms.layer(2)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: made("rop"), UnknownNameError, "Did you mean 'rope'"),
        (lambda: made({"kind": "rope", "bse": 3}), EncodingError, "bse"),
        (lambda: made({"kind": "rope", "base": 0.5}), EncodingError, "base"),
        (lambda: made("rope", dim=33), EncodingError, "do not divide"),
        (lambda: made("rope", dim=10), EncodingError, "even head width"),
        (lambda: made("cycle", plan=None), EncodingError, "pass plan="),
        (lambda: made({"kind": "cycle", "share": 0.01}), EncodingError, "leaves none"),
    ],
)
def test_what_cannot_be_built_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


@pytest.mark.parametrize(
    ("places", "says"),
    [
        ({}, "at least one clock"),
        ({"index": torch.zeros(1, 3)}, "float64 or int64"),
        ({"index": torch.zeros(3, dtype=torch.float64)}, r"\(B or 1, T\)"),
        ({"index": torch.arange(3)[None], "session": torch.arange(4)[None]}, "one T"),
        ({"index": torch.arange(3).repeat(2, 1), "session": torch.arange(3).repeat(4, 1)}, "one B"),
    ],
)
def test_an_axis_that_loses_time_is_refused(places, says):
    with pytest.raises(EncodingError, match=says):
        TimeAxis(**places)


NESTED = [
    {"kind": "sum", "parts": ["alibi", "rope"]},
    {"kind": "sum", "parts": ["time_rab", "t_rope"]},
    {"kind": "split", "by": "head", "parts": [{"share": 0.5, "encoding": "rope"}, {"share": 0.5, "encoding": "cycle"}]},
    {
        "kind": "split",
        "by": "feature",
        "parts": [{"share": 0.5, "encoding": "rope"}, {"share": 0.5, "encoding": {"kind": "clock", "share": 1.0}}],
    },
]


@pytest.mark.parametrize("encoding", [*sorted(ENCODINGS), *NESTED], ids=str)
def test_every_kind_and_combination_can_be_built_and_attended_with(encoding):
    at = TimeAxis(
        index=torch.arange(6)[None],
        session=torch.arange(17_000, 17_006)[None],
        calendar=torch.arange(17_532, 17_538)[None],
        seconds=1_514_900_000 + 86_400 * torch.arange(6)[None],
    )
    enc = made(encoding)
    x = enc.embed(torch.randn(2, 6, 32), at)
    q, k, v = (torch.randn(2, 2, 6, 16) for _ in range(3))
    for index in range(3):
        out = attend(q, k, v, enc.prepare(at, at).layer(index), is_causal=True)
        assert out.shape == q.shape
        assert torch.isfinite(out).all()
    assert x.shape == (2, 6, 32)


@pytest.mark.parametrize("short", [False, True])
def test_settings_survive_json(short):
    kernels = [{"kind": "rfr", "kernel": {"kind": kind, "length": 8.0}} for kind in ("gaussian", "laplace")]
    for encoding in [*ENCODINGS, *NESTED, *kernels]:
        config = encoding_config(encoding)
        assert encoding_config(config.model_dump(mode="json", exclude_defaults=short)) == config


def test_parts_of_a_combination_draw_differently():
    twice = {"kind": "split", "by": "head", "parts": [{"share": 0.5, "encoding": "clock"}] * 2}
    one, other = made(twice).parts
    places = TimeAxis(index=torch.arange(3)[None], session=torch.arange(1, 4)[None])
    tables = [p.prepare(places, places).layer(0).q_table for p in (one, other)]
    assert not torch.equal(*tables)


def test_a_missing_clock_is_named():
    at = TimeAxis(index=torch.arange(3)[None])
    with pytest.raises(EncodingError, match="reads the session clock"):
        made("cycle").prepare(at, at)


def test_axes_join_on_the_clocks_they_share():
    past = TimeAxis(index=torch.arange(3)[None], session=torch.arange(3)[None])
    future = TimeAxis(index=torch.arange(3, 5)[None].repeat(2, 1))
    joined = past.followed_by(future)
    assert joined.index.tolist() == [[0, 1, 2, 3, 4]] * 2
    assert joined.session is None


@pytest.mark.parametrize(
    ("encoding", "says"),
    [
        ("cycle", "RotaryEncoding('cycle', n_layers=3, periods: index 6.283, 19.87, 62.83, 198.7; session 5, 20)"),
        ("rope", "RotaryEncoding('rope', n_layers=3, periods: index 6.283 … 1.987e+04)"),
        (
            {"kind": "clock", "period": 5, "seed_base": 1},
            "'clock', period=5.0, seed_base=1, n_layers=3, periods: index",
        ),
        ({"kind": "rope", "base": 100, "learn": True}, "LearnedHeadRotary('rope', base=100.0, learn=True, n_layers=3"),
        ("t_rope", "(query): TimeBank(3 layers of 8 planes, beta=100 … 1e+08 s, learned)"),
        ({"kind": "sum", "parts": ["alibi", "rope"]}, "(0): AlibiEncoding('alibi', n_layers=3)"),
        ("fourier_features", "(phases): RotaryEncoding(n_layers=3, periods: session 5, 20)"),
    ],
)
def test_a_printed_model_says_what_it_has(encoding, says):
    assert says in repr(torch.nn.Sequential(made(encoding)))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_kind_names_itself_when_printed(encoding):
    assert f"'{encoding}'" in repr(made(encoding))
