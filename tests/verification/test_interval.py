import numpy as np
import pytest

from fints.verification import mean_of


def noise(rng, nights, reach):
    """Nights whose figures share their bars with those of the nights before: a moving average."""
    shocks = rng.standard_normal(nights + reach - 1)
    return np.convolve(shocks, np.ones(reach) / np.sqrt(reach), "valid")


@pytest.mark.parametrize(("reach", "nights"), [(1, 60), (5, 60), (20, 60), (20, 250)])
def test_intervals_hold_the_truth_as_often_as_they_say_though_nights_overlap(reach, nights):
    rng = np.random.default_rng(reach)
    inside = [
        low <= 0 <= high for low, high in (mean_of(noise(rng, nights, reach), reach).interval() for _ in range(800))
    ]
    assert np.mean(inside) > 0.93


def test_an_interval_that_takes_nights_for_independent_would_be_far_too_narrow():
    rng = np.random.default_rng(0)
    naive = [mean_of(noise(rng, 60, 20), 1).interval() for _ in range(400)]
    assert np.mean([low <= 0 <= high for low, high in naive]) < 0.85


def test_nothing_is_said_about_few_nights():
    few = mean_of(np.ones(10), 20)
    assert few.value == 1
    assert not few.told
    assert few.p_above(0) == 1
    assert np.isnan(few.interval()).all()


def test_unknown_nights_are_passed_over():
    values = np.random.default_rng(3).normal(size=60)
    holes = np.insert(values, [3, 30], np.nan)
    assert mean_of(holes, 5) == mean_of(values, 5)
    assert np.isnan(mean_of(np.full(5, np.nan), 1).value)


def test_figures_that_do_not_vary_are_certain():
    mean = mean_of(np.full(60, 0.3), 5)
    assert mean.interval() == (pytest.approx(0.3), pytest.approx(0.3))
    assert mean.p_above(0.2) == 0
    assert mean.p_above(0.31) == 1
