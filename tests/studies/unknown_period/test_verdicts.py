import numpy as np
import pytest

from fints.studies.unknown_period.tasks import NOISY, TWENTY, UNEVEN
from fints.studies.unknown_period.verdicts import percent, remarks, verdicts


def said(board):
    return " ".join(verdicts([board]))


def test_it_says_how_wrong_a_period_may_be_and_why_rope_is_lucky(make_board):
    sentence = verdicts([make_board(TWENTY, rope=0.15, cycle=lambda off: 0.002 + 20 * abs(off))])[0]
    assert sentence.startswith("One cycle of 20 bars: cycle loses to rope, whose error is 0.15")
    assert "turns in 19.87 bars, a T wrong by 0.65 %, from which theory expects 0.14" in sentence
    assert "once T is 0.74 % too short or 0.74 % too long" in sentence
    assert sentence.endswith("by more than chance at 1.0 %.")


def test_rope_that_has_no_plane_near_is_not_called_lucky(make_board):
    board = make_board(UNEVEN, rope=0.15, cycle=lambda off: 0.001 + 20 * abs(off))
    assert "turns in" not in verdicts([board])[0]
    assert any("No plane of rope has the period by chance: the nearest turns in 19.9 bars" in r for r in remarks(board))
    assert not any("No plane of rope" in r for r in remarks(make_board(TWENTY)))


def test_a_limit_that_was_not_reached_is_not_made_up(make_board):
    sentence = verdicts([make_board(UNEVEN, rope=2.0)])[0]
    assert "does not lose to rope" in sentence
    assert "with T wrong by up to 10 %" in sentence
    assert "at worst (" in sentence


def test_a_cycle_that_is_no_better_with_the_true_period_is_told(make_board):
    assert "no better than rope" in verdicts([make_board(UNEVEN, rope=0.001, cycle=lambda _: 0.1)])[0]


def test_differences_within_chance_are_called_so(make_board):
    wobble = np.random.default_rng(0)
    board = make_board(NOISY, rope=0.2, cycle=lambda off: 0.1 + abs(off) * 1.01 + 0.2 * wobble.random())
    assert "never by more than chance" in verdicts([board])[0] or "by more than chance at" in verdicts([board])[0]
    board = make_board(NOISY, detected=[23.7 * 1.001] * 4, cycle=lambda off: 0.1 + 0.05 * wobble.random())
    assert "for cycle, not distinguishable from 1" in said(board)


def test_detection_that_is_exact_costs_nothing_and_one_that_is_not_is_measured(make_board):
    assert "detection finds T exactly, so it costs nothing." in said(make_board(TWENTY))
    sentence = said(make_board(NOISY, detected=23.7 * (1 + np.array([0.003, -0.004, 0.003, 0.004]))))
    assert "detection is off by 0.35 % (root mean square over seeds; at most 0.40 %)" in sentence
    assert "for cycle;" in sentence


def test_learning_that_repairs_and_learning_that_does_not_are_told_apart(make_board):
    sentence = said(make_board(TWENTY))
    assert (
        "lowers the error by more than chance from 8 of 8 wrong starts; it removes 100 % of what they cost" in sentence
    )
    assert "leaves a T that is off by at most 0.10 %, from 10 %" in sentence
    sentence = said(
        make_board(TWENTY, cycle=lambda off: 0.01 + 4 * abs(off), cycle_learned=lambda off: 0.01 + abs(off))
    )
    assert "it removes 75 % of what they cost" in sentence
    assert ": 0.11 (95 % interval" in sentence
    assert "without learning 0.42." in sentence
    sentence = said(make_board(TWENTY, cycle_learned=lambda off: 3.0))
    assert "by more than chance from 0 of 8 wrong starts" in sentence


def test_the_law_is_stated_with_its_range_and_only_from_series_without_noise(make_board):
    assert "cycle and clock have 1.01 to 1.01 times the error" in said(make_board(TWENTY))
    assert "cycle and clock have 1.01 to 1.0" not in said(make_board(TWENTY, clock=lambda off: 0.002 + 50 * off))
    board = make_board(TWENTY)
    assert f"the signal's mean once T is too long by {percent(board.useful())} (20 bars)" in said(board)
    assert "2π·Δf" not in said(make_board(NOISY))


def test_what_dates_do_to_t_rope_is_said_of_clean_series(make_board):
    sentence = said(make_board(TWENTY, t_rope=lambda off: 0.4))
    assert "told +1 % it has 1.9 times" in sentence
    assert "none moves by more than 9.0 %" in sentence
    assert "t_rope, whose" not in said(make_board(NOISY))


def test_a_forecast_that_is_worse_than_the_mean_is_named(make_board):
    text = " ".join(remarks(make_board(TWENTY)))
    assert "worse for every seed than a forecast of the signal's mean, whose error is 0.71" in text
    assert "−10 %" in text
    assert "signal's mean" not in " ".join(remarks(make_board(TWENTY, cycle=lambda off: 0.001 + abs(off))))


def test_sides_are_compared(make_board):
    same = " ".join(remarks(make_board(TWENTY, cycle=lambda off: 0.01 + abs(off))))
    assert "the same within chance" in same
    apart = " ".join(remarks(make_board(TWENTY, cycle=lambda off: 0.01 + abs(off) * (2 if off < -0.04 else 1))))
    assert "Too short costs cycle as a multiple of too long" in apart
    assert "at 5.0 %" in apart
    assert "at 1.0 %" not in apart


def test_what_learning_costs_where_nothing_was_wrong_is_said(make_board):
    text = " ".join(remarks(make_board(TWENTY, cycle=lambda off: 0.01, cycle_learned=lambda off: 0.03)))
    assert "right from the start costs 3.0 times" in text


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds_are_no_reason_to_fail(make_board, seeds):
    board = make_board(NOISY, seeds=seeds)
    assert not any("nan" in sentence for sentence in (*verdicts([board]), *remarks(board)))


def test_a_share_is_written_without_its_sign():
    assert [percent(x) for x in (-0.0123, 0.5, 0.0)] == ["1.2 %", "50 %", "0 %"]
