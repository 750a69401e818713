import numpy as np
import pytest

from fints.studies.unknown_period.arms import CLOCK, CYCLE, LEARNED, ROPE, T_ROPE, TOLD, Arm
from fints.studies.unknown_period.boards import learned_periods
from fints.studies.unknown_period.tasks import NOISY, TWENTY
from fints.studies.unknown_period.tellings import DETECTED, KNOWN, TELLINGS, WRONG

PLUS = {f"{100 * telling.off:g}": telling for telling in WRONG}


def test_it_lists_what_was_tried_and_finds_every_score(make_board):
    board = make_board(TWENTY)
    assert board.encodings == TOLD
    assert board.tellings == TELLINGS
    assert board.wrong == board.wrong_of(CYCLE) == WRONG
    assert board.wrong_of(CLOCK) == WRONG[4:]
    assert not board.has(CLOCK, WRONG[0])
    assert board.rope.arm.encoding == ROPE
    assert board.score(CLOCK, DETECTED).arm == Arm(CLOCK, DETECTED)
    assert board.scale == pytest.approx(np.sqrt(0.5))


def test_the_expected_error_is_that_of_the_phase_upon_what_is_missed_anyway(make_board):
    board = make_board(TWENTY, cycle=lambda off: 0.3)
    assert board.expected(KNOWN) == pytest.approx(board.score(CYCLE).rmse.mean)
    for telling in WRONG:
        alone = np.sqrt((board.wave(telling.off) ** 2).mean())
        assert board.expected(telling) == pytest.approx(np.hypot(board.score(CYCLE).rmse.mean, alone))
    errors = [board.expected(telling) for telling in WRONG[4:7]]
    assert errors == sorted(errors)


def test_what_was_detected_is_expected_to_cost_seed_by_seed(make_board):
    board = make_board(NOISY, detected=[23.7, 23.7 * 1.05, 23.7])
    np.testing.assert_allclose(board.offsets(DETECTED), [0.0, 0.05, 0.0], atol=1e-9)
    known, wrong = board.expected(KNOWN), board.expected(PLUS["5"])
    assert board.expected(DETECTED) == pytest.approx((2 * known + wrong) / 3)


@pytest.mark.parametrize("true", [0.004, 0.013, 0.031])
def test_the_error_from_which_on_rope_is_better_is_interpolated(make_board, true):
    board = make_board(TWENTY, rope=true, cycle=abs)
    short, long = board.crossing(CYCLE)
    assert (short, long) == pytest.approx((true, true))


def test_where_the_sides_differ_so_do_their_limits(make_board):
    board = make_board(TWENTY, rope=0.015, cycle=lambda off: 2 * off if off > 0 else -0.1 * off)
    assert board.crossing(CYCLE) == (None, pytest.approx(0.0075))


def test_an_encoding_that_is_worse_from_the_start_has_no_room_at_all(make_board):
    assert make_board(TWENTY, rope=0.001, cycle=lambda _: 0.5).crossing(CYCLE) == (0.0, 0.0)


def test_errors_are_compared_with_those_of_the_true_period(make_board):
    board = make_board(TWENTY, clock=lambda off: 0.1 + abs(off))
    assert board.against_known(CLOCK, PLUS["10"]).mean == pytest.approx(2.0)
    assert board.against_known(CLOCK, KNOWN).mean == pytest.approx(1.0)


def test_learned_frequencies_are_periods_in_bars():
    per_bar = [{"offset": [0.05]}, {"offset": [0.04]}]
    np.testing.assert_allclose(learned_periods(Arm(LEARNED), per_bar), [[20.0], [25.0]])
    per_second = [{"query.offset": [1 / 86_400], "key.offset": [0.5 / 86_400]}]
    np.testing.assert_allclose(learned_periods(Arm(T_ROPE), per_second), [[1.0, 2.0]])


def test_it_says_how_far_off_learning_ends_and_how_far_it_moves(make_board):
    board = make_board(TWENTY)
    np.testing.assert_allclose(board.left(PLUS["10"]), 0.001)
    assert board.moved() == pytest.approx(1 - 1.001 / 1.1)


def test_a_cycle_is_useful_up_to_the_error_of_the_mean_of_the_signal(make_board):
    board = make_board(TWENTY)
    assert board.expected_at(board.useful()) == pytest.approx(board.scale, rel=2e-3)
    assert board.expected_at(board.useful() - 1e-3) < board.scale
    assert make_board(TWENTY, cycle=lambda _: 2.0).useful() == 0.0
