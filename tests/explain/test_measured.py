import numpy as np
import pytest

from fints.explain.measured import FEWEST_BLOCKS, BlockedLosses, Measured


def test_the_error_of_a_mean_over_equal_blocks_is_the_usual_one():
    means = np.random.default_rng(0).standard_normal(12)
    blocks = np.repeat(np.arange(12), 3)
    (found,) = BlockedLosses(np.repeat(means, 3)[None], blocks).measure(lambda x: x)
    assert found.value == pytest.approx(means.mean())
    assert found.error == pytest.approx(means.std(ddof=1) / np.sqrt(12))


def test_a_function_of_several_losses_has_the_error_of_its_linear_part():
    rng = np.random.default_rng(1)
    blocks = np.arange(400)
    losses = np.stack([1 + 0.1 * rng.standard_normal(400), 2 + 0.1 * rng.standard_normal(400)])
    (ratio,) = BlockedLosses(losses, blocks).measure(lambda x: x[:1] / x[1:])
    linear = (losses[0] - ratio.value * losses[1]) / losses[1].mean()
    assert ratio.error == pytest.approx(linear.std(ddof=1) / np.sqrt(400), rel=0.01)


def test_of_a_few_blocks_nothing_is_told():
    blocks = np.arange(FEWEST_BLOCKS - 1)
    (found,) = BlockedLosses(np.ones((1, len(blocks))), blocks).measure(lambda x: x)
    assert found.value == 1.0
    assert not found.told


@pytest.mark.parametrize(("value", "told"), [(3.0, True), (-3.0, True), (2.0, False), (0.0, False)])
def test_told_is_far_from_zero_in_standard_errors(value, told):
    assert Measured(value, 1.0).told is told


def test_a_number_that_is_not_one_is_not_told():
    assert not Measured(np.nan, np.nan).told


def test_a_factor_keeps_the_error_positive():
    assert Measured(1.0, 2.0) * -3 == Measured(-3.0, 6.0)
