"""What a night says of symbols that were not delivered, and how a run ends for it."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from fints.bars.ingest_report import IngestReport
from fints.bars.merge import Commit
from fints.sessions import get_calendar
from pipelines.asof import AsOf
from pipelines.made_up import MadeUp, made_again
from pipelines.nightly import Nights
from pipelines.outcome import Exit
from pipelines.undelivered import lacks_something, undelivered
from tests.pipelines.conftest import panel
from tests.pipelines.test_doctor_nights import entry

NIGHT = "2025-03-07T21:15:00+00:00"
FRIDAY = pd.Timestamp("2025-03-07 21:15", tz="UTC")


def ahead(**first):
    """Forecast two sessions of each series from a day on."""
    calendar = get_calendar("XNYS")
    before = {name: pd.Timestamp(day) - pd.Timedelta(days=1) for name, day in first.items()}
    return pd.concat(
        [pd.DataFrame({"unique_id": name, "ds": calendar.next_sessions(day, 2)}) for name, day in before.items()]
    )


def target(**first):
    """Return the forecast of series whose bars end the day before their first one."""
    rows = panel(**dict.fromkeys(first, ("XNYS", "2025-02-03", "2025-03-05")))
    return SimpleNamespace(panel=rows, forecast=SimpleNamespace(to_long=lambda: ahead(**first)))


UP_TO_DATE, BEHIND = "2025-03-10", "2025-03-07"


def doing(*, own=False, remade=(), aliases=None):
    reading = SimpleNamespace(aliases=aliases or {})
    return SimpleNamespace(
        own=own, as_of=AsOf(FRIDAY.tz_localize(None), FRIDAY), reading=reading, turn=SimpleNamespace(remade=remade)
    )


def report(monkeypatch, failed, doubted=()):
    monkeypatch.setattr(IngestReport, "doubted", lambda _: dict(doubted))
    return IngestReport(Commit(1), failed=failed)


def test_tonights_night_says_all_that_its_ingest_met(monkeypatch):
    met = report(monkeypatch, {"AAA": "no answer"}, {"BBB": "closed days"})
    found = undelivered(doing(own=True), met, [target(AAA=UP_TO_DATE)], None)
    assert (found.failed, found.misplaced) == ({"AAA": "no answer"}, {"BBB": "closed days"})


def test_an_earlier_night_says_what_it_lacks_of_this_runs_delivery(monkeypatch):
    met = report(monkeypatch, dict.fromkeys(("AAA", "BBB", "NONE"), "no answer"), {"CCC": "closed days"})
    found = undelivered(doing(), met, [target(AAA=UP_TO_DATE, BBB=BEHIND, CCC=BEHIND)], None)
    assert found.failed == {"BBB": "no answer", "NONE": "no answer"}  # of the last there is no bar at all
    assert found.misplaced == {"CCC": "closed days"}


def test_a_bar_without_a_value_of_one_target_has_come_all_the_same(monkeypatch):
    met = report(monkeypatch, {"AAA": "no answer"})
    found = undelivered(doing(), met, [target(AAA=BEHIND), target(AAA=UP_TO_DATE)], None)
    assert found.failed == {}


def test_a_night_made_again_says_what_it_said_but_for_what_has_come(monkeypatch):
    met = report(monkeypatch, {"BBB": "of now", "DDD": "of now"}, {"AAA": "of now", "DDD": "of now"})
    told = {"failed": {"AAA": "then", "BBB": "then", "OLD": "then"}, "misplaced": {"AAA": "then", "CCC": "then"}}
    again = doing(remade=("AAA",), aliases={"OLD": "NEW"})
    series = target(AAA=UP_TO_DATE, BBB=BEHIND, DDD=BEHIND, NEW=UP_TO_DATE)
    found = undelivered(again, met, [series], told)
    assert found.failed == {"BBB": "then"}
    assert found.misplaced == {"AAA": "of now", "CCC": "then"}  # exchanges of what is made again are seen anew
    gone = undelivered(again, met, [series], None)
    assert gone.failed == {"BBB": "of now", "DDD": "of now"}


@pytest.mark.parametrize(
    ("failed", "left_out", "inactive", "lacks"),
    [
        ({}, [], [], False),
        ({"AAA": "no answer"}, [], [], True),
        ({"AAA": "no answer"}, ["AAA"], ["AAA"], False),
        ({}, ["AAA"], [], True),
    ],
)
def test_a_symbol_that_has_ceased_to_exist_is_no_fault_of_a_night(failed, left_out, inactive, lacks):
    problems = pd.DataFrame({"unique_id": left_out, "left_out": [True] * len(left_out)})
    night = SimpleNamespace(problems=problems, failed=failed, misplaced={})
    assert lacks_something(night, inactive) is lacks


@pytest.mark.parametrize(
    ("state", "exit_code", "tonight", "code"),
    [
        ("done", 0, Exit.DONE, Exit.DONE),
        ("done", 3, Exit.DONE, Exit.PARTLY),
        ("done", 3, Exit.ALERT, Exit.PARTLY),
        ("done", 4, Exit.DONE, Exit.DONE),
        ("failed", 1, Exit.DONE, Exit.PARTLY),
        ("failed", 1, Exit.FAILED, Exit.FAILED),
        ("skipped", None, Exit.DONE, Exit.DONE),
    ],
)
def test_a_run_ends_with_3_where_an_earlier_night_lacks_symbols_and_tonights_does_not(state, exit_code, tonight, code):
    earlier = MadeUp(replace(entry(NIGHT, state), exit_code=exit_code))
    assert Nights(SimpleNamespace(exit_code=int(tonight)), (earlier,)).exit_code == code


def test_an_earlier_night_names_what_it_lacks():
    made = MadeUp(replace(entry(NIGHT), reason="caught up"), {"AAA": "no answer"})
    assert str(made) == "Night as of Fri 2025-03-07 21:15 UTC: done: caught up. Not delivered: AAA: no answer."
    many = MadeUp(made.entry, dict.fromkeys("ABCDE", "no answer"))
    assert str(many).endswith("C: no answer; and 2 others.")
    assert made.to_json()["failed"] == {"AAA": "no answer"}


def test_a_night_made_again_names_what_it_forecasts_for_the_first_time():
    said = made_again(("AAA",), {"AAA", "BBB", "NEW"}, {"BBB"})
    assert said.startswith(
        "Made again: the forecasts of AAA. For the first time, since they were not forecast before: NEW. "
    )
    assert said.endswith("Those of 1 other series stay as they were first made.")
    assert "first time" not in made_again(("AAA",), {"AAA", "BBB"}, {"BBB"})
