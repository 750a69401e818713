import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from fints.studies.comparison.power import MOST, power, seeds_needed


@pytest.mark.parametrize("size", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("n", [3, 10, 30])
def test_the_power_is_that_of_statsmodels(n, size):
    assert power(n, size) == pytest.approx(TTestPower().power(size, n, 0.05), abs=1e-9)


@pytest.mark.parametrize("size", [0.05, 0.3, -0.7, 1.4, 6.0])
def test_one_seed_fewer_than_needed_is_not_enough(size):
    n = seeds_needed(size)
    assert power(n, size) >= 0.8
    assert n == 2 or power(n - 1, size) < 0.8


def test_no_number_of_seeds_finds_nothing_and_certainty_needs_two():
    assert seeds_needed(0.0) is None
    assert seeds_needed(1e-6) is None
    assert seeds_needed(np.inf) == 2
    assert seeds_needed(3 / np.sqrt(MOST)) <= MOST


@pytest.mark.parametrize("size", [2.5, 10.0, 1000.0])
def test_a_difference_far_beyond_its_spread_is_found_for_certain(size):
    assert power(40, size) == pytest.approx(1.0)
