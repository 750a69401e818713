import numpy as np
import pandas as pd
import pytest

from fints.errors import ConfigError, SeriesError
from fints.series import future_frame, make_panel
from fints.sessions import get_calendar


def dates(future: pd.DataFrame) -> list[str]:
    return future["ds"].dt.strftime("%Y-%m-%d").tolist()


@pytest.fixture(scope="module")
def panel(make_bars):
    return make_panel(make_bars(), "log_volume")


def upto(panel: pd.DataFrame, date: str) -> pd.DataFrame:
    return panel[panel["ds"] <= date].reset_index(drop=True)


def test_a_closure_announced_later_is_not_foreseen(panel):
    future = dates(future_frame(upto(panel, "2018-11-20"), 12))
    assert "2018-11-22" not in future
    assert "2018-11-23" in future
    assert "2018-12-05" in future


def test_a_closure_already_announced_gets_no_bar(panel):
    assert dates(future_frame(upto(panel, "2018-12-03"), 2)) == ["2018-12-04", "2018-12-06"]


def test_known_at_overrides_the_close_of_the_last_bar(panel):
    assert "2018-12-05" in dates(future_frame(upto(panel, "2018-12-03"), 2, known_at="2018-11-20"))
    assert "2018-12-05" not in dates(future_frame(upto(panel, "2018-11-20"), 12, known_at="2018-12-03"))


def test_every_series_continues_on_its_own_exchange_from_its_own_end(make_bars):
    bars = pd.concat(
        [make_bars("NY"), make_bars("LDN", exchange="XLON", end="2018-06-29"), make_bars("NY2", end="2018-03-01")]
    )
    future = future_frame(make_panel(bars, "log_volume"), 5)
    assert future["unique_id"].tolist() == ["LDN"] * 5 + ["NY"] * 5 + ["NY2"] * 5
    assert future["step"].tolist() == [1, 2, 3, 4, 5] * 3
    for uid, exchange, last in (
        ("NY", "XNYS", "2018-12-31"),
        ("LDN", "XLON", "2018-06-29"),
        ("NY2", "XNYS", "2018-03-01"),
    ):
        own = future[future["unique_id"] == uid]
        assert own["ds"].tolist() == get_calendar(exchange).next_sessions(last, 5).tolist()
        assert own["exchange"].unique().tolist() == [exchange]
        assert (own["start"] < own["end"]).all()


@pytest.mark.parametrize("last", ["2018-12-14 16:00", "2018-12-18 16:00", "2018-12-18 20:00"])
def test_steps_count_the_bars_of_an_evening_that_the_next_day_names(make_bars, last):
    panel = make_panel(make_bars(exchange="FX", start="2018-12-03", end="2018-12-19", interval="1h"), "log_volume")
    past = upto(panel, last)
    assert future_frame(past, 3)["step"].tolist() == [1, 2, 3]
    assert future_frame(past, 3, start=past["ds"].iloc[-1])["step"].tolist() == [0, 1, 2]


def test_a_panel_may_end_with_the_calendar(make_bars):
    last = get_calendar("XHKG").session_on_or_before(get_calendar("XHKG").last_day)
    bars = make_bars(exchange="XHKG", start=last - pd.Timedelta(days=20), end=last, interval="1h")
    panel = make_panel(bars, "log_volume")
    assert future_frame(panel.iloc[:-2], 2)["step"].tolist() == [1, 2]


def test_features_of_the_future_are_those_the_bars_get_later(make_bars, panel):
    past = upto(panel, "2018-08-31")
    future = future_frame(past, 20)
    later = panel[panel["ds"].isin(future["ds"])].reset_index(drop=True)
    calendar = [c for c in panel if c.startswith("cal_")]
    assert [c for c in future if c.startswith("cal_")] == calendar
    np.testing.assert_array_equal(future[calendar], later[calendar])


def test_a_panel_without_features_gets_none(make_bars):
    bare = make_panel(make_bars(), "log_volume", features=False, companions=False)
    assert not [c for c in future_frame(bare, 3) if c.startswith(("cal_", "past_"))]
    only_key = bare[["unique_id", "ds", "y"]]
    pd.testing.assert_frame_equal(future_frame(only_key, 3), future_frame(bare, 3))


def test_half_days_and_lunch_breaks_shape_intraday_futures(make_bars):
    ny = make_panel(make_bars(interval="1h", start="2018-11-01", end="2018-11-21", anchor="clock"), "log_volume")
    future = future_frame(ny, 11)
    assert future["session"].dt.strftime("%m-%d").tolist() == ["11-23"] * 4 + ["11-26"] * 7
    assert future["bar"].tolist() == [0, 1, 2, 3, *range(7)]
    tokyo = make_panel(
        make_bars("T", exchange="XTKS", interval="1h", start="2018-11-01", end="2018-11-21"), "log_volume"
    )
    starts = future_frame(tokyo, 12)["ds"].dt.strftime("%H:%M").unique().tolist()
    assert starts == ["09:00", "10:00", "11:00", "12:30", "13:30", "14:30"]


def test_an_unfinished_session_is_continued_bar_by_bar(make_bars):
    bars = make_bars(interval="30m", start="2018-11-01", end="2018-11-21")
    panel = make_panel(bars, "log_volume").iloc[:-3]
    future = future_frame(panel, 3)
    assert future["ds"].dt.strftime("%Y-%m-%d %H:%M").tolist() == [
        "2018-11-21 14:30",
        "2018-11-21 15:00",
        "2018-11-21 15:30",
    ]


def test_the_same_history_can_be_asked_at_another_date(make_bars, panel):
    assert dates(future_frame(panel, 3, start="2018-12-24")) == ["2018-12-24", "2018-12-26", "2018-12-27"]
    assert dates(future_frame(panel, 2, start="2018-12-25")) == ["2018-12-26", "2018-12-27"]
    hourly = make_panel(make_bars(interval="1h", start="2018-11-01", end="2018-11-21"), "log_volume")
    stamps = future_frame(hourly, 2, start="2018-12-24 11:30")["ds"].dt.strftime("%m-%d %H:%M").tolist()
    assert stamps == ["12-24 11:30", "12-24 12:30"]


@pytest.mark.parametrize("interval", ["1d", "1h"])
def test_steps_count_from_the_end_of_the_history(make_bars, interval):
    panel = make_panel(make_bars(interval=interval, start="2018-10-01", end="2018-11-21"), "log_volume")
    ahead = future_frame(panel, 150).set_index("ds")["step"]
    for ds in ahead.index[[0, 3, 97]]:
        assert future_frame(panel, 20, start=ds).set_index("ds")["step"].equals(ahead.loc[ds:].iloc[:20])
    for back in (1, 2, 9):
        asked = future_frame(panel, 12, start=panel["ds"].iloc[-back])
        assert asked["step"].tolist() == list(range(1 - back, 13 - back))
        assert asked["ds"].iloc[:back].tolist() == panel["ds"].iloc[-back:].tolist()


def test_bad_requests_are_refused(panel):
    with pytest.raises(ConfigError, match="h is 0"):
        future_frame(panel, 0)
    with pytest.raises(SeriesError, match="no rows"):
        future_frame(panel.iloc[:0], 3)
