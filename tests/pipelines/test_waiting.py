import signal

import pandas as pd
import pytest

from fints.errors import CalendarError
from fints.sessions import get_calendar
from pipelines.schedule import slot_of
from pipelines.waiting import STEP, following, night_ends, tonight, wait_until

SETTLE = pd.Timedelta(minutes=15)


def at(text):
    return pd.Timestamp(text, tz="UTC")


@pytest.mark.parametrize(
    ("exchanges", "now", "until"),
    [
        (["XNYS"], "2018-12-03T15:00", "2018-12-03T21:15"),  # an ordinary day
        (["XNYS"], "2018-07-02T15:00", "2018-07-02T20:15"),  # in summer
        (["XNYS"], "2018-11-23T15:00", "2018-11-23T18:15"),  # the half-day after Thanksgiving
        (["XNYS"], "2018-12-03T21:10", "2018-12-03T21:15"),  # closed, not settled
        (["XNYS"], "2018-12-03T21:15", None),  # over
        (["XNYS"], "2018-12-04T03:00", None),  # still Monday evening in New York
        (["XNYS"], "2018-12-04T05:00", "2018-12-04T21:15"),
        (["XNYS"], "2018-11-22T15:00", None),  # Thanksgiving
        (["XNYS"], "2018-12-05T15:00", None),  # the day of mourning
        (["XNYS"], "2018-12-08T15:00", None),  # Saturday
        (["XNYS", "XLON", "XTKS"], "2018-12-03T07:00", "2018-12-03T21:15"),  # the last of several
        (["XNYS", "XLON", "XTKS"], "2018-12-03T23:30", None),  # Tuesday in Tokyo already, Monday's night is over
        (["XNYS", "XLON"], "2018-11-22T12:00", "2018-11-22T16:45"),  # London alone is open on Thanksgiving
        (["XLON", "XTKS"], "2018-03-26T10:00", "2018-03-26T15:45"),  # the day after London's clocks went forward
        (["24/7"], "2018-12-08T15:00", "2018-12-09T00:15"),
        (["24/7", "XNYS"], "2018-12-03T22:00", "2018-12-04T00:15"),
        (["24/7"], "2018-12-09T00:00", "2018-12-09T00:15"),  # on the minute of a close at midnight
        (["24/7"], "2018-12-09T00:14:59", "2018-12-09T00:15"),
        (["24/7"], "2018-12-09T00:15", "2018-12-10T00:15"),
        (["XNZE", "XNYS"], "2018-12-05T03:50", "2018-12-05T04:00"),  # Auckland alone on the day of mourning
    ],
)
def test_a_night_waits_for_the_last_close_of_its_day(exchanges, now, until):
    found = tonight(exchanges, at(now), SETTLE)
    assert (found.until if found else None) == (at(until) if until else None)


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2018-12-04T06:00", "2018-12-04T07:00"),  # past midnight, and Monday's bars are not final
        ("2018-12-08T06:00", "2018-12-08T07:00"),  # on a Saturday Friday's
        ("2018-12-04T17:50", "2018-12-05T07:00"),
    ],
)
def test_bars_that_are_final_past_midnight_are_waited_for(now, until):
    assert tonight(["XNYS"], at(now), pd.Timedelta(hours=10)).until == at(until)


@pytest.mark.parametrize("settle", ["0min", "15min", "10h", "24h"])
@pytest.mark.parametrize("exchanges", [["XNYS"], ["24/7"], ["XTKS", "XLON"]], ids="+".join)
def test_a_start_before_the_close_of_each_day_meets_each_night_once(exchanges, settle):
    delay = pd.Timedelta(settle)
    # without half-days, after which bars would be final before the start of the next day where the delay is a day
    ends = night_ends(exchanges, at("2019-03-04"), at("2019-06-28"), delay)
    starts = [end.close - pd.Timedelta(minutes=10) for end in ends]
    assert [tonight(exchanges, start, delay) for start in starts] == ends


