"""Sessions and hours against independent references, and what was known when."""

import pickle
import re

import pandas as pd
import pytest
from arch.data import sp500
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.errors import CalendarError, DateError
from fints.sessions import calendar_version, get_calendar
from fints.sessions.names import known_names
from fints.sessions.table import session_table

ANSWERS = {  # exchange, session: local open and close, and the break
    ("XNYS", "2018-11-21"): ("09:30", "16:00", None),
    ("XNYS", "2018-11-23"): ("09:30", "13:00", None),
    ("XNYS", "2024-07-03"): ("09:30", "13:00", None),
    ("XNYS", "1999-12-31"): ("09:30", "13:00", None),  # only the override file knows
    ("XNYS", "2002-09-11"): ("12:00", "16:00", None),
    ("XNYS", "1951-03-10"): ("10:00", "12:00", None),
    ("XLON", "2018-12-24"): ("08:00", "12:30", None),
    ("XLON", "2018-12-31"): ("08:00", "12:30", None),
    ("XLON", "2019-03-29"): ("08:00", "16:30", None),
    ("XTKS", "2024-11-01"): ("09:00", "15:00", ("11:30", "12:30")),
    ("XTKS", "2024-11-05"): ("09:00", "15:30", ("11:30", "12:30")),
    ("XHKG", "2018-02-15"): ("09:30", "12:00", None),
    ("XHKG", "2018-02-14"): ("09:30", "16:00", ("12:00", "13:00")),
    ("XHKG", "2013-09-23"): ("13:00", "16:00", None),
    ("XHKG", "2021-06-28"): ("13:30", "16:00", None),
    ("XHKG", "2023-10-09"): ("14:00", "16:00", None),
    ("XETR", "2022-12-30"): ("09:00", "14:00", None),
    ("XSGO", "2020-06-02"): ("09:30", "16:00", None),
    ("ASEX", "2020-06-02"): ("10:00", "17:20", None),
    ("24/7", "2018-12-25"): ("00:00", "00:00", None),
    ("FX", "2018-12-24"): ("17:00", "17:00", None),
}
CLOSED = {
    "XNYS": ["2001-09-11", "2001-09-14", "2007-01-02", "2012-10-29", "2018-12-05", "2022-06-20", "2025-01-09"],
    "XLON": ["2011-04-29", "2022-06-02", "2022-09-19", "1955-12-27", "2020-05-08"],
    "XTKS": ["2018-11-23", "2019-05-01", "2020-10-01", "1990-11-12", "1965-01-01"],
    "XHKG": ["2023-09-01", "2023-09-08", "2021-10-13", "2018-02-16"],
    "FX": ["2018-12-22", "2018-12-23"],
    "ASEX": ["2020-04-20"],  # Orthodox Easter Monday
    "XNSE": ["2025-02-02"],
}
OPEN = {
    "XNYS": ["2021-06-18", "2018-11-23", "1952-05-24"],
    "XTKS": ["1995-07-20"],  # Marine Day began in 1996
    "XNSE": ["2025-02-01"],
    "24/7": ["2018-12-23"],
    "FX": ["2018-12-25"],
}


def local_hours(mic, date):
    calendar = get_calendar(mic)
    row = calendar.schedule(date, date).iloc[0]
    opens, closes, *pause = (
        None if pd.isna(row[name]) else row[name].tz_convert(calendar.timezone).strftime("%H:%M")
        for name in ("open", "close", "break_start", "break_end")
    )
    return opens, closes, tuple(pause) if pause[0] else None


@pytest.mark.parametrize(("exchange", "date"), sorted(ANSWERS))
def test_hours_of_known_sessions(exchange, date):
    assert local_hours(exchange, date) == ANSWERS[exchange, date]


@pytest.mark.parametrize("exchange", sorted(CLOSED))
def test_no_session_on_days_known_to_be_closed(exchange):
    assert [d for d in CLOSED[exchange] if get_calendar(exchange).is_session(d)] == []


@pytest.mark.parametrize("exchange", sorted(OPEN))
def test_a_session_on_days_known_to_be_open(exchange):
    assert [d for d in OPEN[exchange] if not get_calendar(exchange).is_session(d)] == []


