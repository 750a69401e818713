import shutil

import numpy as np
import pandas as pd
import pytest

from fints.combination import Weights
from fints.series import add_features
from fints.sessions import bar_grid, get_calendar
from fints.settings import load_settings
from pipelines.assembly import assemble
from pipelines.learning import lesson
from pipelines.shadow import Replay, Shadow, bar_of, of_whole, whole, windows_after
from tests.pipelines.conftest import panel
from tests.pipelines.test_assembly import shelved
from tests.transformer.conftest import small_model

SETTINGS = load_settings(None, ["h=5", "input_size=30", "retrain_every=20", "combination.members=[har, naive]"])
MEMBERS = ("CycleTransformer", "HAR", "Naive")
NOW = pd.Timestamp("2018-12-15T00:00Z")


@pytest.fixture(scope="module")
def history():
    rows = panel(A=("XNYS", "2017-01-03", "2018-12-14"), B=("XNYS", "2017-01-03", "2018-12-14"))
    return add_features(rows, ["monday", "friday", "early_close"])


@pytest.fixture(scope="module")
def learnt(history):
    return lesson(history, SETTINGS)


@pytest.fixture(scope="module")
def kept(learnt):
    return shelved(small_model().fit(learnt.panel), learnt, Weights.equal(MEMBERS))


@pytest.fixture(scope="module")
def judged(kept, learnt, history, tmp_path_factory):
    """The losses of all windows found at once, and the file in which they were written down."""
    file = tmp_path_factory.mktemp("judged") / "shadow.json"
    return replay(kept, learnt, history, file).losses(windows_after(history, learnt.until, 5)), file


def replay(kept, learnt, history, file, **how):
    return Replay(kept, learnt, history, SETTINGS, Shadow.open(file), NOW, **how)


def until(history, bars):
    last = history["ds"].drop_duplicates().iloc[-1 - bars]
    return history[history["ds"] <= last].reset_index(drop=True)


def test_windows_begin_where_the_fit_ended_and_are_over(history, learnt):
    windows = windows_after(history, learnt.until, 5)
    assert windows[0].origin == learnt.until
    assert windows[-1].end <= history["ds"].max()
    assert whole(windows, 5) == (len(windows) - 1) // 5 + 1
    assert of_whole(windows, 5, 2) == windows[:6]


def test_windows_are_over_though_a_longer_series_has_ended(history, learnt):
    gone = add_features(panel(OLD=("XNYS", "2013-01-02", "2018-03-29")), ["monday", "friday", "early_close"])
    both = pd.concat([gone, history], ignore_index=True)
    assert windows_after(both, learnt.until, 5) == windows_after(history, learnt.until, 5)


@pytest.mark.parametrize("exchange", ["XTKS", "XNYS", "XLON", "24/7"])
@pytest.mark.parametrize("interval", ["1h", "30m"])
def test_windows_since_a_night_begin_at_its_last_bar_whatever_the_clock_there(exchange, interval):
    calendar = get_calendar(exchange)
    days = calendar.sessions("2018-10-01", "2018-11-30")
    bars = bar_grid(calendar, days[0], days[-1], interval)
    hourly = pd.DataFrame({"unique_id": "A", "ds": bars["ds"], "exchange": exchange, "interval": interval})
    nights = bars.groupby("session")["end"].max()
    for session, end in nights.iloc[5:-5].items():
        as_of = end.tz_convert("UTC").tz_localize(None)  # as a night of intraday bars is stamped
        last = bars.loc[bars["end"] <= end, "ds"].iloc[-1]
        first = windows_after(hourly, bar_of(hourly, as_of), 5)[0]
        assert first.origin in {last, last + pd.Timedelta(interval)}, session  # around the clock the next one begins
    assert bar_of(hourly.assign(interval="1d"), days[3]) == days[3]


def test_bands_that_were_written_down_give_the_same_forecast_to_the_bit(kept, learnt, history, tmp_path):
    early = until(history, 4)
    replay(kept, learnt, early, tmp_path / "shadow.json").losses(windows_after(early, learnt.until, 5))
    later = replay(kept, learnt, history, tmp_path / "shadow.json")
    assert later.current().blend.bands.until > kept.blend.bands.until
    stated = [assemble(fit, learnt, history, SETTINGS)[0].forecast(history) for fit in (kept, later.current())]
    assert np.array_equal(stated[0].quantiles, stated[1].quantiles)


def test_losses_found_night_by_night_are_those_found_at_once(kept, learnt, history, tmp_path, judged):
    for bars in (4, 2, 0):
        part = until(history, bars)
        steps = replay(kept, learnt, part, tmp_path / "steps.json").losses(windows_after(part, learnt.until, 5))
    assert len(steps) > 4
    pd.testing.assert_frame_equal(steps, judged[0], check_exact=True)


def test_what_is_restated_later_does_not_change_how_a_fit_was_judged(kept, learnt, history, tmp_path, judged):
    windows = windows_after(history, learnt.until, 5)
    first, _ = judged[0], shutil.copy(judged[1], tmp_path / "shadow.json")
    changed = history.assign(y=history["y"].where(history["ds"] <= learnt.until, history["y"] + 1))
    again = replay(kept, learnt, changed, tmp_path / "shadow.json").losses(windows)
    pd.testing.assert_frame_equal(first, again, check_exact=True)


def test_no_bar_after_a_window_bears_on_its_losses(kept, learnt, history, tmp_path, judged):
    windows = windows_after(history, learnt.until, 5)[:3]
    changed = history.assign(y=history["y"].where(history["ds"] <= windows[-1].end, 1e3))
    losses = replay(kept, learnt, changed, tmp_path / "s.json").losses(windows)
    pd.testing.assert_frame_equal(losses, judged[0].iloc[: len(losses)], check_exact=True)


def test_bands_written_down_after_an_instant_are_not_known_then(kept, learnt, history, tmp_path, judged):
    shutil.copy(judged[1], tmp_path / "s.json")
    known = replay(kept, learnt, history, tmp_path / "s.json", made_by=NOW)
    assert known.current().blend.bands.until > kept.blend.bands.until
    before = replay(kept, learnt, history, tmp_path / "s.json", made_by=NOW - pd.Timedelta(seconds=1))
    assert before.current().blend.bands.until == kept.blend.bands.until


@pytest.mark.parametrize("text", ["", "{", "[]", '{"rows": 3, "bands": {}}'])
def test_a_damaged_file_is_as_good_as_none(tmp_path, text):
    (tmp_path / "s.json").write_text(text)
    found = Shadow.open(tmp_path / "s.json")
    assert (found.rows, found.bands) == ({}, {})


def test_losses_whose_file_is_damaged_are_found_anew(kept, learnt, history, tmp_path, judged):
    (tmp_path / "s.json").write_text("{")
    found = replay(kept, learnt, history, tmp_path / "s.json").losses(windows_after(history, learnt.until, 5)[:1])
    pd.testing.assert_frame_equal(found, judged[0].iloc[:1], check_exact=True)
