"""What cannot be: one error each, which says what is wrong, where, and what to do."""

import math

import numpy as np
import pytest
import torch

from fints.encodings import ENCODINGS, TimeAxis, build
from fints.encodings.combine import adds_bias, rotates
from fints.encodings.kinds import AddedEncoding
from fints.errors import EncodingError, PlanError
from fints.plan import Cycle, FrequencyPlan
from tests.encodings.conftest import CASES, CLOCKS, DIM, LAYERS, PLAN, made, window

KINDS = {kind: made(kind) for kind in ENCODINGS}
ROTARY = sorted(kind for kind, encoding in KINDS.items() if rotates(encoding))
BIASES = sorted(kind for kind, encoding in KINDS.items() if adds_bias(encoding))
ADDED = sorted(kind for kind, encoding in KINDS.items() if isinstance(encoding, AddedEncoding))
AT = window("autumn in New York")


def attempt(encoding, dim=32, n_heads=2, n_layers=1):
    return build(encoding, dim=dim, n_heads=n_heads, n_layers=n_layers, plan=PLAN)


def beside_rope(kind, by="feature"):
    return {"kind": "split", "by": by, "parts": [{"share": 0.5, "encoding": e} for e in ("rope", kind)]}


def reads(case):
    """Tell which clocks an encoding asks for, when all are there."""
    asked = set()

    class Spy(TimeAxis):
        def clock(self, name):
            asked.add(name)
            return super().clock(name)

    at = Spy(**{clock: getattr(AT, clock) for clock in CLOCKS})
    encoding = made(case)
    encoding.prepare(at, at)
    encoding.embed(torch.zeros(1, AT.index.shape[1], DIM), at)
    return asked


@pytest.mark.parametrize("kind", ROTARY)
@pytest.mark.parametrize("width", [7, 15])
def test_a_head_of_odd_width_is_refused(kind, width):
    with pytest.raises(EncodingError, match=f"even head width; got {width} channels"):
        attempt(kind, dim=2 * width)


@pytest.mark.parametrize("kind", sorted(set(ENCODINGS) - set(ROTARY)))
def test_what_does_not_turn_may_have_any_head_width(kind):
    assert attempt(kind, dim=14).n_layers == 1


def test_a_split_of_odd_heads_is_refused():
    with pytest.raises(EncodingError, match="a head of 7 channels cannot be split"):
        attempt(beside_rope("cycle"), dim=14)


@pytest.mark.parametrize(
    ("sizes", "says"), [((0, 2, 1), "got 0, 2 and 1"), ((32, 0, 1), "32, 0"), ((32, 2, 0), "0 of")]
)
def test_a_transformer_without_width_heads_or_layers_is_refused(sizes, says):
    with pytest.raises(EncodingError, match=says):
        attempt("rope", *sizes)


@pytest.mark.parametrize("period", [-5.0, 0.0, math.nan, math.inf])
def test_a_period_that_is_not_positive_is_refused(period):
    with pytest.raises(PlanError, match=f"positive period; got {period!r} session units"):
        FrequencyPlan.from_periods([5, period])
    with pytest.raises(PlanError, match=r"positive period; got .* calendar units"):
        Cycle(period, "calendar")
    with pytest.raises(EncodingError, match=r"'clock' has options that do not fit: period: Input should be"):
        attempt({"kind": "clock", "period": period})
    with pytest.raises(
        EncodingError, match=r"'rfr' has options that do not fit: kernel\.cosine\.period: Input should be"
    ):
        attempt({"kind": "rfr", "kernel": {"kind": "cosine", "period": period}})


@pytest.mark.parametrize(("clock", "unit"), [("index", "bars"), ("seconds", "seconds")])
@pytest.mark.parametrize("kind", ["clock", "cosine", "periodic_gaussian"])
def test_a_period_below_two_units_of_its_clock_is_refused(clock, unit, kind):
    def encoding(period):
        if kind == "clock":
            return {"kind": "clock", "clock": clock, "period": period}
        sigma = {"sigma": 0.1} if kind == "periodic_gaussian" else {}
        return {"kind": "rfr", "clock": clock, "kernel": {"kind": kind, "period": period, **sigma}}

    with pytest.raises(
        EncodingError, match=rf"1\.9 {unit} is shorter than the 2 that the {clock} clock resolves; give"
    ):
        attempt(encoding(1.9))
    assert attempt(encoding(2.0)).n_layers == 1


