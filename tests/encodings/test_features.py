"""Input features against the standard library's calendar and naive sines."""

import math
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.features import CalendarFeatures, CalendarFeaturesConfig, FourierFeatures, hour_and_weekday
from fints.errors import EncodingError
from fints.plan import Cycle, FrequencyPlan

DIM = 6
PLAN = FrequencyPlan.from_periods([Cycle(5, harmonics=(1, 2)), Cycle(7, "calendar"), 62.5])
NEW_YORK = ZoneInfo("America/New_York")
BEFORE_DST = datetime(2018, 3, 9, 16, tzinfo=NEW_YORK).timestamp()
AFTER_DST = datetime(2018, 3, 12, 16, tzinfo=NEW_YORK).timestamp()


def seconds(*places):
    return TimeAxis(seconds=torch.tensor([places], dtype=torch.float64))


def places(session, calendar):
    return TimeAxis(
        session=torch.tensor([[session]], dtype=torch.float64), calendar=torch.tensor([[calendar]], dtype=torch.float64)
    )


@given(second=st.integers(-2_000_000_000, 4_102_444_800))
def test_hours_and_weekdays_are_those_of_utc(second):
    moment = datetime.fromtimestamp(second, UTC)
    hour, weekday = hour_and_weekday(torch.tensor([float(second)], dtype=torch.float64))
    assert (hour.item(), weekday.item()) == (moment.hour, moment.weekday())


def test_the_same_close_is_an_hour_earlier_in_utc_in_summer():
    hour, weekday = hour_and_weekday(torch.tensor([BEFORE_DST, AFTER_DST], dtype=torch.float64))
    assert hour.tolist() == [21, 20]
    assert weekday.tolist() == [4, 0]


@pytest.mark.parametrize("form", ["embedding", "projection"])
def test_bars_of_the_same_hour_and_weekday_are_the_same_to_the_calendar(form):
    encoding = CalendarFeatures(CalendarFeaturesConfig(form=form), DIM, 1)
    added = encoding.embed(torch.zeros(1, 3, DIM), seconds(AFTER_DST, AFTER_DST + 7 * 86_400, AFTER_DST + 3600))[0]
    assert torch.equal(added[0], added[1])
    assert not torch.allclose(added[0], added[2])


@pytest.mark.parametrize("form", ["embedding", "projection"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_half_precision_calendar_still_knows_every_hour(form, dtype):
    encoding = CalendarFeatures(CalendarFeaturesConfig(form=form), DIM, 1).to(dtype)
    at = seconds(*(AFTER_DST + 3600 * h for h in range(24)))
    added = encoding.embed(torch.zeros(1, 24, DIM, dtype=torch.float64), at)[0]
    assert len(torch.unique(added, dim=0)) == 24


def test_the_hour_and_the_weekday_learn():
    encoding = CalendarFeatures(CalendarFeaturesConfig(), DIM, 1)
    encoding.embed(torch.zeros(1, 2, DIM), seconds(BEFORE_DST, AFTER_DST)).sum().backward()
    assert encoding.hour.weight.grad.sum(-1).nonzero().flatten().tolist() == [20, 21]
    assert encoding.weekday.weight.grad.sum(-1).nonzero().flatten().tolist() == [0, 4]


@given(session=st.floats(-20_000, 40_000), calendar=st.floats(-20_000, 60_000))
def test_fourier_features_are_cosines_and_sines_of_every_line(session, calendar):
    features = FourierFeatures(PLAN, DIM, 1).features(places(session, calendar))[0, 0]
    angles = [
        2 * math.pi * line.harmonic * (session if line.clock == "session" else calendar) / line.cycle.period
        for line in PLAN.lines
    ]
    expected = [math.cos(a) for a in angles] + [math.sin(a) for a in angles]
    assert features.tolist() == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_cast_module_sees_the_same_phase_a_period_later(dtype):
    plan = FrequencyPlan.from_periods([Cycle(7, "calendar")])
    encoding = FourierFeatures(plan, DIM, 1).to(dtype)
    tokens = torch.zeros(1, 1, DIM, dtype=dtype)
    # Only whole float64 days carry a quarter of an hour in 2018.
    here, later = places(0, 17_602.0104), places(0, 17_602.0104 + 7 * 1_000)
    assert torch.allclose(encoding.embed(tokens, here), encoding.embed(tokens, later), atol=1e-6)
    assert not torch.equal(encoding.embed(tokens, here), encoding.embed(tokens, places(0, 17_605.0104)))


def test_tokens_keep_their_dtype_and_the_projection_learns():
    encoding = FourierFeatures(PLAN, DIM, 2)
    out = encoding.embed(torch.ones(2, 1, DIM, dtype=torch.bfloat16), places(12_100.5, 17_602))
    assert out.dtype == torch.bfloat16
    assert out.shape == (2, 1, DIM)
    out.sum().backward()
    assert encoding.project.weight.grad.abs().min() > 0


def test_a_clock_of_the_plan_that_is_missing_is_named():
    at = TimeAxis(session=torch.zeros(1, 1, dtype=torch.float64))
    with pytest.raises(EncodingError, match="reads the calendar clock"):
        FourierFeatures(PLAN, DIM, 1).embed(torch.zeros(1, 1, DIM), at)
