"""Bars of a session: full days, half-days, breaks, both anchors, and the bars to come."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.errors import CalendarError, DateError, UnknownNameError
from fints.sessions import bar_grid, future_bars, get_calendar, infer_anchor, parse_interval

EXCHANGES = ["XNYS", "XLON", "XTKS", "XHKG", "24/7", "FX", "CMES"]


def starts(grid):
    return grid["ds"].dt.strftime("%H:%M").tolist()


@pytest.mark.parametrize(
    ("exchange", "date", "anchor", "expected"),
    [
        ("XNYS", "2018-11-21", "open", ["09:30", "10:30", "11:30", "12:30", "13:30", "14:30", "15:30"]),
        ("XNYS", "2018-11-23", "open", ["09:30", "10:30", "11:30", "12:30"]),
        ("XNYS", "2018-11-21", "clock", ["09:30", "10:00", "11:00", "12:00", "13:00", "14:00", "15:00"]),
        ("XNYS", "2018-11-23", "clock", ["09:30", "10:00", "11:00", "12:00"]),
        ("XTKS", "2024-11-01", "open", ["09:00", "10:00", "11:00", "12:30", "13:30", "14:30"]),
        ("XTKS", "2024-11-05", "clock", ["09:00", "10:00", "11:00", "12:30", "13:00", "14:00", "15:00"]),
        ("XHKG", "2018-02-15", "open", ["09:30", "10:30", "11:30"]),
        ("XLON", "2018-12-24", "open", ["08:00", "09:00", "10:00", "11:00", "12:00"]),
    ],
)
def test_hourly_bars_of_known_sessions(exchange, date, anchor, expected):
    grid = bar_grid(get_calendar(exchange), date, date, "1h", anchor)
    assert starts(grid) == expected
    assert grid["bar"].tolist() == list(range(len(expected)))


def test_the_last_bar_of_a_half_day_is_cut_at_its_close():
    grid = bar_grid(get_calendar("XNYS"), "2018-11-23", "2018-11-23", "1h")
    assert grid["end"].iloc[-1] - grid["start"].iloc[-1] == pd.Timedelta("30min")
    assert grid["end"].iloc[-1] == pd.Timestamp("2018-11-23 18:00", tz="UTC")


def test_daily_bars_are_stamped_with_the_session_and_span_it():
    grid = bar_grid(get_calendar("XNYS"), "2018-11-21", "2018-11-23", "1d")
    assert grid["ds"].tolist() == grid["session"].tolist() == [pd.Timestamp("2018-11-21"), pd.Timestamp("2018-11-23")]
    assert grid["end"].dt.strftime("%m-%d %H:%M").tolist() == ["11-21 21:00", "11-23 18:00"]
    assert grid["bar"].tolist() == [0, 0]


def test_local_starts_stay_put_over_a_change_of_the_clocks():
    grid = bar_grid(get_calendar("XNYS"), "2019-03-08", "2019-03-11", "30m")
    first = grid[grid["bar"] == 0]
    assert starts(first) == ["09:30", "09:30"]
    assert first["start"].dt.strftime("%H:%M").tolist() == ["14:30", "13:30"]


def test_the_monday_of_the_currency_market_opens_on_sunday_evening():
    grid = bar_grid(get_calendar("FX"), "2018-12-24", "2018-12-24", "1h")
    assert len(grid) == 24
    assert grid["ds"].iloc[0] == pd.Timestamp("2018-12-23 17:00")
    assert set(grid["session"]) == {pd.Timestamp("2018-12-24")}


@settings(deadline=None, max_examples=40)
@given(
    exchange=st.sampled_from(EXCHANGES),
    start=st.dates(pd.Timestamp("1999-01-01").date(), pd.Timestamp("2026-06-01").date()),
    interval=st.sampled_from(["5m", "30m", "1h", "90m", "4h"]),
    anchor=st.sampled_from(["open", "clock"]),
)
def test_bars_tile_the_trading_time_of_every_session(exchange, start, interval, anchor):
    calendar = get_calendar(exchange)
    end = pd.Timestamp(start) + pd.Timedelta(days=10)
    grid, hours = bar_grid(calendar, start, end, interval, anchor), calendar.schedule(start, end)
    length = grid["end"] - grid["start"]
    assert (length > pd.Timedelta(0)).all()
    assert (length <= parse_interval(interval)).all()
    pause = (hours["break_end"] - hours["break_start"]).fillna(pd.Timedelta(0))
    traded = length.groupby(grid["session"]).sum()
    assert (traded.to_numpy() == (hours["close"] - hours["open"] - pause).to_numpy()).all()
    assert grid["start"].is_monotonic_increasing
    same = grid["session"].eq(grid["session"].shift(-1))
    gap = (grid["start"].shift(-1) - grid["end"])[same]
    assert gap.isin([pd.Timedelta(0), *pause.unique()]).all()


@settings(deadline=None, max_examples=40)
@given(
    exchange=st.sampled_from(EXCHANGES),
    row=st.integers(0, 40),
    n=st.integers(1, 40),
    interval=st.sampled_from(["1d", "1h", "30m"]),
)
def test_future_bars_are_the_next_rows_of_the_grid(exchange, row, n, interval):
    calendar = get_calendar(exchange)
    grid = bar_grid(calendar, "2018-11-12", "2019-04-30", interval)
    found = future_bars(calendar, interval, grid["ds"].iloc[row], n)
    expected = grid.iloc[row + 1 : row + 1 + n].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)


def test_future_bars_name_only_what_was_known():
    calendar = get_calendar("XNYS")
    before = future_bars(calendar.as_known("2018-11-20"), "1d", "2018-11-20", 10)["ds"]
    after = future_bars(calendar.as_known("2018-12-03"), "1d", "2018-12-03", 3)["ds"]
    expected = ["11-21", "11-23", "11-26", "11-27", "11-28", "11-29", "11-30", "12-03", "12-04", "12-05"]
    assert before.dt.strftime("%m-%d").tolist() == expected
    assert after.dt.strftime("%m-%d").tolist() == ["12-04", "12-06", "12-07"]


def test_future_bars_do_not_reach_beyond_what_they_need():
    last = future_bars(get_calendar("XHKG"), "1h", "2049-12-30 15:00", 3)  # a half-day ends the calendar
    assert set(last["session"]) == {pd.Timestamp("2049-12-31")}
    with pytest.raises(CalendarError, match="known from"):
        future_bars(get_calendar("XHKG"), "1h", "2049-12-30 15:00", 4)


def test_no_future_bars_are_an_empty_frame():
    assert len(future_bars(get_calendar("XNYS"), "1h", "2018-11-21 15:30", 0)) == 0


@pytest.mark.parametrize("after", [pd.Timestamp("2018-11-21 15:30", tz="UTC"), pd.NaT])
def test_future_bars_want_a_naive_stamp(after):
    with pytest.raises(DateError, match="naive"):
        future_bars(get_calendar("XNYS"), "1h", after, 5)


@pytest.mark.parametrize("exchange", ["XNYS", "XTKS", "XLON"])
@pytest.mark.parametrize("interval", ["1h", "4h"])
@pytest.mark.parametrize("anchor", ["open", "clock"])
def test_the_anchor_is_found_from_observed_starts(exchange, interval, anchor):
    calendar = get_calendar(exchange)
    grid = bar_grid(calendar, "2018-01-01", "2018-03-31", interval, anchor)
    other = bar_grid(calendar, "2018-01-01", "2018-03-31", interval, "open")
    expected = "open" if grid["ds"].equals(other["ds"]) else anchor
    assert infer_anchor(calendar, interval, grid["ds"].sample(frac=0.6, random_state=1)) == expected


def test_stamps_on_the_full_hour_before_the_open_are_on_the_clock():
    days = pd.date_range("2018-03-05", "2018-03-09")
    stamps = pd.DatetimeIndex([day + pd.Timedelta(hours=hour) for day in days for hour in range(9, 16)])
    assert infer_anchor(get_calendar("XNYS"), "1h", stamps) == "clock"


def test_daily_and_missing_bars_have_no_anchor_of_their_own():
    assert infer_anchor(get_calendar("XNYS"), "1d", pd.DatetimeIndex(["2018-03-05"])) == "open"
    assert infer_anchor(get_calendar("XNYS"), "1h", pd.DatetimeIndex([])) == "open"


def test_intervals_are_read_and_unknown_ones_refused():
    assert parse_interval("1d") is None
    assert parse_interval(" 30M ") == pd.Timedelta(minutes=30)
    assert parse_interval("60m") == parse_interval("1h")
    with pytest.raises(UnknownNameError, match=r"unknown interval '7x'.*1d"):
        parse_interval("7x")


def test_an_unknown_anchor_is_refused():
    with pytest.raises(UnknownNameError, match="unknown anchor 'noon'"):
        bar_grid(get_calendar("XNYS"), "2018-03-05", "2018-03-05", "1h", "noon")
