from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.backtest import WalkForward, make_folds
from fints.backtest.folds import leading
from fints.backtest.timeline import fold_timeline
from fints.errors import ConfigError, SeriesError
from fints.sessions import bar_grid, get_calendar


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


@pytest.mark.parametrize("h", [1, 5])
@pytest.mark.parametrize("behind", [0, 3, 13])
def test_a_series_that_ends_at_the_cutoff_or_rests_before_it_takes_part_whatever_comes(h: int, behind: int) -> None:
    resting = DAYS.delete(slice(90 - behind, 95))
    panel = frame(A=DAYS, B=resting)
    folds = make_folds(panel, h, n_windows=1 + (99 - h - 89), step_size=1)
    assert folds.cutoffs[0] == DAYS[89]
    ended = panel[(panel["unique_id"] == "A") | (panel["ds"] <= DAYS[89])]
    for rows in (panel, ended):
        history = folds.history(rows, DAYS[89])
        assert history.groupby("unique_id").size().to_dict() == {"A": 90, "B": 90 - behind}


def test_a_series_is_taken_for_ended_when_all_that_would_be_forecast_had_long_come() -> None:
    panel = frame(A=DAYS, B=DAYS[:50])
    folds = make_folds(panel, h=4, n_windows=45, step_size=1)
    part = [(folds.history(panel, cutoff)["unique_id"] == "B").any() for cutoff in folds]
    # of days 51 to 54 after its last one, and two weeks
    assert [DAYS.get_loc(cutoff) for cutoff in folds][part.index(False)] == 49 + 3 + 14
    assert part == sorted(part, reverse=True)


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


@settings(max_examples=30)
@given(h=st.integers(1, 8), span=st.integers(1, 8), embargo=st.integers(0, 3), step_size=st.integers(1, 8))
def test_no_training_target_reaches_beyond_its_cutoff(h: int, span: int, embargo: int, step_size: int) -> None:
    """The value of a row is made of its own bar and those of the span after it."""
    panel = frame(A=DAYS, B=DAYS[3:])
    folds = make_folds(panel, h, 3, step_size, embargo=embargo, target_span=span)
    for cutoff in folds:
        last = folds.training(panel, cutoff)["ds"].max()
        assert DAYS[DAYS.get_loc(last) + span - 1 + embargo] == cutoff


@settings(max_examples=15)
@given(size=st.integers(1, 60), gap=st.integers(0, 5))
def test_a_rolling_window_holds_the_latest_training_rows_of_each_series(size: int, gap: int) -> None:
    panel = frame(A=DAYS, B=DAYS[60:])
    rolling = make_folds(panel, 4, 3, 4, embargo=gap, input_size=size)
    expanding = make_folds(panel, 4, 3, 4, embargo=gap)
    for cutoff in rolling:
        everything = expanding.training(panel, cutoff)
        expected = everything.groupby("unique_id").tail(size).reset_index(drop=True)
        pd.testing.assert_frame_equal(rolling.training(panel, cutoff), expected)
        pd.testing.assert_frame_equal(rolling.history(panel, cutoff), expanding.history(panel, cutoff))


def test_a_series_takes_part_once_it_is_warm() -> None:
    panel = frame(A=DAYS, B=DAYS[75:])
    folds = make_folds(panel, h=5, n_windows=3, step_size=5, warm_up=15)
    taking_part = [set(folds.training(panel, cutoff)["unique_id"]) for cutoff in folds]
    assert [len(DAYS[75 : DAYS.get_loc(c) + 1]) for c in folds] == [10, 15, 20]
    assert taking_part == [{"A"}, {"A", "B"}, {"A", "B"}]