def test_new_york_sessions_are_the_dates_of_the_sample_index():
    expected = pd.DatetimeIndex(sp500.load().index).as_unit("ns")
    sessions = get_calendar("XNYS").sessions("1999-01-04", "2018-12-31")
    assert len(sessions) == 5031
    assert sessions.equals(pd.DatetimeIndex(expected.to_numpy()))


@pytest.mark.parametrize("mic", ["XLON", "XHKG", "XETR", "XTSE", "XASX", "XSHG", "XSTO"])
def test_sessions_and_closes_agree_with_exchange_calendars(mic, reference):
    theirs = reference(mic, "2000-01-03", "2024-12-31")
    ours = get_calendar(mic).schedule("2000-01-03", "2024-12-31")
    ours_only = [str(d.date()) for d in ours.index.difference(theirs.index)]
    theirs_only = [str(d.date()) for d in theirs.index.difference(ours.index)]
    extra = {"XHKG": ["2023-09-01", "2023-09-08"]}.get(mic, [])  # closures that only the override file knows
    assert (ours_only, theirs_only) == ([], extra)
    both = theirs.index.intersection(ours.index)
    assert (ours.loc[both, "close"].to_numpy() == theirs.loc[both, "close"].to_numpy()).all()


def test_new_york_agrees_with_exchange_calendars_since_1990(reference):
    theirs = reference("XNYS", "1990-01-02", "2027-12-31")
    ours = get_calendar("XNYS").sessions("1990-01-02", "2027-12-31")
    assert ours.equals(pd.DatetimeIndex(theirs.index.as_unit("ns").to_numpy()))


@pytest.mark.parametrize("mic", sorted(set(known_names().values()) - {"XKRX"}))
def test_every_exchange_has_a_sane_year(mic):
    hours = get_calendar(mic).schedule("2024-01-01", "2024-12-31")
    assert 235 <= len(hours) <= 366
    assert (hours["open"] < hours["close"]).all()
    assert hours["open"].dtype == "datetime64[ns, UTC]"
    assert hours.index.dtype == "datetime64[ns]"
    pauses = hours.dropna(subset="break_start")
    assert (pauses["open"] < pauses["break_start"]).all()
    assert (pauses["break_end"] < pauses["close"]).all()


def test_a_schedule_without_sessions_keeps_its_types():
    hours = get_calendar("XNYS").schedule("2018-12-22", "2018-12-23")
    assert len(hours) == 0
    assert hours["open"].dtype == "datetime64[ns, UTC]"
    assert hours["early_close"].dtype == bool


def test_early_closes_of_2018_are_the_three_half_days_of_new_york():
    hours = get_calendar("XNYS").schedule("2018-01-01", "2018-12-31")
    assert hours.index[hours["early_close"]].strftime("%m-%d").tolist() == ["07-03", "11-23", "12-24"]


@pytest.mark.parametrize(
    ("at", "open_"), [("2018-11-20", True), ("2018-11-30", True), ("2018-12-01", False), ("2018-12-03", False)]
)
def test_the_day_of_mourning_of_2018_is_known_from_its_announcement(at, open_):
    assert get_calendar("XNYS").as_known(at).is_session("2018-12-05") is open_


def test_a_closure_not_yet_announced_is_a_session_with_regular_hours():
    row = get_calendar("NYSE").as_known("2018-11-20").schedule("2018-12-05", "2018-12-05").iloc[0]
    assert row["open"] == pd.Timestamp("2018-12-05 14:30", tz="UTC")
    assert row["close"] == pd.Timestamp("2018-12-05 21:00", tz="UTC")
    assert not row["early_close"]


def test_an_instant_counts_by_the_date_of_the_exchange():
    calendar = get_calendar("XNYS")
    late_on_30_november = pd.Timestamp("2018-12-01 03:00", tz="UTC")
    assert calendar.as_known(late_on_30_november).is_session("2018-12-05")
    assert not calendar.as_known(pd.Timestamp("2018-12-01 06:00", tz="UTC")).is_session("2018-12-05")


