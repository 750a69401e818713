import numpy as np
import pytest

from fints.studies.extrapolation.arms import ARMS, CYCLE, NONE
from fints.studies.extrapolation.scores import board
from fints.studies.extrapolation.tasks import NOISY, ONE


def results(task, how, *, off, seeds=3):
    """Forecasts that miss the signal by a constant."""
    signal = task.clean(how.total)
    beyond, inside = signal[how.trained :] + off, signal[how.input_size : how.trained] - off
    return {(name, seed): {"beyond": beyond, "inside": inside} for name in (CYCLE, NONE) for seed in range(seeds)}


def test_errors_are_measured_against_the_signal(small):
    scored = board(ONE, [ARMS[CYCLE], ARMS[NONE]], results(ONE, small, off=0.25), small)
    score = scored[CYCLE]
    np.testing.assert_allclose(score.beyond, 0.25)
    np.testing.assert_allclose(score.inside, -0.25)
    np.testing.assert_allclose(score.observed, 0.25)
    assert score.rmse.mean == pytest.approx(0.25)
    np.testing.assert_allclose(score.by_step, 0.25)


def test_under_noise_the_error_against_what_was_observed_holds_the_noise_of_each_seed(small):
    score = board(NOISY, [ARMS[CYCLE]], results(NOISY, small, off=0.0), small)[CYCLE]
    np.testing.assert_allclose(score.beyond, 0.0)
    for seed in range(3):
        noise = (NOISY.observed(small.total, seed) - NOISY.clean(small.total))[small.trained :]
        np.testing.assert_allclose(score.observed[seed], -noise)


def test_least_squares_are_exact_without_noise_and_see_the_trained_bars_only_with_it(small):
    assert board(ONE, [ARMS[CYCLE]], results(ONE, small, off=0.1), small).least_squares.mean < 1e-10
    fitted = board(NOISY, [ARMS[CYCLE]], results(NOISY, small, off=0.1), small).least_squares
    expected = [
        np.sqrt(np.mean((NOISY.least_squares(NOISY.observed(30, s), 44) - NOISY.clean(44))[30:] ** 2)) for s in range(3)
    ]
    assert fitted.mean == pytest.approx(np.mean(expected))


def test_the_board_is_in_the_order_of_errors(small):
    good, bad = results(ONE, small, off=0.1), results(ONE, small, off=0.2)
    mixed = {key: (bad if key[0] == CYCLE else good)[key] for key in good}
    scored = board(ONE, [ARMS[CYCLE], ARMS[NONE]], mixed, small)
    assert [score.arm.name for score in scored.scores] == [NONE, CYCLE]
    assert scored.best is scored[NONE]
    assert scored.best_of([CYCLE, "not there"]) is scored[CYCLE]
    assert scored[CYCLE].times(scored[NONE]).mean == pytest.approx(2.0)