@given(h=st.integers(1, 6), n_windows=st.integers(1, 6), step_size=st.integers(1, 6))
def test_a_test_size_stands_for_a_number_of_windows(h: int, n_windows: int, step_size: int) -> None:
    size = h + (n_windows - 1) * step_size
    said = make_folds(frame(A=DAYS), h, step_size=step_size, test_size=size)
    assert said == make_folds(frame(A=DAYS), h, n_windows, step_size)
    assert DAYS.get_loc(said.cutoffs[0]) == len(DAYS) - 1 - size


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"test_size": 12}, "12 bars cannot be shared out .* are 10 and 15"),
        ({"test_size": 3}, "3 bars cannot be shared out .* are 5 and 10"),
        ({"test_size": 15, "n_windows": 2}, "n_windows is 2 and test_size makes 3"),
        ({}, "n_windows of at least 1, or a test_size"),
    ],
)
def test_windows_and_test_size_that_do_not_go_together_are_refused(said: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_folds(frame(A=DAYS), h=5, step_size=5, **said)


def hourly(exchange: str, name: str) -> pd.DataFrame:
    bars = bar_grid(get_calendar(exchange), "2018-03-05", "2018-03-16", "1h")
    return bars[["ds", "end"]].assign(unique_id=name, y=1.0, exchange=exchange, interval="1h")


def test_intraday_series_of_several_exchanges_are_cut_at_one_instant() -> None:
    panel = pd.concat([hourly("XNYS", "N"), hourly("XTKS", "T"), hourly("XLON", "L")], ignore_index=True)
    folds = make_folds(panel, h=3, n_windows=4, step_size=2)
    name, _ = leading(panel)
    leader = panel[panel["unique_id"] == name].set_index("ds")["end"]
    for cutoff in folds:
        instant = leader[cutoff]
        history, after = folds.history(panel, cutoff), folds.after(panel, cutoff)
        assert (history["end"] <= instant).all()
        later = panel.merge(after, on=["unique_id", "ds"])
        assert (later["end"] > instant).all()
        assert len(later) + folds.known(panel, cutoff).sum() == len(panel)


def test_the_spans_of_a_window_follow_each_other_and_say_what_the_masks_say() -> None:
    panel = frame(A=DAYS, B=DAYS[:80])
    folds = make_folds(panel, h=4, n_windows=4, step_size=6, purge=2, embargo=3, input_size=20)
    spans = fold_timeline(folds, panel)
    own = panel[panel["unique_id"] == "A"]
    for fold, cutoff in enumerate(folds):
        parts = spans[spans["fold"] == fold].set_index("part")
        assert parts.index.tolist() == ["train", "embargo", "purge", "test"]
        assert parts["bars"].tolist() == [20, 3, 2, 4]
        assert [DAYS.get_loc(b) - DAYS.get_loc(a) for a, b in pairwise(parts["start"])] == [20, 3, 2]
        learned = folds.training(own, cutoff)["ds"]
        assert (parts.loc["train", "start"], parts.loc["train", "end"]) == (learned.min(), learned.max())
        assert parts.loc["purge", "end"] == cutoff


def test_where_models_are_not_fitted_anew_the_bars_since_the_fit_are_history() -> None:
    panel = frame(A=DAYS)
    folds = make_folds(panel, h=4, n_windows=5, step_size=4)
    walk = WalkForward(folds, refit=lambda window, _: window == 3)
    assert walk.fits() == [(0, 1, 2), (3, 4)]
    spans = walk.timeline(panel)
    since = spans[spans["part"] == "history"].set_index("fold")["bars"]
    assert since.to_dict() == {1: 4, 2: 8, 4: 4}
    assert set(spans.loc[(spans["part"] == "train") & (spans["fold"] < 3), "end"]) == {folds.cutoffs[0]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"h": 0}, {"n_windows": 0}, {"step_size": 0}, {"purge": -1}, {"embargo": -1},
        {"warm_up": 0}, {"input_size": 0}, {"target_span": 0},
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        make_folds(frame(A=DAYS), **({"h": 2, "n_windows": 2, "step_size": 2} | wrong))
