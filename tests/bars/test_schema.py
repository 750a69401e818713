from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fints.bars.schema import BAR_COLUMNS, conform_bars, empty_bars, validate_bars
from fints.bars.sources.base import BarRequest, clip_sessions, daily_bounds
from fints.errors import SchemaError
from fints.sessions.calendars import get_calendar

WEEK = {"2018-12-17": 10.0, "2018-12-18": 11.0, "2018-12-19": 12.0}


def test_an_empty_frame_has_every_column_typed() -> None:
    assert list(empty_bars().columns) == list(BAR_COLUMNS)
    assert validate_bars(empty_bars()).empty
    assert str(empty_bars()["volume"].dtype) == "Int64"


@given(order=st.permutations(range(6)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12)
def test_the_order_of_rows_does_not_matter(make_bars, order) -> None:
    bars = pd.concat([make_bars(WEEK, "B"), make_bars(WEEK, "^A")], ignore_index=True)
    pd.testing.assert_frame_equal(validate_bars(bars.iloc[list(order)]), validate_bars(bars))


def test_validation_is_idempotent_and_normalises_units(make_bars) -> None:
    bars = make_bars(WEEK)
    coarse = bars.astype({"session": "datetime64[s]", "end": "datetime64[us, UTC]"})
    once = validate_bars(coarse)
    pd.testing.assert_frame_equal(once, bars)
    pd.testing.assert_frame_equal(validate_bars(once), once)


@pytest.mark.parametrize("symbol", ["NA", "TRUE", "1E5", "^GSPC", "BRK-B", "../x", "A/B", "a'b", "7203.T"])
def test_any_text_is_a_symbol(make_bars, symbol) -> None:
    assert validate_bars(make_bars(WEEK, symbol))["symbol"].unique().tolist() == [symbol]


def test_volumes_above_two_to_the_53_keep_every_digit(make_bars) -> None:
    volume = 2**53 + 1
    assert validate_bars(make_bars(WEEK, volume=volume))["volume"].tolist() == [volume] * 3


def test_a_lacking_column_is_named(make_bars) -> None:
    with pytest.raises(SchemaError, match="lacks volume, currency"):
        conform_bars(make_bars(WEEK).drop(columns=["currency", "volume"]))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("symbol", True, "column 'symbol', row 1: True is a bool"),
        ("symbol", None, "column 'symbol', row 1"),
        ("open", "n/k", "column 'open', row 1: 'n/k' is not a number"),
        ("volume", 12.5, "column 'volume', row 1: 12.5 is not a whole number"),
        ("session", "soon", "column 'session'"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_its_row(make_bars, column, value, message) -> None:
    bars = make_bars(WEEK)
    bars[column] = bars[column].astype(object)
    bars.loc[1, column] = value
    with pytest.raises(SchemaError, match=message):
        conform_bars(bars)


def test_a_session_has_no_time_of_day_and_no_zone(make_bars) -> None:
    bars = make_bars(WEEK)
    with pytest.raises(SchemaError, match=r"row 0: .* time of day"):
        conform_bars(bars.assign(session=bars["session"] + pd.Timedelta(hours=1)))
    with pytest.raises(SchemaError, match="without a time zone"):
        conform_bars(bars.assign(session=bars["session"].dt.tz_localize("UTC")))


def test_instants_need_a_zone(make_bars) -> None:
    bars = make_bars(WEEK)
    with pytest.raises(SchemaError, match="'end': instants need a time zone"):
        conform_bars(bars.assign(end=bars["end"].dt.tz_localize(None)))


def test_instants_of_another_zone_become_utc(make_bars) -> None:
    bars = make_bars(WEEK)
    moved = bars.assign(end=bars["end"].dt.tz_convert("Asia/Tokyo"))
    pd.testing.assert_frame_equal(conform_bars(moved), bars)


def test_two_rows_of_one_key_are_refused(make_bars) -> None:
    bars = make_bars(WEEK)
    with pytest.raises(SchemaError, match=r"'AAA', 1d, 2018-12-18.*occurs twice"):
        validate_bars(pd.concat([bars, bars.iloc[[1]]]))


def test_a_bar_ends_after_it_starts(make_bars) -> None:
    bars = make_bars(WEEK)
    with pytest.raises(SchemaError, match="ends before it starts"):
        validate_bars(bars.assign(start=bars["end"]))


def test_missing_prices_are_a_matter_of_quality_and_not_of_schema(make_bars) -> None:
    assert validate_bars(make_bars(WEEK, high=np.nan))["high"].isna().all()


@pytest.mark.parametrize("volume", [99999999999999999999, 1e20, -1e20, "99999999999999999999", 2**63])
def test_a_volume_beyond_64_bits_is_refused_and_never_another_number(make_bars, volume) -> None:
    bars = make_bars(WEEK)
    bars["volume"] = bars["volume"].astype(object)
    bars.loc[1, "volume"] = volume
    with pytest.raises(SchemaError, match=r"column 'volume', row 1: .* is beyond any volume"):
        conform_bars(bars)


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2262-04-12"])
def test_a_date_beyond_what_can_be_held_is_refused(make_bars, day) -> None:
    bars = make_bars(WEEK)
    with pytest.raises(SchemaError, match=r"column 'session' goes from .*; dates are held from 1677"):
        conform_bars(bars.assign(session=np.array([day] * len(bars), dtype="datetime64[s]")))
    far = pd.DatetimeIndex(np.array([day] * len(bars), dtype="datetime64[s]")).tz_localize("UTC")
    with pytest.raises(SchemaError, match=r"column 'end' goes from"):
        conform_bars(bars.assign(end=far))


def test_a_frame_that_is_right_already_comes_back_with_its_values_and_is_not_changed_through_the_copy(
    make_bars,
) -> None:
    bars = make_bars({"2018-12-17": 1.5, "2018-12-18": 2.5})
    again = conform_bars(bars.assign(note="more").set_index(pd.Index([7, 3])))
    pd.testing.assert_frame_equal(again, bars)
    again = conform_bars(bars)
    again.loc[0, "close"] = 9.0
    assert bars["close"].tolist() == [1.5, 2.5]


def test_digits_below_a_microsecond_are_cut_in_a_frame_that_is_right_otherwise(make_bars) -> None:
    bars = make_bars({"2018-12-17": 1.5})
    fine = conform_bars(bars.assign(fetched_at=bars["fetched_at"] + pd.Timedelta(nanoseconds=7)))
    pd.testing.assert_frame_equal(fine, bars)


def test_the_bounds_of_dates_without_any_session_are_their_local_midnights() -> None:
    weekend = pd.DatetimeIndex(["2018-12-23", "2018-12-22"])
    bounds = daily_bounds(weekend, get_calendar("XNYS"))
    assert bounds["session"].tolist() == weekend.tolist()
    assert bounds["start"].tolist() == [day.tz_localize("America/New_York") for day in weekend]
    assert (bounds["end"] - bounds["start"]).tolist() == [pd.Timedelta(days=1)] * 2


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 0, 2, 1], [1, 0, 3, 2]])
def test_rows_beyond_a_request_are_left_out_in_whatever_order_they_come(make_bars, order) -> None:
    bars = make_bars({"2018-12-17": 1.0, "2018-12-18": 2.0, "2018-12-19": 3.0, "2018-12-20": 4.0}).iloc[order]
    inside = clip_sessions(bars, BarRequest("AAA", start=pd.Timestamp("2018-12-18"), end=pd.Timestamp("2018-12-19")))
    assert inside["close"].tolist() == [1.0 + row for row in order if row in {1, 2}]
    assert inside.index.tolist() == [0, 1]
    assert clip_sessions(bars, BarRequest("AAA", start=pd.Timestamp("2019-01-02"))).empty
