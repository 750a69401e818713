"""The override file: read strictly, and applied whatever the packages say."""

import numpy as np
import pytest

from fints.errors import CalendarError
from fints.sessions import check_known_days, get_calendar, known_days
from fints.sessions.known_days import KnownDay
from fints.sessions.overrides import Event, overrides, parse_overrides
from fints.sessions.table import events

GOOD = "XAAA:\n  entries:\n    - {session: 2018-12-05, kind: closure, announced: 2018-12-01, reason: mourning}\n"


def day(text):
    return int(np.datetime64(text, "D").astype(np.int64))


def test_an_entry_becomes_an_event():
    assert parse_overrides(GOOD)["XAAA"].events == (Event(day("2018-12-05"), day("2018-12-01"), "closure", "mourning"),)


def test_each_session_may_be_announced_on_its_own_day():
    text = GOOD.replace("session: 2018-12-05", "sessions: [2018-12-05, 2018-12-06]").replace("2018-12-01", "same day")
    assert [event.announced for event in parse_overrides(text)["XAAA"].events] == [day("2018-12-05"), day("2018-12-06")]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("kind: closure", "kind: party", "cannot read"),
        (", reason: mourning", "", "cannot read"),
        ("announced: 2018-12-01", "announced: 2018-12-06", "not after it"),
        ("announced: 2018-12-01", "announced: soon", "is not a date"),
        ("session: 2018-12-05", "session: someday", "is not a date"),
        ("reason: mourning", "reason: mourning, colour: black", "cannot read"),
        ("kind: closure", 'kind: early_close, time: "noon"', "is not a time"),
        ("  entries:", "  unlisted: maybe\n  entries:", "unlisted is 'maybe'"),
        ("  entries:", "  holidays: []\n  entries:", "unknown key 'holidays'"),
    ],
)
def test_a_malformed_file_is_refused_with_the_exchange_named(old, new, complaint):
    assert old in GOOD
    with pytest.raises(CalendarError, match=f"XAAA.*{complaint}"):
        parse_overrides(GOOD.replace(old, new))


def test_two_entries_of_one_kind_for_one_day_are_refused():
    with pytest.raises(CalendarError, match="two entries"):
        parse_overrides(GOOD + GOOD.splitlines()[-1] + "\n")


@pytest.mark.parametrize("mic", ["XNYS", "XLON"])
def test_every_ad_hoc_closure_of_a_weekday_since_1953_is_dated(mic):
    """What the packages list one by one is either an event or said to have been scheduled."""
    from fints.sessions.library import library

    listed = {int(d) for d in library(mic).adhoc_closures() if (d + 3) % 7 < 5 and d > day("1953-01-01")}
    dated = {event.day for event in events(mic) if event.kind == "closure"}
    assert listed - dated - overrides(mic).scheduled == set()


def test_well_known_closures_have_their_announcement():
    announced = {event.day: event.announced for event in events("XNYS") if event.kind == "closure"}
    assert announced[day("2018-12-05")] == day("2018-12-01")
    assert announced[day("2012-10-29")] == day("2012-10-28")
    assert announced[day("2025-01-09")] == day("2024-12-30")
    assert announced[day("2001-09-11")] == day("2001-09-11")


def test_known_days_hold_for_every_exchange_that_has_some():
    check_known_days()


def test_an_outdated_package_is_named_with_the_day_that_it_misses(monkeypatch):
    future = KnownDay("XNYS", "2018-11-26", None, "a closure newer than the package")
    monkeypatch.setattr(known_days, "KNOWN_DAYS", (future,))
    with pytest.raises(CalendarError, match=r"XNYS 2018-11-26 .*closes at 16:00.*no session.*upgrade them: pip"):
        check_known_days()


def test_an_entry_holds_even_where_the_package_has_the_day_open():
    from fints.sessions.library import library

    assert day("2023-09-08") in library("XHKG").sessions(day("2023-09-01"), day("2023-09-30"))
    assert not get_calendar("XHKG").is_session("2023-09-08")
