from dataclasses import replace

import pandas as pd
import pytest

from fints.errors import ConfigError, SeriesError
from fints.studies.planted import PlantedCycles
from fints.tuning import TuningFolds

FOLDS = TuningFolds(h=10, n_folds=3, block=2, step_size=5, confirm_folds=2, confirm_windows=5, test_windows=4)


def panel(n):
    return PlantedCycles("planted", "Planted", (20.0,), (1.0,), 0.1).panel(n, seed=0)


def places(frame, stamps):
    return [int(frame.index[frame["ds"] == stamp][0]) for stamp in stamps]


def test_search_confirmation_and_test_follow_each_other_and_share_no_bar():
    frame = panel(200)
    stages = FOLDS.stages(frame)
    test, confirm, inner = (places(frame, folds) for folds in (stages.test, stages.confirm, stages.inner))
    assert test == [159, 169, 179, 189]
    assert confirm[-1] + FOLDS.h == test[0]
    assert inner[-1] + FOLDS.h == confirm[0]
    assert (len(inner), len(confirm)) == (6, 5)
    assert 199 - inner[0] == FOLDS.bars
    assert [len(rows) for rows in (stages.first, stages.search, stages.known)] == [
        inner[0] + 1,
        confirm[0] + 1,
        test[0] + 1,
    ]


def test_targets_made_of_several_bars_do_not_reach_from_one_stage_into_the_next():
    stages = replace(FOLDS, target_span=4).stages(panel(200))
    for rows, folds in ((stages.search, stages.confirm), (stages.known, stages.test)):
        assert (folds.cutoffs[0] - rows["ds"].max()).days == 3


def test_windows_of_a_fold_stand_together():
    assert FOLDS.inner_blocks() == [(0, 1), (2, 3), (4, 5)]
    assert FOLDS.confirm_blocks() == [(0, 1, 2), (3, 4)]


def test_windows_that_are_to_overlap_take_less_room():
    side_by_side, overlapping = FOLDS.stages(panel(200)), replace(FOLDS, apart=2).stages(panel(200))
    assert places(panel(200), overlapping.test) == [183, 185, 187, 189]
    assert overlapping.inner.cutoffs[0] > side_by_side.inner.cutoffs[0]
    assert replace(FOLDS, apart=2).bars == 35 + 18 + 16


def test_a_confirmation_that_looks_less_far_has_more_windows_of_the_same_bars():
    frame, short = panel(200), replace(FOLDS, confirm_windows=10, confirm_h=5)
    long, stages = FOLDS.stages(frame), short.stages(frame)
    assert (stages.confirm.h, stages.inner.h, stages.test.h) == (5, 10, 10)
    assert places(frame, stages.confirm) == [109, 114, 119, 124, 129, 134, 139, 144, 149, 154]
    for one, other in ((long.inner, stages.inner), (long.test, stages.test)):
        assert list(one) == list(other)
    assert short.bars == FOLDS.bars


def test_without_test_windows_everything_is_known():
    frame = panel(200)
    stages = replace(FOLDS, test_windows=0).stages(frame)
    assert stages.test is None
    pd.testing.assert_frame_equal(stages.known, stages.panel)


def test_a_panel_that_is_too_short_says_how_many_bars_are_needed():
    with pytest.raises(SeriesError, match=rf"60 bars; .* take {FOLDS.bars}"):
        FOLDS.stages(panel(60))


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_folds": 0},
        {"block": 0},
        {"confirm_folds": 0},
        {"test_windows": -1},
        {"apart": 0},
        {"confirm_windows": 1},
        {"confirm_h": 0},
    ],
)
def test_numbers_out_of_range_are_named(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        replace(FOLDS, **wrong)
