import math

import pytest

from fints.encodings import build
from fints.errors import PlanError
from fints.explain.groups import OTHER_DAYS, find_group, groups_of
from fints.plan import Cycle, FrequencyPlan
from fints.sessions import FEATURES

NEW_YORK = 252 / 365.25
DAILY = tuple(f"cal_{feature.name}" for feature in FEATURES.values() if not feature.intraday)
EVERY = tuple(f"cal_{name}" for name in FEATURES)


def groups(cycles, columns=DAILY, rate=NEW_YORK, **options):
    plan = FrequencyPlan.from_periods(cycles)
    encoding = build("cycle", dim=96, n_heads=1, n_layers=1, plan=plan)
    return groups_of(plan.cycles, columns, encoding, rate, **options)


def by_name(found):
    return {group.name: set(group.columns) for group in found}


@pytest.mark.parametrize("cycles", [[5, 20, 60, 252], [Cycle(7.0, "calendar"), 21, 63, Cycle(365.25, "calendar")]])
def test_covariates_join_the_cycle_of_their_period_on_either_clock(cycles):
    found = by_name(groups(cycles))
    assert {"cal_monday", "cal_friday"} <= found["weekly cycle"]
    assert {"cal_month_end", "cal_option_expiry"} <= found["monthly cycle"]
    assert {"cal_quarter_end", "cal_triple_witching"} <= found["quarterly cycle"]
    assert {"cal_month_sin", "cal_christmas_week"} <= found["yearly cycle"]
    assert {"cal_early_close", "cal_before_closure"} <= found[OTHER_DAYS]


@pytest.mark.parametrize("cycles", [[5, 20], [Cycle(91.31, "calendar", (1, 2, 3))], [3.3], [5, 20, 60, 252, 11, 33]])
def test_every_covariate_is_in_one_group(cycles):
    found = groups(cycles, EVERY)
    assert sorted(column for group in found for column in group.columns) == sorted(EVERY)


def test_a_harmonic_takes_the_covariates_of_its_period():
    found = by_name(groups([Cycle(91.31, "calendar", (1, 3))]))
    assert {"cal_quarter_end", "cal_month_end"} <= found["quarterly cycle"]
    assert "cal_monday" in found["weekly cycle"]  # no such cycle in the plan: calendar terms alone


def test_where_every_day_is_a_session_a_week_has_seven():
    assert "cal_monday" in by_name(groups([7, 30], rate=1.0))["weekly cycle"]


def test_the_times_of_day_belong_to_the_daily_cycle():
    found = {group.name: group for group in groups([Cycle(1.0), 5], EVERY, times_of_day=True)}
    assert found["daily cycle"].times_of_day
    assert "cal_bar_sin" in found["daily cycle"].columns
    assert not found["weekly cycle"].times_of_day


def test_of_many_cycles_the_weakest_are_one_group():
    cycles = [Cycle(float(period), strength=1 / period) for period in (5, 9, 13, 33, 47, 90)]
    found = groups(cycles, most=4)
    assert len(found) == 4
    assert [group.name for group in found][:2] == ["weekly cycle", "cycle of 9 sessions"]
    assert found[2].name == "other cycles"
    assert math.isclose(max(cycle.period for cycle in found[2].cycles), 90)


def test_two_cycles_that_people_call_the_same_are_told_apart():
    names = [group.name for group in groups([Cycle(4.6), Cycle(5.2)])]
    assert {"weekly cycle of 4.6 sessions", "weekly cycle of 5.2 sessions"} <= set(names)


def test_what_is_tied_to_a_cycle_is_said():
    week = groups([Cycle(7.0, "calendar", (1, 2))])[0]
    assert week.tied == "24 planes (7, 3.5 days), 5 calendar terms of week"


@pytest.mark.parametrize("name", ["weekly cycle", "weekly", "week", "7 days"])
def test_a_cycle_is_found_by_what_it_is_called(name):
    found = groups([Cycle(7.0, "calendar"), 20])
    assert found[find_group(found, name)].name == "weekly cycle"


def test_a_cycle_that_the_plan_lacks_is_refused_with_those_it_has():
    found = groups([Cycle(7.0, "calendar"), 20])
    with pytest.raises(PlanError, match=r"'11 days'.*weekly cycle \(7 days\), monthly cycle \(20 sessions\)$"):
        find_group(found, "11 days")
