from dataclasses import replace

import numpy as np
import pytest

from fints.errors import ModelError
from fints.studies.ledger import settings_key
from fints.studies.unknown_period.tellings import DETECTED, KNOWN, WRONG
from fints.studies.unknown_period.week import (
    CYCLE,
    DAYS,
    NONE,
    ROPE,
    WEEK_ARMS,
    WeekArm,
    WeekProtocol,
    WeekTrial,
    before_holdout,
    detected_week,
    pattern_size,
)
from fints.transformer import CycleTransformer


def trial(how, arm=WEEK_ARMS[0], period=DAYS, seed=0):
    return WeekTrial(arm, period, seed, how)


@pytest.mark.parametrize("arm", [WeekArm(CYCLE), WeekArm(ROPE), WeekArm(NONE)])
def test_an_arm_is_fitted_and_taken_through_every_window(brief_week, volume, arm):
    result = trial(brief_week, arm).run()
    assert len(result["squared"]) == brief_week.n_windows
    assert (np.array(result["squared"]) > 0).all()
    assert result["squared"] == trial(brief_week, arm).run()["squared"]


def test_the_period_that_is_told_makes_a_difference_to_what_reads_it_only(brief_week, volume):
    right, wrong = (trial(brief_week, WeekArm(CYCLE), period) for period in (DAYS, 1.1 * DAYS))
    assert right.run()["squared"] != wrong.run()["squared"]
    assert settings_key(right.settings()) != settings_key(wrong.settings())
    rope = (trial(brief_week, WeekArm(ROPE), period) for period in (DAYS, 1.1 * DAYS))
    assert len({settings_key(each.settings()) for each in rope}) == 1


def test_another_seed_holdout_or_network_is_another_trial(brief_week):
    others = [
        trial(brief_week, seed=1),
        trial(replace(brief_week, n_windows=4)),
        trial(replace(brief_week, network=brief_week.network.model_copy(update={"n_layers": 2}))),
        trial(brief_week, WeekArm(NONE)),
    ]
    assert len({settings_key(each.settings()) for each in (trial(brief_week), *others)}) == 5


def test_detection_and_the_size_of_the_week_see_nothing_of_the_holdout(brief_week, volume):
    before = detected_week(brief_week), pattern_size(brief_week)
    first = before_holdout(brief_week)["ds"].max()
    volume.loc[volume["ds"] > first, "y"] += 100.0
    assert (detected_week(brief_week), pattern_size(brief_week)) == before
    assert before[0] == pytest.approx(DAYS, rel=1e-3)
    assert before[1] == pytest.approx(np.std([1, 1, 1, 1, 1, 0, 0]), rel=0.1)
    assert len(volume["ds"].unique()) - len(before_holdout(brief_week)["ds"].unique()) == 15


def test_a_model_that_does_not_finish_stops_the_study(brief_week, volume, monkeypatch):
    def fails(self, *_, **__):
        raise ArithmeticError("nothing came of it")

    monkeypatch.setattr(CycleTransformer, "fit", fails)
    with pytest.raises(ModelError, match="the study of the week did not finish: ArithmeticError: nothing came of it"):
        trial(brief_week).run()


def test_only_the_encoding_can_know_the_week_by_default():
    network = WeekProtocol().network
    assert [network.covariates, network.companions, network.linear_skip] == [False] * 3


def test_everything_is_told_to_cycle_on_all_planes():
    told = [arm.telling for arm in WEEK_ARMS if arm.encoding == CYCLE]
    assert told == [KNOWN, DETECTED, *WRONG]


def test_arms_are_compared_over_seeds_and_over_windows(make_week_board):
    board = make_week_board(none=lambda _: 1.1)
    known, none = WeekArm(CYCLE), WeekArm(NONE)
    assert board.times(none, known).mean == pytest.approx(1.1, rel=1e-2)
    assert board.test(none, known).p_value < 0.01
    assert board.rmse(known).mean == pytest.approx(np.sqrt(board.squared[known].mean()), rel=1e-2)
