import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.errors import PlanError
from fints.periods import detect_periods
from fints.plan import Cycle, FrequencyPlan
from fints.sessions import get_calendar

PERIODS = st.lists(st.floats(2, 2000), min_size=1, max_size=6, unique=True)


def lines(*rows, other_period=math.nan, also_on=""):
    columns = ["unique_id", "period", "clock", "harmonics", "strength", "amplitude", "phase", "period_se", "p_value"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(
        q_value=frame["p_value"], stable=True, method="test", other_period=other_period, also_on=also_on
    )


@given(PERIODS)
def test_a_plan_survives_json(periods):
    plan = FrequencyPlan.from_periods(periods)
    again = FrequencyPlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again == plan
    assert hash(again) == hash(plan)
    assert again.digest == plan.digest


@given(PERIODS, st.randoms())
def test_the_order_of_periods_does_not_matter(periods, rng):
    shuffled = list(periods)
    rng.shuffle(shuffled)
    assert FrequencyPlan.from_periods(periods) == FrequencyPlan.from_periods(shuffled)


@given(PERIODS, st.integers(0, 20))
def test_every_plane_is_given_out_and_every_cycle_gets_one(periods, spare):
    plan = FrequencyPlan.from_periods(periods)
    shared = plan.allocate(len(plan) + spare)
    assert len(shared) == len(plan) + spare
    assert {line.cycle for line in shared} == set(plan)


def test_a_stronger_cycle_gets_more_planes():
    plan = FrequencyPlan.from_periods([Cycle(5, strength=9), Cycle(60, strength=1)])
    count = [line.cycle.period for line in plan.allocate(6)]
    assert count.count(5) > count.count(60) >= 1


def test_harmonics_share_the_planes_of_their_cycle():
    plan = FrequencyPlan.from_periods([Cycle(5, harmonics=(1, 2))])
    assert sorted(line.frequency for line in plan.allocate(3)) == [1 / 5, 1 / 5, 2 / 5]


def test_detected_cycles_replace_the_priors_near_them():
    found = lines(
        ("A", 4.83, "session", "1,2", 90.0, 1.0, 0.0, 0.001, 1e-9),
        ("B", 4.84, "session", "1", 60.0, 1.0, 0.0, 0.002, 1e-6),
        ("A", 31.5, "session", "1", 20.0, 1.0, 0.0, 0.01, 1e-4),
    )
    plan = FrequencyPlan.from_detection(found)
    periods = [round(c.period, 2) for c in plan]
    assert periods == [4.83, 20, 31.5, 60, 252]
    week = plan.cycles[0]
    assert week.origin == "detected"
    assert week.harmonics == (1, 2)
    assert "A, B" in week.reason
    assert all("prior" in c.reason for c in plan if c.origin == "prior")


def test_a_cycle_of_the_calendar_replaces_the_priors_near_it_and_near_its_harmonics():
    week = ("A", 7.0, "calendar", "1,2,3", 90.0, 1.0, 0.0, 0.001, 1e-9)
    quarter = ("A", 91.3, "calendar", "1,3", 20.0, 1.0, 0.0, 0.1, 1e-4)
    plan = FrequencyPlan.from_detection(lines(week, quarter, other_period=[4.82, 62.9]))
    assert [(c.period, c.clock) for c in plan] == [(252, "session"), (7.0, "calendar"), (91.3, "calendar")]
    assert plan.cycles[0].reason == "prior of 252 sessions kept: nothing significant was found near it"


def test_a_line_that_either_clock_explains_joins_the_cycle_of_the_other():
    sure = ("A", 91.3, "calendar", "1", 90.0, 1.0, 0.0, 0.1, 1e-9)
    either = ("B", 63.0, "session", "1,2", 30.0, 1.0, 0.0, 0.1, 1e-4)
    found = lines(sure, either, other_period=[62.9, 91.4], also_on=["", "calendar"])
    (cycle,) = FrequencyPlan.from_detection(found, priors=())
    assert cycle.clock == "calendar"
    assert 91.3 <= cycle.period <= 91.4
    assert cycle.harmonics == (1, 2)
    apart = lines(sure, either, other_period=[62.9, 91.4])
    assert len(FrequencyPlan.from_detection(apart, priors=())) == 2


def test_the_more_harmonics_a_cycle_shows_the_narrower_its_kernel():
    rows = [("A", 7.0, "calendar", text, 90.0, 1.0, 0.0, 0.001, 1e-9) for text in ("1", "1,2", "1,2,3")]
    widths = [FrequencyPlan.from_detection(lines(row), priors=()).cycles[0].width for row in rows]
    assert widths[0] is None
    assert widths[1] == pytest.approx(7 / (4 * math.pi))
    assert widths[2] == pytest.approx(7 / (6 * math.pi))


def test_a_cycle_without_its_fundamental_keeps_the_harmonics_that_were_found():
    year = ("A", 365.25, "calendar", "4,8", 90.0, 1.0, 0.0, 0.1, 1e-9)
    (cycle,) = FrequencyPlan.from_detection(lines(year), priors=())
    assert cycle.harmonics == (4, 8)


def test_a_prior_that_the_series_are_too_short_for_says_so():
    n = 300
    days = get_calendar("XNYS").next_sessions("1999-12-31", n)
    y = np.random.default_rng(0).standard_normal(n)
    found = detect_periods(pd.DataFrame({"unique_id": "A", "ds": days, "y": y}), alpha=1e-9)
    plan = FrequencyPlan.from_detection(found, priors=(20.0, 252.0))
    assert "nothing significant" in plan.cycles[0].reason
    assert "undetectable at this length, which shows periods up to 100 sessions" in plan.cycles[1].reason


def test_a_pooled_period_is_weighted_by_precision():
    found = lines(
        ("A", 10.0, "session", "1", 5.0, 1.0, 0.0, 0.1, 1e-9), ("B", 10.4, "session", "1", 5.0, 1.0, 0.0, 0.2, 1e-9)
    )
    (cycle,) = FrequencyPlan.from_detection(found, priors=())
    assert math.isclose(cycle.period, (10.0 / 0.01 + 10.4 / 0.04) / (1 / 0.01 + 1 / 0.04))


def test_equal_plans_have_one_digest_whatever_was_said_of_them():
    one, other = (FrequencyPlan((Cycle(5, reason=reason),)) for reason in ("found in A", "found in B"))
    assert one == other
    assert one.digest == other.digest


def test_a_line_of_unknown_precision_counts_for_little():
    found = lines(
        ("A", 10.0, "session", "1", 5.0, 1.0, 0.0, float("nan"), 1e-9),
        ("B", 10.4, "session", "1", 5.0, 1.0, 0.0, 0.2, 1e-9),
    )
    (cycle,) = FrequencyPlan.from_detection(found, priors=())
    assert math.isclose(cycle.period, 10.4, rel_tol=1e-6)
    (alone,) = FrequencyPlan.from_detection(found.iloc[:1], priors=())
    assert math.isclose(alone.period, 10.0)


def test_insignificant_and_unstable_lines_stay_out():
    found = lines(
        ("A", 7.0, "session", "1", 90.0, 1.0, 0.0, 0.1, 0.2), ("A", 9.0, "session", "1", 90.0, 1.0, 0.0, 0.1, 1e-9)
    )
    found.loc[1, "stable"] = False
    assert [c.period for c in FrequencyPlan.from_detection(found)] == [5, 20, 60, 252]


def test_every_harmonic_gets_a_plane_before_any_line_gets_two():
    plan = FrequencyPlan.from_periods([Cycle(5, harmonics=(1, 2, 3), strength=99), Cycle(60, strength=1)])
    assert sorted(round(line.frequency, 4) for line in plan.allocate(4)) == [0.0167, 0.2, 0.4, 0.6]


CYCLES = st.builds(
    Cycle,
    period=st.floats(2, 2000),
    clock=st.sampled_from(["session", "calendar"]),
    harmonics=st.lists(st.integers(1, 24), min_size=1, max_size=5, unique=True).map(lambda r: tuple(sorted(r))),
    strength=st.floats(0.1, 1000),
    origin=st.sampled_from(["detected", "prior"]),
    reason=st.sampled_from(["", "found in A"]),
)
PLANS = st.lists(CYCLES, min_size=1, max_size=6, unique_by=lambda c: (c.clock, c.period)).map(
    FrequencyPlan.from_periods
)


@given(PLANS, st.integers(1, 32))
def test_as_many_lines_stay_as_there_are_planes(plan, planes):
    kept = plan.strongest(planes)
    assert len(kept.lines) == min(planes, len(plan.lines))
    assert {(c.clock, c.period, r) for c in kept for r in c.harmonics} <= {
        (c.clock, c.period, r) for c in plan for r in c.harmonics
    }
    assert len(kept.allocate(planes)) == planes
    assert (kept is plan) == (len(plan.lines) <= planes)


@given(PLANS, st.integers(1, 32))
def test_of_every_cycle_the_lowest_lines_stay(plan, planes):
    whole = {(c.clock, c.period): c for c in plan}
    for cycle in plan.strongest(planes):
        before = whole[cycle.clock, cycle.period]
        assert cycle.harmonics == before.harmonics[: len(cycle.harmonics)]
        assert (cycle.width, cycle.strength, cycle.origin) == (before.width, before.strength, before.origin)


@given(PLANS, st.integers(1, 32))
def test_no_cycle_stays_while_a_stronger_one_goes(plan, planes):
    kept = {(c.clock, c.period) for c in plan.strongest(planes)}
    gone = [c for c in plan if (c.clock, c.period) not in kept]
    stayed = [c for c in plan if (c.clock, c.period) in kept]
    for lost in gone:
        assert all((c.origin == "prior", -c.strength) <= (lost.origin == "prior", -lost.strength) for c in stayed)


@given(PLANS, st.integers(1, 32), st.integers(1, 32))
def test_more_planes_never_lose_a_line(plan, planes, more):
    few, many = plan.strongest(planes), plan.strongest(planes + more)
    assert {(c.clock, c.period, r) for c in few for r in c.harmonics} <= {
        (c.clock, c.period, r) for c in many for r in c.harmonics
    }
    assert few.strongest(planes) is few
    assert many.strongest(planes) == few


@given(PLANS, st.integers(1, 32))
def test_what_is_lost_is_said_once(plan, planes):
    kept = plan.strongest(planes)
    before = {(c.clock, c.period): c for c in plan}
    cut = [c for c in kept if c.harmonics != before[c.clock, c.period].harmonics]
    assert len(plan.lost(kept)) == len(cut) + len(plan) - len(kept)
    for cycle in cut:
        lost = [r for r in before[cycle.clock, cycle.period].harmonics if r not in cycle.harmonics]
        named = f"harmonic{'s' if len(lost) > 1 else ''} {', '.join(map(str, lost))}"
        assert cycle.reason.endswith(f"no plane for {named}")
        assert f"{named} of {cycle}" in plan.lost(kept)
        assert cycle.reason.startswith(before[cycle.clock, cycle.period].reason)


def test_a_family_of_many_harmonics_keeps_those_that_fit():
    week = Cycle(7.0, "calendar", harmonics=(1, 2, 3), strength=427, origin="detected", reason="found in A")
    year = Cycle(91.3, "calendar", harmonics=(1, 2, 3, 6, 12), strength=44, origin="detected", reason="found in A")
    plan = FrequencyPlan.from_periods([week, year, Cycle(252)])
    six = plan.strongest(6)
    assert [(c.period, c.harmonics) for c in six] == [(7.0, (1, 2, 3)), (91.3, (1, 2, 3))]
    assert six.cycles[1].reason == "found in A; no plane for harmonics 6, 12"
    assert plan.lost(six) == ("252 sessions", "harmonics 6, 12 of 91.3 days")
    assert plan.lost(plan) == ()
    assert plan.strongest(9) is plan


def test_a_cycle_that_is_strong_enough_comes_before_the_harmonics_of_another():
    day = Cycle(1.0, harmonics=(1, 2, 3), strength=50, origin="detected")
    week = Cycle(5, strength=30, origin="detected")
    plan = FrequencyPlan.from_periods([day, week, Cycle(20)])
    assert [(c.period, c.harmonics) for c in plan.strongest(3)] == [(1.0, (1, 2)), (5, (1,))]
    assert plan.strongest(4).cycles == (day, week)


def test_the_strongest_cycles_come_before_priors():
    plan = FrequencyPlan.from_periods([Cycle(7, origin="detected", strength=0.1), Cycle(5), Cycle(20)])
    assert [c.period for c in plan.strongest(2)] == [5, 7]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FrequencyPlan(()), "at least one cycle"),
        (lambda: FrequencyPlan.from_periods([5, 5]), "stands twice"),
        (lambda: FrequencyPlan.from_periods([1.5]), "shorter than"),
        (lambda: Cycle(-3), "positive period"),
        (lambda: FrequencyPlan.from_periods(["weekly"]), "got 'weekly'"),
        (lambda: FrequencyPlan.from_periods([None]), "got None"),
        (lambda: Cycle(math.nan), "positive period"),
        (lambda: Cycle(5, clock="lunar"), "clocks"),
        (lambda: Cycle(5, harmonics=(0,)), "whole multiples"),
        (lambda: Cycle(5, width=6), "does not fit"),
        (lambda: Cycle(5, strength=0), "strength"),
        (lambda: FrequencyPlan.from_periods([5, 20]).allocate(1), "2 cycles need at least as many planes"),
        (lambda: FrequencyPlan.from_dict({"cycles": [{"period": 5, "colour": 1}]}), "cannot be read"),
        (lambda: FrequencyPlan.from_dict({}), "list under 'cycles'"),
    ],
)
def test_what_cannot_be_a_plan_is_refused(make, says):
    with pytest.raises(PlanError, match=says):
        make()


@pytest.mark.parametrize("periods", ["5", 5, Cycle(5)])
def test_periods_that_are_no_sequence_are_refused(periods):
    with pytest.raises(PlanError, match=r"sequence of numbers or cycles, such as \[5, 20\]; got"):
        FrequencyPlan.from_periods(periods)
