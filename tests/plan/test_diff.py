import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.plan import Cycle, FrequencyPlan, plan_diff

PERIODS = st.lists(st.floats(2, 2000), min_size=1, max_size=6, unique=True)


@given(PERIODS)
def test_a_plan_does_not_differ_from_itself(periods):
    plan = FrequencyPlan.from_periods(periods)
    assert {change.kind for change in plan_diff(plan, plan)} == {"same"}


@given(PERIODS, PERIODS)
def test_every_cycle_of_either_plan_is_accounted_for_once(one, other):
    before, after = FrequencyPlan.from_periods(one), FrequencyPlan.from_periods(other)
    changes = plan_diff(before, after)
    assert sorted(c.before.period for c in changes if c.before) == sorted(one)
    assert sorted(c.after.period for c in changes if c.after) == sorted(other)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (Cycle(7.0, "calendar", (1, 2), origin="detected"), "same: 7 days"),
        (Cycle(7.1, "calendar", (1, 2), origin="detected"), "moved: 7 to 7.1 days"),
        (
            Cycle(7.0, "calendar", origin="prior"),
            "changed: 7 days, detected with harmonics 1,2 to prior with harmonics 1",
        ),
        (Cycle(7.0, "session"), "new: 7 sessions"),
    ],
)
def test_a_change_is_said_in_words(after, said):
    before = FrequencyPlan((Cycle(7.0, "calendar", (1, 2), origin="detected"),))
    first, *rest = plan_diff(before, FrequencyPlan((after,)))
    assert str(first) == said
    assert [str(change) for change in rest] == (["gone: 7 days"] if first.kind == "new" else [])
