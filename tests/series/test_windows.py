import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.errors import SchemaError, SeriesError
from fints.series import add_features, future_frame, make_panel, validate_panel
from fints.series.windows import CLOCKS, Tape, feature_columns, hours_of_day
from fints.sessions import get_calendar

L, H = 20, 4
KNOWN = ("cal_monday", "cal_early_close")


@pytest.fixture(scope="module")
def panel():
    """Three series of which one ends earlier and one trades elsewhere."""
    parts = []
    for name, exchange, end in (("A", "XNYS", "2018-12-31"), ("B", "XLON", "2018-12-28"), ("C", "XNYS", "2018-12-20")):
        ds = get_calendar(exchange).sessions("2018-09-03", end)
        y = np.random.default_rng(len(parts)).normal(size=len(ds))
        parts.append(pd.DataFrame({"unique_id": name, "ds": ds, "y": y, "past_x": y**2, "exchange": exchange}))
    frame = validate_panel(pd.concat(parts, ignore_index=True))
    return add_features(frame, [name.removeprefix("cal_") for name in KNOWN])


@pytest.fixture(scope="module")
def tape(panel):
    return Tape.from_panel(panel, ("past_x",), KNOWN)


@pytest.fixture(scope="module")
def hourly(make_bars):
    return make_panel(make_bars(interval="1h", start="2018-11-01", end="2018-12-05"), "log_volume", companions=False)


def test_a_window_holds_consecutive_bars_of_one_series(tape, panel):
    origins = tape.origins(L, H)
    cut = tape.cut(origins, L, H)
    assert len(cut) == sum(len(rows) - L - H + 1 for _, rows in panel.groupby("unique_id"))
    for i in range(0, len(cut), 17):
        rows = panel.iloc[origins[i] - L + 1 : origins[i] + H + 1]
        assert set(rows["unique_id"]) == {cut.unique_ids[i]}
        assert np.array_equal(cut.values[i], rows[["y", "past_x"]].to_numpy()[:L])
        assert np.array_equal(cut.calendar[i], rows[list(KNOWN)].to_numpy()[:L])
        assert np.array_equal(cut.target[i], rows["y"].to_numpy()[L:])
        assert np.array_equal(cut.future_calendar[i], rows[list(KNOWN)].to_numpy()[L:])


def test_every_row_knows_its_series(tape, panel):
    rows = np.arange(len(panel))
    assert np.array_equal(tape.names(rows), panel["unique_id"].to_numpy(str))
    assert np.array_equal(np.array(tape.unique_ids)[tape.numbers(rows)], tape.names(rows))


def test_training_windows_ask_about_the_next_bars(tape):
    cut = tape.cut(tape.origins(L, H), L, H)
    assert np.array_equal(cut.steps, np.tile(np.arange(1, H + 1), (len(cut), 1)))
    assert np.array_equal(cut.places["index"][0], np.arange(L))


def test_chosen_windows_are_chosen_in_every_part(tape):
    origins = tape.origins(L, H)
    chosen = np.array([5, 0, 60])
    some, alone = tape.cut(origins, L, H).rows(chosen), tape.cut(origins[chosen], L, H)
    for name in ("values", "calendar", "future_calendar", "unique_ids", "hours", "future_hours", "target", "steps"):
        assert np.array_equal(getattr(some, name), getattr(alone, name))
    for name in ("index", *CLOCKS):
        assert np.array_equal(some.places[name], alone.places[name])
        assert np.array_equal(some.future_places[name], alone.future_places[name])
    assert tape.last(L, future_frame_of(tape, H), KNOWN).rows(slice(1, 2)).target is None


def future_frame_of(tape, h, **asked):
    exchange = {"A": "XNYS", "B": "XLON", "C": "XNYS"}
    rows = [
        pd.DataFrame({"unique_id": name, "ds": tape.ds[first:stop], "y": 0.0, "exchange": exchange[name]})
        for name, first, stop in zip(tape.unique_ids, tape.bounds[:-1], tape.bounds[1:], strict=True)
    ]
    frame = validate_panel(pd.concat(rows, ignore_index=True))
    return future_frame(add_features(frame, [name.removeprefix("cal_") for name in KNOWN]), h, **asked)


