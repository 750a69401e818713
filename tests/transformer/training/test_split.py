import tracemalloc

import numpy as np
import pytest

from fints.errors import SeriesError
from fints.series.windows import Tape
from fints.transformer.training import Split, TrainingWindows


def test_validation_targets_lie_after_every_training_target(windows):
    split, ds = Split.by_time(windows, 0.2), windows.tape.ds
    assert ds[split.train + 5].max() < ds[split.validation + 1].min()
    assert 0.1 < len(split.validation) / (len(split.train) + len(split.validation)) < 0.3


def test_only_windows_whose_targets_straddle_the_border_are_dropped(windows):
    split, ds = Split.by_time(windows, 0.2), windows.tape.ds
    dropped = np.setdiff1d(windows.origins(), np.concatenate((split.train, split.validation)))
    border = ds[split.validation + 1].min()
    assert len(dropped)
    assert (ds[dropped + 1] < border).all()
    assert (ds[dropped + 5] >= border).all()


def test_one_date_divides_series_that_end_on_different_days(daily_panel):
    early = daily_panel[(daily_panel["unique_id"] != "BBB") | (daily_panel["ds"] < "2016-06-01")]
    tape = Tape.from_panel(early.reset_index(drop=True), (), ())
    split = Split.by_time(TrainingWindows(tape, 30, 5), 0.2)
    assert tape.ds[split.train + 5].max() < tape.ds[split.validation + 1].min()


def test_a_panel_without_room_for_validation_is_refused(daily_panel):
    short = daily_panel.groupby("unique_id").head(36).reset_index(drop=True)
    tape = Tape.from_panel(short, (), ())
    with pytest.raises(SeriesError, match="do not divide"):
        Split.by_time(TrainingWindows(tape, 30, 5), 0.1)
    with pytest.raises(SeriesError, match="no series has the 45 bars"):
        Split.by_time(TrainingWindows(tape, 40, 5), 0.1)


def long_tape(n_series, length):
    rows = n_series * length
    ds = np.tile(np.datetime64("2000-01-03", "ns") + np.arange(length) * np.timedelta64(1, "D"), n_series)
    return Tape(
        unique_ids=tuple(f"S{i:05d}" for i in range(n_series)),
        bounds=np.arange(n_series + 1) * length,
        ds=ds,
        values=np.zeros((rows, 1)),
        calendar=np.zeros((rows, 0)),
        clocks={name: np.zeros(rows) for name in ("session", "calendar", "seconds")},
    )


def test_dividing_many_series_takes_bytes_per_window_and_not_windows():
    windows = TrainingWindows(long_tape(500, 500), 252, 20)
    count = len(windows.origins())
    tracemalloc.start()
    split = Split.by_time(windows, 0.1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(split.train) + len(split.validation) > 0.8 * count
    assert peak < 8 * 8 * count  # a window in full would take 8 · 272 bytes and more