@pytest.mark.parametrize(
    ("mic", "date", "eve"),
    [
        ("XNYS", "2001-09-11", "2001-09-10"),
        ("XNYS", "2012-10-29", "2012-10-27"),
        ("XNYS", "1985-09-27", "1985-09-26"),
        ("XLON", "2022-09-19", "2022-09-09"),
        ("XTKS", "2020-10-01", "2020-09-30"),
        ("XHKG", "2017-08-23", "2017-08-22"),
        ("XTSE", "2001-09-12", "2001-09-10"),
        ("XTAI", "2024-10-31", "2024-10-30"),
        ("XSHG", "2020-01-31", "2020-01-20"),
        ("CBOE_Equity_Options", "2018-12-05", "2018-11-20"),
    ],
)
def test_a_surprise_was_a_session_on_its_eve(mic, date, eve):
    calendar = get_calendar(mic)
    assert not calendar.is_session(date)
    assert calendar.as_known(eve).is_session(date)


@pytest.mark.parametrize(
    ("mic", "date", "long_before"),
    [
        ("XHKG", "2018-02-16", "2010-01-01"),
        ("XSHG", "2018-02-16", "2010-01-01"),
        ("XTKS", "2018-09-24", "2010-01-01"),
        ("XNYS", "1980-11-04", "1970-01-01"),
        ("XNYS", "2018-11-22", "1990-01-01"),
        ("XNYS", "1950-06-10", "1950-01-01"),
        ("XLON", "1999-12-31", "1999-01-01"),
    ],
)
def test_holidays_that_packages_list_one_by_one_stay_known_long_before(mic, date, long_before):
    assert not get_calendar(mic).as_known(long_before).is_session(date)


def test_a_late_open_by_storm_and_an_early_close_by_crash_are_undone_before_they_were_known():
    hong_kong = get_calendar("XHKG").as_known("2013-09-20").schedule("2013-09-23", "2013-09-23").iloc[0]
    assert hong_kong["open"] == pd.Timestamp("2013-09-23 01:30", tz="UTC")
    assert hong_kong["break_start"] == pd.Timestamp("2013-09-23 04:00", tz="UTC")
    new_york = get_calendar("XNYS")
    assert new_york.schedule("1997-10-27", "1997-10-27")["early_close"].all()
    assert not new_york.as_known("1997-10-26").schedule("1997-10-27", "1997-10-27")["early_close"].any()


def test_the_early_close_at_the_turn_of_the_millennium_was_decided_in_june_1999():
    calendar = get_calendar("XNYS")
    assert calendar.schedule("1999-12-31", "1999-12-31")["early_close"].all()
    assert calendar.as_known("1999-06-04").schedule("1999-12-31", "1999-12-31")["early_close"].all()
    assert not calendar.as_known("1999-06-03").schedule("1999-12-31", "1999-12-31")["early_close"].any()


def test_a_special_saturday_is_unknown_before_its_announcement():
    assert not get_calendar("XNSE").as_known("2024-12-01").is_session("2025-02-01")
    assert get_calendar("XNSE").as_known("2024-12-23").is_session("2025-02-01")


@settings(deadline=None, max_examples=40)
@given(at=st.dates(pd.Timestamp("1990-01-01").date(), pd.Timestamp("2025-12-31").date()))
def test_the_past_is_the_same_whenever_it_is_known(at):
    calendar = get_calendar("XNYS")
    start = pd.Timestamp(at) - pd.Timedelta(days=400)
    assert calendar.as_known(at).sessions(start, at).equals(calendar.sessions(start, at))


def test_calendars_compare_by_exchange_and_knowledge_and_survive_pickling():
    calendar = get_calendar("XNYS")
    known = calendar.as_known("2018-11-20")
    assert known == calendar.as_known("2018-11-20 15:00")
    assert known != calendar
    assert len({known, calendar, calendar.as_known("2018-11-20")}) == 2
    again = pickle.loads(pickle.dumps(known))
    assert again == known
    assert again.is_session("2018-12-05")


def test_tables_are_built_once_and_never_handed_out_to_be_changed():
    table = get_calendar("XNYS").table(10_000, 10_100)
    assert get_calendar("NASDAQ").table(10_050, 10_060) is table
    with pytest.raises(ValueError, match="read-only"):
        table.day[0] = 0


def test_next_sessions_skip_thanksgiving():
    after = get_calendar("XNYS").next_sessions("2018-11-21", 3)
    assert after.strftime("%Y-%m-%d").tolist() == ["2018-11-23", "2018-11-26", "2018-11-27"]
    assert len(get_calendar("XNYS").next_sessions("2018-11-21", 0)) == 0


