"""The four clocks: there and back, monotone, half-days, breaks, daylight saving."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.errors import DateError
from fints.sessions import (
    bar_grid,
    get_calendar,
    ordinal_sessions,
    place_instants,
    places,
    session_ordinals,
    session_places,
)

MAJOR = ["XNYS", "XLON", "XTKS", "XHKG"]
EXCHANGES = [*MAJOR, "24/7", "FX", "CMES"]


@pytest.mark.parametrize("mic", EXCHANGES)
def test_every_session_from_1950_to_2030_goes_there_and_back(mic):
    calendar = get_calendar(mic)
    hours = calendar.schedule("1950-01-01", "2030-12-31")
    ordinals = session_ordinals(calendar, hours.index)
    assert (np.diff(ordinals) == 1).all()
    assert ordinal_sessions(calendar, ordinals).equals(pd.DatetimeIndex(hours.index.to_numpy()))
    closes = pd.DatetimeIndex(hours["close"])
    assert (session_places(calendar, closes) == ordinals + 1).all()
    assert (place_instants(calendar, ordinals + 1.0) == closes).all()
    opens = pd.DatetimeIndex(hours["open"])
    assert (session_places(calendar, opens) == ordinals).all()
    just_after = opens + pd.Timedelta(milliseconds=1)
    assert (place_instants(calendar, session_places(calendar, just_after)) == just_after).all()


@pytest.mark.parametrize(("mic", "first"), [("XNYS", "1970-01-02"), ("24/7", "1970-01-01"), ("FX", "1970-01-01")])
def test_the_first_session_of_1970_is_number_zero(mic, first):
    calendar = get_calendar(mic)
    assert ordinal_sessions(calendar, np.array([0]))[0] == pd.Timestamp(first)
    before = calendar.session_on_or_before(pd.Timestamp(first) - pd.Timedelta(days=1))
    assert session_ordinals(calendar, pd.DatetimeIndex([before, first])).tolist() == [-1, 0]


def test_saturdays_before_1952_count_as_sessions():
    calendar = get_calendar("XNYS")
    days = pd.DatetimeIndex(["1951-03-09", "1951-03-10", "1951-03-12"])
    assert np.diff(session_ordinals(calendar, days)).tolist() == [1, 1]


@pytest.mark.parametrize("mic", EXCHANGES)
@pytest.mark.parametrize("interval", ["30m", "1h"])
def test_every_bar_close_goes_there_and_back(mic, interval):
    calendar = get_calendar(mic)
    grid = bar_grid(calendar, "2017-06-01", "2019-06-01", interval)
    at = places(grid, calendar)
    closes = pd.DatetimeIndex(grid["end"])
    assert (np.diff(at.session) > 0).all()
    assert (place_instants(calendar, at.session) == closes).all()
    assert (session_places(calendar, closes) == at.session).all()
    number = session_ordinals(calendar, pd.DatetimeIndex(grid["session"]))
    assert ((at.session > number) & (at.session <= number + 1)).all()


@settings(deadline=None, max_examples=40)
@given(
    mic=st.sampled_from(EXCHANGES),
    place=st.lists(st.floats(-4000, 14_000), min_size=1, max_size=20),
)
def test_places_survive_the_way_to_instants_and_back(mic, place):
    calendar = get_calendar(mic)
    there = place_instants(calendar, np.array(place))
    back = session_places(calendar, there)
    assert np.abs(back - place).max() < 1e-6  # half a millisecond of a short session
    assert (session_places(calendar, place_instants(calendar, back)) == back).all()


@settings(deadline=None, max_examples=40)
@given(
    mic=st.sampled_from(EXCHANGES),
    seconds=st.lists(st.integers(-600_000_000, 1_900_000_000), min_size=2, max_size=30),
)
def test_the_session_clock_never_runs_backwards(mic, seconds):
    instants = pd.DatetimeIndex(np.sort(np.array(seconds, dtype="datetime64[s]")).astype("datetime64[ns]"), tz="UTC")
    assert (np.diff(session_places(get_calendar(mic), instants)) >= 0).all()


@settings(deadline=None, max_examples=40)
@given(mic=st.sampled_from(EXCHANGES), shift=st.integers(-3000, 10_000))
def test_a_step_of_n_sessions_is_a_step_of_n_on_the_clock(mic, shift):
    calendar = get_calendar(mic)
    base = ordinal_sessions(calendar, np.array([shift]))
    later = calendar.next_sessions(base[0], 7)
    assert (session_ordinals(calendar, later) - shift).tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_half_days_stretch_to_a_whole_session():
    calendar = get_calendar("XNYS")
    grid = bar_grid(calendar, "2018-11-21", "2018-11-23", "30m")
    at = places(grid, calendar).session
    whole, half = at[:13] - np.floor(at[0]), at[13:] - np.floor(at[13])
    np.testing.assert_allclose(whole, np.arange(1, 14) / 13, rtol=0, atol=1e-11)
    np.testing.assert_allclose(half, np.arange(1, 8) / 7, rtol=0, atol=1e-11)


def test_a_break_takes_no_place_on_the_session_clock():
    calendar = get_calendar("XTKS")
    lunch = pd.DatetimeIndex(["2024-11-05 11:30", "2024-11-05 12:00", "2024-11-05 12:30"], tz="Asia/Tokyo")
    at = session_places(calendar, lunch)
    assert len(set(at)) == 1
    np.testing.assert_allclose(at[0] - np.floor(at[0]), 2.5 / 5.5, rtol=0, atol=1e-11)
    assert (place_instants(calendar, at) == lunch[0]).all()


def test_the_clock_stands_still_overnight_and_at_weekends():
    calendar = get_calendar("XNYS")
    friday, sunday, monday = (
        pd.Timestamp(t, tz="America/New_York") for t in ("2019-03-08 16:00", "2019-03-10 12:00", "2019-03-11 09:30")
    )
    at = session_places(calendar, pd.DatetimeIndex([friday, sunday, monday]))
    assert at[0] == at[1] == at[2] == np.rint(at[0])


def test_daily_bars_stand_on_whole_sessions_and_whole_days():
    calendar = get_calendar("XNYS")
    grid = bar_grid(calendar, "2018-11-19", "2018-12-07", "1d")
    at = places(grid, calendar, first_index=100)
    assert at.index.tolist() == list(range(100, 100 + len(grid)))
    assert (at.session == session_ordinals(calendar, pd.DatetimeIndex(grid["session"]))).all()
    week = grid.index[grid["session"].isin(pd.to_datetime(["2018-11-19", "2018-11-26"]))]
    assert np.diff(at.calendar[week]).tolist() == [7.0]
    assert at.calendar[0] == (pd.Timestamp("2018-11-19") - pd.Timestamp(0)).days
    close = pd.Timestamp("2018-11-23 18:00", tz="UTC").timestamp()
    assert at.seconds[grid["session"] == "2018-11-23"].tolist() == [close]


@pytest.mark.parametrize(
    ("mic", "before", "after"), [("XNYS", "2019-03-07", "2019-03-14"), ("XLON", "2019-10-24", "2019-10-31")]
)
def test_a_week_is_seven_days_whatever_daylight_saving_does(mic, before, after):
    calendar = get_calendar(mic)
    first, last = (places(bar_grid(calendar, d, d, "1h"), calendar) for d in (before, after))
    np.testing.assert_allclose(last.calendar - first.calendar, 7.0, rtol=0, atol=1e-9)
    assert np.abs((last.seconds - first.seconds) / 86_400 - 7).min() > 0.04  # an hour more or less in real time


def test_the_calendar_clock_carries_the_local_time_of_the_close():
    calendar = get_calendar("XNYS")
    at = places(bar_grid(calendar, "2018-11-21", "2018-11-21", "1h"), calendar)
    day = (pd.Timestamp("2018-11-21") - pd.Timestamp(0)).days
    closes = [10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16]
    np.testing.assert_allclose((at.calendar - day) * 24, closes, rtol=0, atol=1e-8)


def test_days_without_end_run_into_the_next_day_on_the_calendar_clock():
    calendar = get_calendar("24/7")
    at = places(bar_grid(calendar, "2018-12-24", "2018-12-25", "4h"), calendar)
    day = (pd.Timestamp("2018-12-24") - pd.Timestamp(0)).days
    np.testing.assert_allclose(at.calendar, day + np.arange(1, 13) / 6, rtol=0, atol=1e-10)
    np.testing.assert_allclose(at.session, day + np.arange(1, 13) / 6, rtol=0, atol=1e-10)


def test_a_single_hour_at_midnight_is_not_taken_for_a_day():
    calendar = get_calendar("24/7")
    hour = bar_grid(calendar, "2018-12-24", "2018-12-24", "1h").iloc[:1]
    day = bar_grid(calendar, "2018-12-24", "2018-12-24", "1d")
    number = session_ordinals(calendar, pd.DatetimeIndex(["2018-12-24"]))[0]
    assert places(hour, calendar).session[0] == pytest.approx(number + 1 / 24)
    assert places(day, calendar).session[0] == number


def test_bars_in_other_units_and_zones_stand_at_the_same_places():
    calendar = get_calendar("XNYS")
    grid = bar_grid(calendar, "2018-11-19", "2018-11-23", "1h")
    other = grid.assign(
        session=grid["session"].astype("datetime64[s]"),
        ds=grid["ds"].astype("datetime64[us]"),
        start=grid["start"].dt.tz_convert("Asia/Tokyo"),
        end=grid["end"].dt.tz_convert("America/New_York").astype("datetime64[us, America/New_York]"),
    )
    a, b = places(grid, calendar), places(other, calendar)
    for name in ("index", "session", "calendar", "seconds"):
        assert (getattr(a, name) == getattr(b, name)).all()


def test_ordinals_count_a_closure_only_once_it_is_known():
    calendar = get_calendar("XNYS")
    days = pd.DatetimeIndex(["2018-12-04", "2018-12-06"])
    assert np.diff(session_ordinals(calendar, days)).tolist() == [1]
    assert np.diff(session_ordinals(calendar.as_known("2018-11-20"), days)).tolist() == [2]


def test_no_bars_stand_nowhere():
    calendar = get_calendar("XNYS")
    at = places(bar_grid(calendar, "2018-12-22", "2018-12-23", "1h"), calendar)
    assert [len(x) for x in (at.index, at.session, at.calendar, at.seconds)] == [0, 0, 0, 0]


def test_a_day_that_is_no_session_is_refused_by_name():
    with pytest.raises(DateError, match=r"2018-11-22 \(Thursday\) is no session of XNYS"):
        session_ordinals(get_calendar("XNYS"), pd.DatetimeIndex(["2018-11-21", "2018-11-22"]))


def test_missing_instants_and_places_are_refused():
    calendar = get_calendar("XNYS")
    with pytest.raises(DateError, match="NaT"):
        session_places(calendar, pd.DatetimeIndex(["2018-11-21", None], tz="UTC"))
    with pytest.raises(DateError, match="finite"):
        place_instants(calendar, np.array([1.0, np.nan]))
    with pytest.raises(DateError, match="whole"):
        ordinal_sessions(calendar, np.array([1.5]))
