import pandas as pd

from fints.series import make_panel, panel_bars, validate_panel
from fints.sessions import bar_grid, get_calendar, places, session_ordinals


def test_bars_of_a_series_are_those_of_the_calendar(make_bars):
    calendar = get_calendar("XNYS")
    for interval, anchor in (("1d", "open"), ("1h", "open"), ("1h", "clock"), ("30m", "open")):
        bars = make_bars(interval=interval, anchor=anchor, start="2018-11-01", end="2018-12-31")
        series = make_panel(bars, "log_volume", features=False)
        grid = bar_grid(calendar, "2018-11-01", "2018-12-31", interval, anchor)
        found = panel_bars(series, calendar)
        pd.testing.assert_frame_equal(found, grid[["session", "ds", "start", "end", "bar"]], check_dtype=False)


def test_a_gap_keeps_its_real_places(make_bars):
    calendar = get_calendar("XNYS")
    series = make_panel(make_bars(), "log_volume", features=False)
    holed = series.drop(index=range(40, 90))
    ordinals = session_ordinals(calendar, pd.DatetimeIndex(series["ds"]))
    index = panel_bars(holed, calendar).index
    assert index.equals(holed.index)
    assert places(panel_bars(holed, calendar), calendar).session.tolist() == [
        *ordinals[:40].astype(float),
        *ordinals[90:].astype(float),
    ]


def test_a_first_bar_stamped_with_the_full_hour_is_the_one_the_open_cuts_short():
    ds = pd.to_datetime([f"2018-06-{day:02d} {hour:02d}:00" for day in (1, 4, 5) for hour in range(9, 16)])
    panel = validate_panel(pd.DataFrame({"unique_id": "A", "ds": ds, "y": 1.0}), interval="1h")
    bars = panel_bars(panel, get_calendar("XNYS"))
    assert bars["bar"].tolist() == [*range(7)] * 3
    assert bars["start"].dt.tz_convert("America/New_York").dt.strftime("%H:%M").iloc[0] == "09:30"
    assert bars["ds"].equals(panel["ds"])