def test_the_session_before_a_closed_day():
    assert get_calendar("XNYS").session_on_or_before("2018-11-25") == pd.Timestamp("2018-11-23")
    assert get_calendar("XNYS").session_on_or_before("2018-11-23") == pd.Timestamp("2018-11-23")
    assert get_calendar("FX").session_on_or_before("2018-12-23") == pd.Timestamp("2018-12-21")


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        ("2018-11-23 18:14", "2018-11-21"),  # half-day closed at 18:00 UTC, late prints still come
        ("2018-11-23 18:15", "2018-11-23"),
        ("2018-11-24 12:00", "2018-11-23"),
    ],
)
def test_a_session_is_closed_only_after_the_settle_delay(instant, expected):
    closed = get_calendar("XNYS").last_closed_session(pd.Timestamp(instant, tz="UTC"))
    assert closed == pd.Timestamp(expected)


def test_sydney_closes_on_its_own_date():
    closed = get_calendar("ASX").last_closed_session
    assert closed(pd.Timestamp("2024-03-05 05:30", tz="UTC")) == pd.Timestamp("2024-03-05")
    assert closed(pd.Timestamp("2024-03-05 00:30", tz="UTC")) == pd.Timestamp("2024-03-04")


def test_an_instant_without_a_time_zone_is_refused():
    with pytest.raises(DateError, match="time zone"):
        get_calendar("XNYS").last_closed_session(pd.Timestamp("2018-11-24"))


@pytest.mark.parametrize("mic", ["XSAU", "XBOM", "XNYS"])
def test_the_last_known_session_is_the_last_closed_one_or_the_last_of_a_calendar_that_is_over(mic):
    calendar = get_calendar(mic)
    newest = calendar.session_on_or_before(calendar.last_day)
    over = (calendar.last_day + pd.Timedelta(days=2)).tz_localize("UTC")
    assert calendar.last_known_session(over) == newest
    with pytest.raises(CalendarError):
        calendar.last_closed_session(over)
    for instant in pd.date_range("2024-11-20", periods=60, freq="5h", tz="UTC"):
        assert calendar.last_known_session(instant) == calendar.last_closed_session(instant)
    with pytest.raises(DateError, match="time zone"):
        calendar.last_known_session(pd.Timestamp("2018-11-24"))


def test_scheduled_closures_are_the_rule_holidays_only():
    closures = get_calendar("XNYS").scheduled_closures("2018-01-01", "2018-12-31")
    assert closures.strftime("%m-%d").tolist() == [
        "01-01", "01-15", "02-19", "03-30", "05-28", "07-04", "09-03", "11-22", "12-25",
    ]  # fmt: skip
    assert len(get_calendar("24/7").scheduled_closures("2000-01-01", "2020-12-31")) == 0
    assert len(get_calendar("FX").scheduled_closures("2000-01-01", "2020-12-31")) == 0


@pytest.mark.parametrize(
    ("mic", "date"), [("XHKG", "2050-06-01"), ("XSAU", "2019-06-03"), ("XNYS", "1850-01-02"), ("XNSE", "2090-01-02")]
)
def test_dates_that_the_packages_do_not_vouch_for_are_refused_aloud(mic, date):
    with pytest.raises(CalendarError, match=f"{mic} is known from .* upgrade exchange-calendars"):
        get_calendar(mic).sessions(date, date)


def test_next_sessions_refuse_to_run_over_the_end_of_a_calendar():
    with pytest.raises(CalendarError, match="XHKG is known from"):
        get_calendar("XHKG").next_sessions("2049-12-20", 20)


@pytest.mark.parametrize("date", ["yesterday-ish", None, pd.NaT])
def test_what_is_no_date_is_refused(date):
    with pytest.raises(DateError, match="XNYS"):
        get_calendar("XNYS").is_session(date)


def test_a_range_that_runs_backwards_is_refused():
    with pytest.raises(DateError, match="after end"):
        get_calendar("XNYS").sessions("2018-12-31", "2018-01-01")


def test_tables_refuse_years_that_no_calendar_covers():
    with pytest.raises(CalendarError, match="outside"):
        session_table("XNYS", 0, -(10**6), 0)


def test_the_version_names_the_packages_and_the_override_file():
    assert re.fullmatch(r"pmc \S+ \+ xc \S+ \+ overrides [0-9a-f]{8}", calendar_version())
