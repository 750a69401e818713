import pandas as pd
import pytest

from fints.plan import Cycle, FrequencyPlan
from pipelines.asof import AsOf
from pipelines.plans import PlanBook

WEEK, YEAR = Cycle(7.0, "calendar", origin="detected"), Cycle(252.0)


def night(day):
    return AsOf(pd.Timestamp(day), pd.Timestamp(day))


@pytest.fixture
def book(tmp_path):
    return PlanBook(tmp_path / "plans")


def test_a_first_night_has_nothing_to_compare_with(book):
    assert book.changes("log_volume", night("2018-12-31"), FrequencyPlan((WEEK,))) == ()


def test_what_changed_since_the_last_night_is_said(book):
    book.keep("log_volume", night("2018-12-27"), FrequencyPlan((YEAR,)))
    book.keep("log_volume", night("2018-12-28"), FrequencyPlan((WEEK, YEAR)))
    moved = FrequencyPlan((Cycle(7.1, "calendar", origin="detected"), Cycle(20.0)))
    (said,) = book.changes("log_volume", night("2018-12-31"), moved)
    assert said == "Since the night of 2018-12-28: new: 20 sessions; moved: 7 to 7.1 days; gone: 252 sessions."


def test_nights_after_the_as_of_and_the_night_itself_are_not_read(book):
    plan = FrequencyPlan((WEEK,))
    for day in ("2018-12-31", "2019-01-02"):
        book.keep("log_volume", night(day), FrequencyPlan((YEAR,)))
    assert book.changes("log_volume", night("2018-12-31"), plan) == ()
    book.keep("log_volume", night("2018-12-28"), plan)
    assert book.changes("log_volume", night("2018-12-31"), plan) == ("The same cycles as in the night of 2018-12-28.",)


def test_targets_have_plans_of_their_own(book):
    book.keep("log_range", night("2018-12-28"), FrequencyPlan((YEAR,)))
    assert book.changes("log_volume", night("2018-12-31"), FrequencyPlan((WEEK,))) == ()


def test_intraday_nights_of_one_day_follow_each_other(book):
    book.keep("log_volume", night("2018-12-31 18:00"), FrequencyPlan((YEAR,)))
    (said,) = book.changes("log_volume", night("2018-12-31 21:00"), FrequencyPlan((YEAR,)))
    assert "2018-12-31T1800" in said


@pytest.mark.parametrize("text", ["{", "[]", '{"cycles": [{"colour": 1}]}'])
def test_a_damaged_plan_is_no_reason_to_stop_the_night(book, text):
    book.keep("log_volume", night("2018-12-28"), FrequencyPlan((WEEK,)))
    (book.folder / "log_volume" / "2018-12-28.json").write_text(text)
    assert book.changes("log_volume", night("2018-12-31"), FrequencyPlan((WEEK,))) == ()