def test_it_says_until_when_and_why():
    found = tonight(["XNYS"], at("2018-11-23T15:00"), SETTLE)
    assert found.when == "Fri 2018-11-23 13:15 EST (2018-11-23 18:15 UTC)"
    assert found.why == "XNYS closes early, at 13:00 EST on 2018-11-23, and bars are final 15 min later"


def test_on_a_closed_day_the_next_night_is_known():
    assert following(["XNYS"], at("2018-12-05T15:00"), SETTLE).until == at("2018-12-06T21:15")


def test_where_the_calendars_end_that_is_said():
    with pytest.raises(CalendarError, match=r"known: calendars reach only so far \(XSAU to 20\d\d-12-31\); upgrade"):
        following(["XSAU"], get_calendar("XSAU").last_day.tz_localize("UTC") + pd.Timedelta(hours=20), SETTLE)


class Clock:
    """A clock that sleeping moves on; jumps are what a suspension, or somebody, does to it at a step."""

    def __init__(self, start, jumps=()):
        self.time, self.slept, self.jumps = at(start), [], dict(jumps)

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += pd.Timedelta(seconds=seconds) + self.jumps.get(len(self.slept), pd.Timedelta(0))


def test_a_calendar_that_is_over_hides_no_other_exchange():
    over = (get_calendar("XSAU").last_day + pd.Timedelta(days=10)).tz_localize("UTC")
    span = (over, over + pd.Timedelta(days=10), SETTLE)
    assert night_ends(["XSAU", "XNYS"], *span) == night_ends(["XNYS"], *span) != []
    assert night_ends(["XSAU"], *span) == []
    assert slot_of(["XSAU", "XNYS"], over, SETTLE) == slot_of(["XNYS"], over, SETTLE)
    with pytest.raises(CalendarError, match=r"XSAU to .*upgrade"):
        slot_of(["XSAU"], over, SETTLE)


def test_the_wait_ends_on_time_and_sleeps_in_short_steps():
    clock = Clock("2018-12-03T20:00")
    wait_until(at("2018-12-03T21:15"), clock.now, clock.sleep)
    assert clock.time == at("2018-12-03T21:15")
    assert max(clock.slept) <= STEP


def test_a_machine_that_was_suspended_goes_on_when_it_wakes():
    clock = Clock("2018-12-03T20:00", {2: pd.Timedelta(hours=9)})
    wait_until(at("2018-12-03T21:15"), clock.now, clock.sleep)
    assert len(clock.slept) == 2


def test_a_clock_that_is_set_back_is_waited_for_by_its_new_time():
    clock = Clock("2018-12-03T21:14", {1: pd.Timedelta(minutes=-10)})
    wait_until(at("2018-12-03T21:15"), clock.now, clock.sleep)
    assert clock.time == at("2018-12-03T21:15")
    assert sum(clock.slept) == pytest.approx(660)


def test_after_the_clock_was_set_back_the_night_of_the_new_time_is_waited_for():
    """It had been a day ahead: Tuesday evening, by which Monday's close would be missed."""
    clock = Clock("2018-12-04T20:00", {3: pd.Timedelta(days=-1)})
    wait_until(
        at("2018-12-04T21:15"), clock.now, clock.sleep, anew=lambda: tonight(["XNYS"], clock.now(), SETTLE).until
    )
    assert clock.time == at("2018-12-03T21:15")


def test_after_the_clock_was_set_back_to_a_closed_day_nothing_is_waited_for():
    clock = Clock("2018-12-03T20:00", {3: pd.Timedelta(days=-1)})
    wait_until(at("2018-12-03T21:15"), clock.now, clock.sleep, anew=lambda: tonight(["XNYS"], clock.now(), SETTLE))
    assert len(clock.slept) == 3


def test_what_is_over_is_not_waited_for():
    clock = Clock("2018-12-03T22:00")
    wait_until(at("2018-12-03T21:15"), clock.now, clock.sleep)
    assert clock.slept == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_wait_at_once(number):
    from pipelines.outcome import reported

    def interrupted(_seconds):
        signal.raise_signal(number)

    with pytest.raises(SystemExit) as left, reported():
        wait_until(at("2018-12-03T21:15"), lambda: at("2018-12-03T20:00"), interrupted)
    assert left.value.code == 128 + number
