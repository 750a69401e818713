import numpy as np
import pytest

from benchmarks.periods.days import Days, density, noise
from benchmarks.periods.planted import Planted, Score


@pytest.fixture(scope="module")
def days():
    return Days.of(400)


def truth(days, *periods):
    return Planted(np.zeros(400), days, periods, ("session",) * len(periods))


def test_the_truth_scores_without_fault(days):
    score = Score.of(truth(days, 7.3, 20.37), [20.37, 7.3])
    assert (score.hit, score.planted, score.right, score.answers) == (2, 2, 2, 2)
    assert score.errors == (0, 0)


def test_a_whole_number_near_a_period_is_right_and_its_error_is_counted_in_bins(days):
    score = Score.of(truth(days, 20.37), [20.0])
    assert (score.hit, score.right, score.answers) == (1, 1, 1)
    assert score.errors == (pytest.approx(400 * (1 / 20 - 1 / 20.37)),)


def test_multiples_count_for_nothing_and_other_periods_against(days):
    score = Score.of(truth(days, 20.37), [20.37, 40.8, 61.0, 33.3])
    assert (score.hit, score.right, score.answers) == (1, 1, 2)
    assert Score.of(truth(days), [20.0]).answers == 1


def test_two_answers_for_one_cycle_find_it_once(days):
    score = Score.of(truth(days, 20.37), [20.0, 20.5])
    assert (score.hit, score.right, score.answers) == (1, 2, 2)
    assert score.errors == (pytest.approx(400 * abs(1 / 20.5 - 1 / 20.37)),)


def test_planted_cycles_are_too_far_apart_to_be_mistaken(days):
    for seed in range(30):
        drawn = Planted.draw(days, 0.7, -5, np.random.default_rng(seed))
        assert Score.of(drawn, drawn.periods).right == len(drawn.periods)
        assert all(Score.of(drawn, [period]).hit == 1 for period in drawn.periods)


@pytest.mark.parametrize("coefficient", [0.0, 0.7, 0.95])
def test_the_density_of_the_noise_is_that_of_its_draws(coefficient):
    rng = np.random.default_rng(3)
    frequency = np.fft.rfftfreq(512)[[5, 40, 200]]
    power = np.mean([np.abs(np.fft.rfft(noise(str(coefficient), 512, rng))) ** 2 / 512 for _ in range(400)], axis=0)
    expected = [density(coefficient, f) for f in frequency]
    assert power[[5, 40, 200]] == pytest.approx(expected, rel=0.25)
