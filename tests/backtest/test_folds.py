from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.backtest import make_folds
from fints.errors import ConfigError, SeriesError


def frame(**bars: pd.DatetimeIndex) -> pd.DataFrame:
    return pd.concat(
        [pd.DataFrame({"unique_id": name, "ds": ds, "y": range(len(ds))}) for name, ds in bars.items()],
        ignore_index=True,
    )


DAYS = pd.DatetimeIndex(pd.date_range("2018-01-01", periods=100))


@given(h=st.integers(1, 10), n_windows=st.integers(1, 6), step_size=st.integers(1, 10))
def test_the_last_window_ends_at_the_last_bar_and_cutoffs_are_a_step_apart(
    h: int, n_windows: int, step_size: int
) -> None:
    folds = make_folds(frame(A=DAYS), h, n_windows, step_size)
    places = [DAYS.get_loc(cutoff) for cutoff in folds]
    assert places[-1] + h == len(DAYS) - 1
    assert len(folds) == n_windows
    assert all(b - a == step_size for a, b in pairwise(places))


def test_cutoffs_are_those_of_the_series_that_reaches_furthest() -> None:
    panel = frame(A=DAYS[:90], B=DAYS[::2], C=DAYS[1::2])
    folds = make_folds(panel, h=2, n_windows=3, step_size=2)
    assert list(folds) == [DAYS[87], DAYS[91], DAYS[95]]


def test_history_and_what_came_after_share_no_row() -> None:
    panel = frame(A=DAYS, B=DAYS[5:])
    folds = make_folds(panel, h=5, n_windows=2, step_size=5)
    for cutoff in folds:
        history, after = folds.history(panel, cutoff), folds.after(panel, cutoff)
        assert history["ds"].max() == cutoff < after["ds"].min()
        assert len(history) + len(after) == len(panel)


def test_a_series_that_ended_takes_no_part() -> None:
    panel = frame(A=DAYS, B=DAYS[:50])
    folds = make_folds(panel, h=5, n_windows=1, step_size=5)
    assert set(folds.history(panel, folds.cutoffs[0])["unique_id"]) == {"A"}


@pytest.mark.parametrize(("purge", "embargo", "gone"), [("auto", 0, 0), ("auto", 3, 3), (2, 0, 2), (2, 3, 5)])
def test_purge_and_embargo_take_bars_off_every_series(purge: int, embargo: int, gone: int) -> None:
    panel = frame(A=DAYS, B=DAYS[::2])
    folds = make_folds(panel, h=4, n_windows=2, step_size=4, purge=purge, embargo=embargo)
    cutoff = folds.cutoffs[0]
    training = folds.training(panel, cutoff)
    for name in ("A", "B"):
        known = panel[(panel["unique_id"] == name) & (panel["ds"] <= cutoff)]
        kept = training[training["unique_id"] == name]
        assert kept["ds"].tolist() == known["ds"].tolist()[: len(known) - gone]


def test_too_few_bars_say_how_many_are_needed() -> None:
    with pytest.raises(SeriesError, match="A has 100 bars; 20 windows of 5 bars, 5 apart, need 102"):
        make_folds(frame(A=DAYS), h=5, n_windows=20, step_size=5)
    assert len(make_folds(frame(A=DAYS), h=3, n_windows=20, step_size=5)) == 20


@pytest.mark.parametrize("wrong", [{"h": 0}, {"n_windows": 0}, {"step_size": 0}, {"purge": -1}, {"embargo": -1}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        make_folds(frame(A=DAYS), **({"h": 2, "n_windows": 2, "step_size": 2} | wrong))