def test_a_clock_that_counts_fractions_takes_the_period_of_a_day():
    assert attempt({"kind": "clock", "clock": "session", "period": 1.0}).n_layers == 1
    assert attempt({"kind": "clock", "clock": "calendar", "period": 0.5}).n_layers == 1


def test_a_configured_period_that_daily_bars_cannot_show_is_refused():
    with pytest.raises(PlanError, match=r"1\.5 session units is shorter than the 2 .* pass a Cycle if .* intraday"):
        FrequencyPlan.from_periods([1.5])


def test_more_cycles_than_planes_are_refused():
    with pytest.raises(PlanError, match=r"3 cycles need .* as many planes, but only 2 are free .* widen the heads"):
        FrequencyPlan.from_periods([5, 20, 60]).allocate(2)


@pytest.mark.parametrize("kind", ["cycle", "clock", "rfr"])
def test_more_planes_than_there_are_is_refused(kind):
    with pytest.raises(EncodingError, match="share: Input should be less than or equal to 1"):
        attempt({"kind": kind, "share": 1.5})


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ({"function": lambda x: 1.5 * np.cos(x) - 0.5 * np.cos(4 * x), "period": 2 * math.pi}, "harmonic 4 is -0.333"),
        ({"function": lambda x: 1.0 * (np.abs(x) < 5), "extent": 20.0}, "transform at frequency 0.14.* per unit is"),
        ({"function": lambda x: 0.5 * np.cos(x), "period": 2 * math.pi}, r"f\(0\) = 0\.5: divide by it"),
        ({"function": lambda x: 3 * np.exp(-np.abs(x)), "extent": 40.0}, r"f\(0\) = 3: divide by it"),
    ],
)
def test_a_kernel_that_no_law_realises_is_refused_with_the_place(kernel, says):
    with pytest.raises(EncodingError, match=says):
        attempt({"kind": "rfr", "kernel": {"kind": "callable", **kernel}})


@pytest.mark.parametrize(("ratio", "edge"), [(0.21, "0.0587"), (0.25, "0.135"), (1.0, "0.882")])
def test_a_kernel_too_wide_for_its_period_is_refused_with_its_value_half_a_period_away(ratio, edge):
    says = rf"σ = .* is wide for a period of 24: f\(T/2\) = {edge} exceeds 0\.05, .* take σ below T/5"
    with pytest.raises(EncodingError, match=says):
        attempt({"kind": "clock", "period": 24, "sigma_over_period": ratio})
    with pytest.raises(EncodingError, match=says):
        attempt({"kind": "rfr", "kernel": {"kind": "periodic_gaussian", "period": 24, "sigma": 24 * ratio}})


def test_a_wide_kernel_is_warned_of_with_the_same_value():
    with pytest.warns(UserWarning, match=r"σ = 4 is wide for a period of 24: f\(T/2\) = 0\.0111 exceeds 0\.001"):
        attempt({"kind": "clock", "period": 24, "sigma_over_period": 1 / 6})


def test_a_width_of_the_plan_is_checked_too():
    plan = FrequencyPlan((Cycle(20, width=8.0),))
    with pytest.raises(EncodingError, match=r"σ = 8 is wide for a period of 20: f\(T/2\) = 0\.458"):
        build("clock", dim=32, n_heads=2, n_layers=1, plan=plan)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_place_that_is_not_finite_is_refused(clock, wrong):
    places = torch.tensor([[0.0, 1.0, wrong]], dtype=torch.float64)
    with pytest.raises(EncodingError, match=f"1 of 3 places on the {clock} clock are not finite; drop the bars"):
        TimeAxis(**{clock: places})


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e9])
def test_seconds_in_another_unit_are_refused(scale):
    with pytest.raises(EncodingError, match=r"seconds clock lies beyond the year 2200; .* divide milliseconds by 1e3"):
        TimeAxis(index=AT.index, seconds=AT.seconds * scale)


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_whole_number_of_a_missing_date_is_refused(clock):
    places = torch.from_numpy(np.array(["2018-01-02", "NaT"], "datetime64[s]").astype(np.int64))[None]
    with pytest.raises(EncodingError, match=f"a place on the {clock} clock is not a date: it is NaT"):
        TimeAxis(**{clock: places})


