import numpy as np
import pytest

from fints.studies.valley.arms import GRADIENT, KNOWN, RANDOM, STANDS, TUNED
from fints.studies.valley.boards import CLOSE, WITHIN
from fints.studies.valley.chapters import course, method, results
from fints.studies.valley.verdicts import remarks, verdicts


def test_a_board_counts_who_came_within_the_mark(made_board):
    board = made_board()
    assert board.recovered(TUNED) == 4
    assert board.recovered(GRADIENT) == 0
    assert board.recovered(KNOWN) == 4
    assert np.abs(board.offs(RANDOM)).min() > WITHIN


def test_errors_are_compared_beyond_the_trained_horizon_and_seed_by_seed(made_board):
    board = made_board()
    own, known = (board.errors(arm)[:, board.how.trained_h :] for arm in (TUNED, KNOWN))
    ratios = np.sqrt((own**2).mean(axis=1)) / np.sqrt((known**2).mean(axis=1))
    assert board.times(TUNED).mean == pytest.approx(np.exp(np.log(ratios).mean()))
    assert board.times(TUNED, "observed").mean < board.times(TUNED).mean


def test_the_study_passes_where_every_seed_is_recovered_and_as_good_as_known(made_board):
    assert made_board().holds
    assert not made_board(tuned=0.004).holds
    assert made_board(tuned=0.0015).times(TUNED, "observed").mean < CLOSE
    assert not made_board(tuned=0.0015, seeds=5).holds  # the last seed is off by more than the mark


def test_verdicts_say_who_found_the_period_and_who_did_not(made_board):
    tuned, descent, gradient, longer, random, confirmed = verdicts(made_board())
    assert tuned.startswith("Tuning does it: told 20 bars and no detection, in 40 trials it comes within 0.20 %")
    assert "4 of 4 seeds" in tuned
    assert "0 of 4 seeds (off by 2.3 % in the mean square" in descent
    assert "0 of 4 seeds" in gradient
    assert "0 of 4 seeds" in random
    assert "10 times as many steps" in longer
    assert "for 4 of 4 seeds: 10 % of the RMSE" in confirmed


def test_a_tuning_that_fails_is_said_to(made_board):
    said = verdicts(made_board(tuned=0.02, accepted=False))
    assert said[0].startswith("Tuning does not do all of it")
    assert "for 0 of 4 seeds" in said[-1]


def test_a_single_seed_has_no_interval_and_no_plural(made_board):
    said = verdicts(made_board(seeds=1))
    assert "1 of 1 seeds (off by 0.050 %)" in said[0]
    assert "nan" not in " ".join([*said, *remarks(made_board(seeds=1))])


def test_remarks_tell_the_bound_the_cost_of_the_prior_and_what_the_fine_stage_adds(made_board):
    bound, valley, stages = remarks(made_board())
    assert "0.013 %" in bound
    assert "1.8 % off" in valley
    assert "off by 0.29 %" in stages
    assert "to 0.058 %" in stages


@pytest.mark.parametrize("seeds", [1, 2, 4])
def test_chapters_draw_what_was_found(made_board, seeds):
    board = made_board(seeds=seeds)
    table, by_seed = results(board).tables
    assert table.frame["arm"].tolist()[:2] == [KNOWN, TUNED]
    assert len(by_seed.frame.columns) == seeds + 1
    valley, history = course(board).charts
    assert {line.name for line in valley.lines} == {"true period, 20.37", "coarse", "fine", RANDOM}
    best = next(line for line in history.lines if line.name == TUNED)
    assert best.y[-1] == pytest.approx(100 * np.exp(np.log(np.abs(board.offs(TUNED))).mean()))
    assert "2000 bars are known" in method(board).text.replace("\n", " ")
    assert STANDS in results(board).tables[0].frame["arm"].tolist()
