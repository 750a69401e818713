import pandas as pd
import pytest

import fints
from fints.errors import DataError, DateError
from pipelines.asof import AsOf, observe, parse_as_of

NOW = pd.Timestamp("2026-01-05 22:00", tz="UTC")


@pytest.fixture(scope="module")
def bars():
    return fints.sample_bars()


def look(bars, text, *, live=False, now=NOW):
    return observe(bars, parse_as_of(text), live=live, now=now)


def test_a_date_knows_everything_of_its_session(bars):
    known, as_of = look(bars, "2018-11-20")
    assert known["session"].max() == pd.Timestamp("2018-11-20")
    assert as_of.stamp == as_of.known_at == pd.Timestamp("2018-11-20")
    assert as_of.notes == ()


def test_a_closed_day_takes_the_last_session_before_it_and_says_so(bars):
    known, as_of = look(bars, "2018-12-25")
    assert known["session"].max() == as_of.stamp == pd.Timestamp("2018-12-24")
    assert as_of.known_at == pd.Timestamp("2018-12-25")
    (note,) = as_of.notes
    assert "XNYS was closed on Tuesday 2018-12-25" in note
    assert "Monday 2018-12-24" in note


@pytest.mark.parametrize(
    ("instant", "last"),
    [
        ("2018-11-20T21:14Z", "2018-11-19"),
        ("2018-11-20T21:15Z", "2018-11-20"),
        ("2018-11-23T18:15Z", "2018-11-23"),
        ("2018-07-03T13:15-04:00", "2018-07-03"),
    ],
    ids=["not settled yet", "settled", "half-day", "half-day in local time"],
)
def test_an_instant_knows_what_has_closed_and_settled(bars, instant, last):
    known, _ = look(bars, instant)
    assert known["session"].max() == pd.Timestamp(last)


def test_without_an_as_of_the_newest_bar_is_taken(bars):
    known, as_of = look(bars, None)
    assert len(known) == len(bars)
    assert as_of.stamp == as_of.known_at == pd.Timestamp("2018-12-31")


def test_intraday_bars_know_the_calendar_of_their_last_close():
    """20:00 in Chicago is tomorrow in UTC, and what is announced tomorrow is not known."""
    close = pd.Timestamp("2018-12-04 02:00", tz="UTC")
    row = {"session": pd.Timestamp("2018-12-04"), "end": close, "interval": "1h", "exchange": "CME_Equity"}
    _, as_of = look(pd.DataFrame([row]), None)
    assert (as_of.stamp, as_of.known_at) == (close.tz_localize(None), close)


@pytest.mark.parametrize(
    ("moment", "due"),
    [
        (pd.Timestamp("2018-11-22"), "2018-11-21"),
        (pd.Timestamp("2018-11-21"), "2018-11-21"),
        (pd.Timestamp("2018-11-21 21:14", tz="UTC"), "2018-11-20"),
    ],
)
def test_a_session_is_over_on_its_date_or_once_it_has_settled(moment, due):
    assert AsOf(pd.Timestamp("2018-11-20"), moment).due("XNYS") == pd.Timestamp(due)


def test_a_live_source_knows_the_calendar_of_now_and_says_when_it_is_late(bars):
    _, as_of = look(bars, None, live=True, now=pd.Timestamp("2019-01-03 22:00", tz="UTC"))
    assert as_of.known_at == pd.Timestamp("2019-01-03 22:00", tz="UTC")
    assert "2019-01-03" in as_of.notes[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1990-01-02", "no bar up to 1990-01-02; the data run from 1999-01-04 to 2018-12-31"),
        ("2019-01-02", "the data end on 2018-12-31"),
        ("2030-01-02", "lies in the future"),
        ("2018-13-45", "neither a date nor an instant"),
        ("2018-11-20T21:15", "no time zone"),
        ("", "empty"),
        ("2016", "neither a date nor an instant"),
        ("2018-11-20T00:00", "no time zone"),  # its date would know the session that is still to come
        ("2018-11-20 00:00:00", "no time zone"),
        ("20181120T0000", "no time zone"),
        ("03/04/2018", "neither a date nor an instant"),  # of March or of April?
        ("20/11/2018", "neither a date nor an instant"),
        ("2018-11", "neither a date nor an instant"),
        ("2018Q4", "neither a date nor an instant"),
        ("May", "neither a date nor an instant"),
        ("12:30Z", "neither a date nor an instant"),
        ("today", "neither a date nor an instant"),
        ("NaT", "neither a date nor an instant"),
        (" ", "empty"),
    ],
)
def test_an_as_of_outside_the_data_is_refused(bars, text, says):
    with pytest.raises(DateError, match=says):
        look(bars, text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2018-11-20", pd.Timestamp("2018-11-20")),
        (" 2018-11-20 ", pd.Timestamp("2018-11-20")),
        ("2020-02-29", pd.Timestamp("2020-02-29")),
        ("2018-11-20T00:00Z", pd.Timestamp("2018-11-20", tz="UTC")),
        ("20181120T211500Z", pd.Timestamp("2018-11-20 21:15", tz="UTC")),
        ("2018-11-20 16:15-05:00", pd.Timestamp("2018-11-20 21:15", tz="UTC")),
        ("2018-11-20 21:15 UTC", pd.Timestamp("2018-11-20 21:15", tz="UTC")),
    ],
)
def test_dates_and_instants_are_read_in_their_usual_spellings(text, moment):
    assert parse_as_of(text) == moment


def test_the_new_year_after_the_data_is_still_the_last_session(bars):
    known, as_of = look(bars, "2019-01-01")
    assert len(known) == len(bars)
    assert as_of.stamp == pd.Timestamp("2018-12-31")


def test_a_clock_behind_the_bars_of_a_live_source_is_refused(bars):
    with pytest.raises(DataError, match=r"has a bar that ended at 2018-12-31 21:00 UTC: the clock is behind"):
        look(bars, None, live=True, now=pd.Timestamp("2018-12-31 20:59", tz="UTC"))


def test_a_bar_of_a_live_source_that_has_not_settled_is_not_known(bars):
    known, as_of = look(bars, None, live=True, now=pd.Timestamp("2018-12-31 21:14", tz="UTC"))
    assert known["session"].max() == as_of.stamp == pd.Timestamp("2018-12-28")


def test_an_as_of_that_no_person_asked_for_goes_without_late_bars_and_says_so(bars):
    instant = parse_as_of("2019-01-02T21:15Z")
    known, as_of = observe(bars, instant, live=True, now=NOW, strict=False)
    assert len(known) == len(bars)
    assert as_of.notes == ("The newest bar on XNYS is of 2018-12-31; the session of 2019-01-02 is over.",)
    with pytest.raises(DateError, match="the data end on 2018-12-31"):
        observe(bars, instant, live=True, now=NOW)
