import pytest

from fints.studies.extrapolation.tasks import NOISY, ONE, THREE, UNEVEN
from fints.studies.extrapolation.verdicts import held, remarks, verdicts

OWN = {"cycle_on_all_planes": 0.002, "clock_on_all_planes": 0.003}


def test_a_target_holds_with_the_better_share_and_only_up_to_its_limit(make_board):
    good = make_board(
        THREE, none=0.4, clock_on_all_planes=0.009, cycle_on_all_planes=0.004, cycle_on_half_the_planes=0.03
    )
    bad = make_board(THREE, none=0.4, cycle_on_all_planes=0.004, clock_on_all_planes=0.012)
    assert held([good])
    assert not held([bad])
    assert not held([good, bad])
    said = verdicts([bad], 4)
    assert "asked of cycle; that holds" in said[1]
    assert "asked of clock; that does not hold" in said[2]


def test_the_first_sentence_names_who_carries_cycles_on(make_board):
    clean, noisy = (
        make_board(ONE, none=0.7, rope=0.5, **OWN),
        make_board(NOISY, none=0.7, rope=0.5, cycle_on_all_planes=0.6),
    )
    said = verdicts([clean, noisy], 4)[0]
    assert "2 of 4 encodings" in said
    assert said.endswith("cycle on all planes, clock on all planes; all of them are told the periods.")
    said = verdicts([make_board(ONE, none=0.7, rope=0.01, **OWN)], 4)[0]
    assert said.endswith("clock on all planes, rope; rope without being told the periods.")
    said = verdicts([make_board(ONE, none=0.7, cycle_on_all_planes=0.5, clock_on_all_planes=0.5)], 4)[0]
    assert said.startswith("No encoding follows")


def test_tasks_without_a_target_never_fail(make_board):
    assert held([make_board(UNEVEN, none=0.7, cycle_on_all_planes=0.5, clock_on_all_planes=0.5)])


def test_where_another_encoding_wins_it_is_said(make_board):
    said = " ".join(verdicts([make_board(ONE, none=0.7, fourier_features=0.0005, **OWN)], 4))
    assert "fourier_features has the smallest error" in said
    assert "it is better than cycle on all planes, which has 4" in said


def test_a_difference_within_the_noise_of_seeds_is_called_none(make_board):
    said = " ".join(verdicts([make_board(ONE, none=0.7, fourier_features=0.00199, **OWN)], 4))
    assert "not distinguishable from" in said


def test_the_winner_is_named_with_the_best_of_another_kind_and_the_best_that_is_not_told(make_board):
    board = make_board(ONE, none=0.7, rope=0.1, alibi=0.7, **OWN)
    said = " ".join(verdicts([board], 4))
    assert "cycle on all planes is the best of 5 encodings; the next of another kind, rope, has 50 times" in said
    assert "not told the periods the best is rope; it has 50 times" in said


def test_encodings_that_help_nothing_are_listed(make_board):
    *_, said = remarks(make_board(ONE, none=0.7, rope=0.1, alibi=0.7, **OWN), 4)
    assert said.startswith("Not better than no position at all")
    assert said.endswith(": alibi.")
    *_, said = remarks(make_board(ONE, none=0.7, rope=0.1, **OWN), 4)
    assert said.startswith("Every encoding is better than no position at all")


def test_the_price_of_rope_planes_beside_the_cycles_is_told(make_board):
    said = " ".join(remarks(make_board(ONE, cycle_on_half_the_planes=0.02, **OWN), 4))
    assert "half of the planes to RoPE makes the error 10 times" in said
    assert "as large for cycle" in said
    assert "for clock" not in said


def test_those_that_follow_the_signal_are_counted_within_and_beyond_the_trained_horizon(make_board):
    board = make_board(ONE, none=0.7, rope=0.05, **OWN)
    board["rope"].beyond[:, 4:] = 0.5
    said = remarks(board, 4)[0]
    assert said.startswith("3 of 4 encodings have")
    assert "up to the trained horizon of 4 steps, and 2 have it after that" in said


def test_under_noise_both_measures_are_stated(make_board):
    said = " ".join(remarks(make_board(NOISY, none=0.7, **OWN), 4))
    assert "against what is observed, of which the noise alone makes 0.3; least squares" in said
    assert "noise that it learnt" not in said


def test_a_network_that_learnt_the_noise_is_told_by_least_squares(make_board):
    said = " ".join(remarks(make_board(NOISY, cycle_on_all_planes=0.2, clock_on_all_planes=0.3), 4))
    assert "has 0.050 (95 % interval 0.050 to 0.050, 4 seeds) against the signal: most of the error" in said


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds_are_no_reason_to_fail(make_board, seeds):
    board = make_board(ONE, seeds=seeds, none=0.7, rope=0.1, cycle_on_half_the_planes=0.02, **OWN)
    assert not any("nan" in sentence for sentence in (*verdicts([board], 4), *remarks(board, 4)))


def test_a_board_of_own_encodings_alone_has_a_winner(make_board):
    assert any(
        "cycle on all planes is the best of 2 encodings." in said for said in verdicts([make_board(ONE, **OWN)], 4)
    )