def test_the_last_windows_end_where_each_series_ends(tape, panel):
    last = tape.last(L, future_frame_of(tape, H), KNOWN)
    assert last.unique_ids.tolist() == ["A", "B", "C"]
    for i, (_, rows) in enumerate(panel.groupby("unique_id")):
        assert np.array_equal(last.values[i, :, 0], rows["y"].to_numpy()[-L:])
    assert np.array_equal(last.steps, np.tile(np.arange(1, H + 1), (3, 1)))
    assert last.target is None


def test_the_last_windows_are_those_that_training_would_cut(tape, panel):
    """What came later is known by its calendar alone: places, covariates and hours agree."""
    stop = panel.groupby("unique_id").head(60).reset_index(drop=True)
    early = Tape.from_panel(stop, ("past_x",), KNOWN)
    asked = early.last(L, future_frame(stop, H), KNOWN)
    cut = tape.cut(tape.bounds[:-1] + 59, L, H)
    for name in ("values", "calendar", "future_calendar", "unique_ids", "hours", "future_hours", "steps"):
        assert np.array_equal(getattr(asked, name), getattr(cut, name))
    for name in ("index", *CLOCKS):
        assert np.array_equal(asked.places[name], cut.places[name])
        assert np.array_equal(asked.future_places[name], cut.future_places[name])


def test_steps_count_the_bars_from_the_end_of_each_series_to_the_date_asked_about(tape):
    """From 2019-01-03 on, after the closure of New Year: C, the series that ends earlier, has further to go."""
    steps = tape.last(L, future_frame_of(tape, 2, start="2019-01-03"), KNOWN).steps
    new_york, london = get_calendar("XNYS"), get_calendar("XLON")
    first = [
        len(calendar.sessions(end, "2019-01-03")) - 1
        for calendar, end in ((new_york, "2018-12-31"), (london, "2018-12-28"), (new_york, "2018-12-20"))
    ]
    assert steps.tolist() == [[step, step + 1] for step in first]
    assert first[2] > first[0]


def test_daily_bars_have_no_time_of_day(tape):
    cut = tape.cut(tape.origins(L, H), L, H)
    assert not cut.hours.any()
    assert not cut.future_hours.any()


def test_the_time_of_day_of_a_bar_is_that_of_its_stamp_through_half_days_and_summer_time(hourly):
    """2018-11-04 ended summer time, 2018-11-23 closed at 13:00; the open stays at 9:30."""
    made = Tape.from_panel(hourly, (), ())
    cut = made.cut(made.origins(L, H), L, H)
    assert sorted(set(cut.hours.ravel())) == [9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5]
    last = made.last(L, future_frame(hourly, 14), ())
    assert last.future_hours[0].tolist() == [9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5] * 2
    assert set(cut.future_hours.ravel()) == set(last.future_hours.ravel())


@given(st.integers(0, 20_000), st.integers(0, 86_399))
def test_an_hour_is_that_of_the_day_whatever_the_day(day, second):
    stamp = np.datetime64("1990-01-01", "ns") + np.timedelta64(day, "D") + np.timedelta64(second, "s")
    assert hours_of_day(np.array([stamp]))[0] == second / 3600


def test_a_panel_without_what_is_asked_for_is_refused(panel):
    with pytest.raises(SchemaError, match="lacks cal_friday"):
        Tape.from_panel(panel, (), ("cal_friday",))
    holes = panel.assign(cal_monday=panel["cal_monday"].where(panel["ds"] != "2018-10-01"))
    with pytest.raises(SeriesError, match="A has no cal_monday at 2018-10-01"):
        Tape.from_panel(holes, (), KNOWN)
    assert feature_columns(panel) == (("past_x",), KNOWN)


def test_a_series_that_is_too_short_has_no_window(panel):
    short = panel.groupby("unique_id").head(L + H - 1).reset_index(drop=True)
    assert len(Tape.from_panel(short, (), ()).origins(L, H)) == 0