@pytest.mark.parametrize("places", [[0, 1, 2], np.arange(3), range(3)], ids=lambda p: type(p).__name__)
def test_places_that_are_no_tensor_are_refused(places):
    says = rf"index clock are of type {type(places).__name__}; pass a tensor of float64 or int64"
    with pytest.raises(EncodingError, match=says):
        TimeAxis(index=places)


@pytest.mark.parametrize("plan", [[5, 20], {"cycles": []}, "5"])
def test_a_plan_that_is_none_is_refused(plan):
    with pytest.raises(EncodingError, match=r"plan= takes a FrequencyPlan; got .* FrequencyPlan\.from_periods\(\["):
        build("cycle", dim=32, n_heads=2, n_layers=1, plan=plan)


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_clock_that_is_read_and_missing_is_named(case):
    for missing in reads(case):
        at = TimeAxis(**{clock: getattr(AT, clock) for clock in CLOCKS if clock != missing})
        encoding = made(case)
        with pytest.raises(EncodingError, match=f"reads the {missing} clock, but .* holds only .*; add {missing}="):
            encoding.prepare(at, at), encoding.embed(torch.zeros(1, AT.index.shape[1], DIM), at)


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_clock_that_is_not_read_may_be_missing(case):
    clocks = reads(case) or {"index"}
    at = TimeAxis(**{clock: getattr(AT, clock) for clock in clocks})
    assert len(made(case).prepare(at, at).layers) == LAYERS


@pytest.mark.parametrize("kind", BIASES)
def test_a_bias_has_no_planes_to_split(kind):
    with pytest.raises(EncodingError, match=r"a bias .* no planes to split; .*kind: sum.* or split by head"):
        attempt(beside_rope(kind))
    assert attempt(beside_rope(kind, by="head")).n_layers == 1


@pytest.mark.parametrize("kind", ADDED)
@pytest.mark.parametrize("by", ["feature", "head"])
def test_an_encoding_added_to_tokens_has_nothing_to_split(kind, by):
    with pytest.raises(EncodingError, match=r"neither planes nor heads to split; .*kind: sum"):
        attempt(beside_rope(kind, by=by))


@pytest.mark.parametrize("kind", sorted(kind for kind in ENCODINGS if kind in {"cycle", "clock", "fourier_features"}))
def test_a_missing_plan_is_asked_for(kind):
    with pytest.raises(EncodingError, match=rf"'{kind}' takes its periods? from a frequency plan; pass plan="):
        build(kind, dim=32, n_heads=2, n_layers=1)


@pytest.mark.parametrize(
    ("encoding", "says"),
    [
        ({"kind": "rope", "base": math.inf}, "base: Input should be a finite number"),
        ({"kind": "xpos", "scale": math.inf}, "scale: Input should be a finite number"),
        ({"kind": "interval_bias", "unit": math.inf}, "unit: Input should be a finite number"),
        (
            {"kind": "rfr", "kernel": {"kind": "gaussian", "length": math.inf}},
            "length: Input should be a finite number",
        ),
        (None, "by its key, a mapping or settings; got None"),
        (["rope"], r"by its key, a mapping or settings; got \['rope'\]"),
    ],
    ids=str,
)
def test_settings_that_say_nothing_are_refused(encoding, says):
    with pytest.raises(EncodingError, match=says):
        attempt(encoding)


@pytest.mark.parametrize("kind", sorted(ENCODINGS))
def test_an_option_that_does_not_exist_is_named(kind):
    with pytest.raises(EncodingError, match=f"'{kind}' has options that do not fit: bases: Extra inputs"):
        attempt({"kind": kind, "bases": 3})
