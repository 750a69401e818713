"""Calendar covariates: known days, laws, and no trace of what was not yet announced."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.errors import UnknownNameError
from fints.sessions import FEATURES, bar_grid, calendar_features, future_bars, get_calendar

EXCHANGES = ["XNYS", "XLON", "XTKS", "XHKG", "24/7", "FX", "CMES"]


def features(mic, start, end, names=None, *, interval="1d", known_at=None):
    calendar = get_calendar(mic) if known_at is None else get_calendar(mic).as_known(known_at)
    grid = bar_grid(calendar, start, end, interval)
    frame = calendar_features(grid, calendar, names)
    frame.index = pd.DatetimeIndex(grid["ds"])
    return frame.rename(columns=lambda name: name.removeprefix("cal_"))


def days(frame, name):
    return frame.index[frame[name] == 1].strftime("%Y-%m-%d").tolist()


def test_option_expiry_is_the_third_friday_or_the_session_before():
    found = days(features("XNYS", "2008-01-01", "2008-12-31"), "option_expiry")
    assert "2008-03-20" in found  # Good Friday fell on the third Friday
    assert "2008-02-15" in found
    assert len(found) == 12
    assert days(features("XNYS", "2026-06-01", "2026-06-30"), "triple_witching") == ["2026-06-18"]  # Juneteenth


def test_option_expiry_follows_the_exchange():
    assert days(features("XTKS", "2024-03-01", "2024-03-31"), "option_expiry") == ["2024-03-08"]
    assert days(features("XHKG", "2024-03-01", "2024-03-31"), "option_expiry") == ["2024-03-27"]
    assert days(features("24/7", "2024-03-01", "2024-03-31"), "option_expiry") == []


def test_triple_witching_is_the_expiry_of_each_quarter():
    found = days(features("XNYS", "2018-01-01", "2018-12-31"), "triple_witching")
    assert found == ["2018-03-16", "2018-06-15", "2018-09-21", "2018-12-21"]
    december = features("XNYS", "2018-12-01", "2018-12-31")
    assert days(december, "after_witching") == ["2018-12-24"]
    assert days(december, "expiry_week") == ["2018-12-17", "2018-12-18", "2018-12-19", "2018-12-20"]


def test_index_reconstitution_is_the_fourth_friday_of_june():
    found = days(features("XNYS", "2016-01-01", "2018-12-31"), "reconstitution")
    assert found == ["2016-06-24", "2017-06-23", "2018-06-22"]
    assert days(features("XLON", "2016-01-01", "2018-12-31"), "reconstitution") == []


def test_months_and_quarters_end_on_their_last_session():
    frame = features("XNYS", "2018-03-01", "2018-07-31")
    assert days(frame, "month_end") == ["2018-03-29", "2018-04-30", "2018-05-31", "2018-06-29", "2018-07-31"]
    assert days(frame, "quarter_end") == ["2018-03-29", "2018-06-29"]
    assert days(frame, "month_start") == ["2018-03-01", "2018-04-02", "2018-05-01", "2018-06-01", "2018-07-02"]
    assert frame.loc["2018-06-25":"2018-06-29", "to_month_end"].tolist() == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]


def test_the_days_around_thanksgiving():
    frame = features("XNYS", "2018-11-19", "2018-11-27")
    assert days(frame, "before_closure") == ["2018-11-21"]
    assert days(frame, "after_closure") == ["2018-11-23"]
    assert days(frame, "early_close") == ["2018-11-23"]
    assert days(frame, "after_early_close") == ["2018-11-26"]
    assert days(frame, "bridge") == ["2018-11-23"]
    assert frame["to_closure"].tolist()[:4] == [1 / 4, 1 / 2, 1, 0]
    assert frame["since_closure"].tolist()[3:] == [1, 1 / 2, 1 / 4]
    assert frame["week_closures"].tolist() == [0.2, 0.2, 0.2, 0.2, 0, 0]


def test_the_last_days_of_december():
    frame = features("XNYS", "2018-12-17", "2019-01-04")
    assert days(frame, "christmas_week") == ["2018-12-24", "2018-12-26", "2018-12-27", "2018-12-28", "2018-12-31"]
    assert days(features("XNYS", "2017-12-01", "2017-12-31"), "before_christmas") == ["2017-12-22"]


@pytest.mark.parametrize("mic", EXCHANGES)
def test_weekdays_are_told_apart_with_wednesday_as_reference(mic):
    frame = features(mic, "2018-01-01", "2018-12-31")
    told = frame[["monday", "tuesday", "thursday", "friday", "weekend"]]
    assert (told.sum(axis=1) == (frame.index.day_of_week != 2)).all()
    assert (frame["monday"] == (frame.index.day_of_week == 0)).all()
    assert (frame["weekend"] == (frame.index.day_of_week > 4)).all()


def test_markets_that_never_close_have_no_closures():
    for mic in ("24/7", "FX"):
        frame = features(mic, "2018-01-01", "2018-12-31")
        assert (
            frame[["before_closure", "after_closure", "to_closure", "since_closure", "bridge", "early_close"]]
            .eq(0)
            .all(axis=None)
        )


@pytest.mark.parametrize("interval", ["1d", "1h"])
def test_every_exchange_has_the_same_columns(interval):
    columns = [tuple(features(mic, "2018-03-05", "2018-03-09", interval=interval)) for mic in EXCHANGES]
    assert len(set(columns)) == 1
    assert set(columns[0]) == {name for name, feature in FEATURES.items() if interval == "1h" or not feature.intraday}


def test_bars_of_the_day_know_a_half_day():
    frame = features("XNYS", "2018-11-23", "2018-11-23", interval="30m")
    assert len(frame) == 7
    np.testing.assert_allclose(frame["bar_place"], (np.arange(7) + 0.5) / 7, atol=1e-12)
    np.testing.assert_allclose(frame["bar_cos"], np.cos(2 * np.pi * (np.arange(7) + 0.5) / 7), atol=1e-12)
    assert frame["bar_first"].tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert frame["bar_last"].tolist() == [0, 0, 0, 0, 0, 0, 1]
    np.testing.assert_allclose(frame["bar_length"], np.log(0.5))


def test_bars_of_the_day_know_the_lunch_of_tokyo():
    frame = features("XTKS", "2024-11-05", "2024-11-05", interval="1h")
    assert frame["bar_resumes"].tolist() == [0, 0, 0, 1, 0, 0]
    np.testing.assert_allclose(frame["bar_place"] * 5.5, [0.5, 1.5, 2.25, 3, 4, 5], atol=1e-12)


def test_a_closure_leaves_no_trace_before_its_announcement():
    """2018-12-05 was announced on Saturday 1 December."""
    frame = features("XNYS", "2018-11-26", "2018-12-10")
    assert frame.loc["2018-11-30", "to_closure"] == 0
    assert frame.loc["2018-11-26":"2018-11-30", "week_closures"].eq(0).all()
    assert frame.loc["2018-12-03", ["to_closure", "week_closures"]].tolist() == [0.5, 0.2]
    assert frame.loc["2018-12-04", "before_closure"] == 1
    assert frame.loc["2018-12-06", "after_closure"] == 1


def test_the_attacks_of_2001_were_not_foreseen():
    frame = features("XNYS", "2001-09-04", "2001-09-19")
    ahead = frame.loc["2001-09-06":"2001-09-10", ["before_closure", "to_closure", "week_closures"]]
    assert ahead.loc["2001-09-10"].eq(0).all()
    assert frame.loc["2001-09-17", "after_closure"] == 1


def test_a_forecast_made_before_the_announcement_knows_nothing_of_it():
    frame = features("XNYS", "2018-12-03", "2018-12-07", known_at="2018-11-20")
    assert frame.index.strftime("%d").tolist() == ["03", "04", "05", "06", "07"]
    assert frame[["before_closure", "after_closure", "to_closure", "week_closures"]].eq(0).all(axis=None)


def test_hours_cut_by_surprise_are_no_early_close_and_no_last_bar():
    """The circuit breaker of 1997-10-27 closed the session at 15:30."""
    daily = features("XNYS", "1997-10-24", "1997-10-28")
    assert daily[["early_close", "after_early_close"]].to_numpy().tolist() == [[0, 0], [0, 0], [0, 1]]
    bars = features("XNYS", "1997-10-27", "1997-10-27", interval="30m")
    assert bars["bar_last"].eq(0).all()
    np.testing.assert_allclose(bars["bar_place"].iloc[-1], 11.5 / 13, atol=1e-12)


@pytest.mark.parametrize("mic", ["XNYS", "XLON", "XHKG", "XTKS"])
def test_a_row_is_the_same_whether_computed_on_its_eve_or_today(mic):
    """The law behind all backtests: history computed now equals history computed then."""
    calendar = get_calendar(mic)
    grid = bar_grid(calendar, "1999-01-01", "2025-12-31", "1d")
    now = calendar_features(grid, calendar)
    rng = np.random.default_rng(0)
    closed_before = grid["session"].diff().dt.days.gt(1) & (grid["session"].dt.day_of_week > 0)
    after = rng.choice(np.flatnonzero(closed_before), 40)
    for i in np.unique(np.concatenate([rng.choice(len(grid), 20), after, after - 1])):
        row = grid.iloc[[i]]
        eve = calendar.as_known(row["session"].iloc[0] - pd.Timedelta(days=1))
        pd.testing.assert_frame_equal(calendar_features(row, eve), now.iloc[[i]])


@settings(deadline=None, max_examples=30)
@given(
    mic=st.sampled_from(EXCHANGES),
    after=st.dates(pd.Timestamp("1990-01-01").date(), pd.Timestamp("2035-01-01").date()),
    interval=st.sampled_from(["1d", "1h"]),
)
def test_features_exist_for_any_future_bar_and_are_bounded(mic, after, interval):
    calendar = get_calendar(mic).as_known(after)
    bars = future_bars(calendar, interval, after, 20)
    frame = calendar_features(bars, calendar)
    assert np.isfinite(frame.to_numpy()).all()
    assert (frame.drop(columns="cal_bar_length", errors="ignore").abs().to_numpy() <= 1).all()


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**16))
def test_a_row_does_not_depend_on_the_rows_beside_it(seed):
    calendar = get_calendar("XNYS")
    grid = bar_grid(calendar, "2018-10-01", "2019-01-31", "1h")
    whole = calendar_features(grid, calendar)
    some = grid.sample(9, random_state=seed)
    pd.testing.assert_frame_equal(calendar_features(some, calendar), whole.loc[some.index])


def test_a_bar_of_the_day_carries_the_facts_of_its_session():
    bars = features("XNYS", "2018-11-01", "2018-12-31", interval="1h")
    daily = features("XNYS", "2018-11-01", "2018-12-31")
    pd.testing.assert_frame_equal(
        bars[list(daily)].set_axis(bars.index.normalize()), daily.loc[bars.index.normalize()], check_names=False
    )


def test_no_feature_repeats_another_or_adds_up_to_a_constant():
    frame = features("XNYS", "1999-01-01", "2018-12-31")
    varying = frame.loc[:, frame.nunique() > 1]
    design = np.column_stack([np.ones(len(varying)), varying])
    assert np.linalg.matrix_rank(design) == design.shape[1]


def test_chosen_features_come_in_the_order_asked_for():
    calendar = get_calendar("XNYS")
    grid = bar_grid(calendar, "2018-03-05", "2018-03-09", "1d").set_index(pd.Index(list("abcde")))
    frame = calendar_features(grid, calendar, ["friday", "monday"])
    assert list(frame) == ["cal_friday", "cal_monday"]
    assert frame.index.tolist() == list("abcde")
    assert frame.to_numpy().tolist() == [[0, 1], [0, 0], [0, 0], [0, 0], [1, 0]]


def test_an_unknown_feature_is_refused():
    calendar = get_calendar("XNYS")
    with pytest.raises(UnknownNameError, match=r"unknown calendar feature 'moon'.*Choose from"):
        calendar_features(bar_grid(calendar, "2018-03-05", "2018-03-09", "1d"), calendar, ["moon"])


def test_no_bars_have_no_features():
    calendar = get_calendar("XNYS")
    frame = calendar_features(bar_grid(calendar, "2018-12-22", "2018-12-23", "1d"), calendar)
    assert len(frame) == 0
    assert "cal_friday" in frame


def test_every_feature_is_documented():
    assert all(feature.doc and feature.name == name for name, feature in FEATURES.items())
