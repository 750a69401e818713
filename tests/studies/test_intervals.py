import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from fints.errors import ConfigError
from fints.studies.intervals import Interval, ratio_interval, t_interval

POSITIVE = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=8)


@given(POSITIVE.filter(lambda x: np.std(x) > 1e-6))
@settings(max_examples=40)
def test_the_interval_is_that_of_student(values):
    mine, scipys = t_interval(values), ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose([mine.low, mine.high], [scipys.low, scipys.high], rtol=1e-9, atol=1e-9)


def test_it_covers_the_true_mean_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(3.0, 1.0, (4000, 5))
    covered = np.mean([(i := t_interval(x)).low <= 3.0 <= i.high for x in draws])
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 4000)


@given(POSITIVE, st.floats(1e-2, 1e2))
@settings(max_examples=40)
def test_a_constant_ratio_is_found_exactly_whatever_the_values(values, factor):
    times = ratio_interval(np.array(values) * factor, values)
    np.testing.assert_allclose([times.mean, times.low, times.high], factor, rtol=1e-6)


@given(POSITIVE, st.data())
@settings(max_examples=40)
def test_the_ratio_turned_round_has_the_interval_turned_round(values, data):
    other = data.draw(st.lists(st.floats(1e-3, 1e3), min_size=len(values), max_size=len(values)))
    one, back = ratio_interval(values, other), ratio_interval(other, values)
    np.testing.assert_allclose([one.mean, one.low, one.high], [1 / back.mean, 1 / back.high, 1 / back.low], rtol=1e-9)


def test_one_value_has_a_mean_and_no_interval():
    alone = t_interval([2.0])
    assert alone.mean == 2.0
    assert np.isnan([alone.low, alone.high]).all()


def test_no_value_is_refused():
    with pytest.raises(ConfigError, match="at least one"):
        t_interval([])


def test_an_interval_lies_above_what_is_below_its_lower_end():
    assert t_interval([1.0, 1.1, 1.2]).above(0.5)
    assert not t_interval([1.0, 1.1, 1.2]).above(1.0)
    assert t_interval([2.0]).above(1.0)
    assert not t_interval([2.0]).above(2.0)


def test_an_interval_excludes_what_lies_on_either_side_of_it_and_a_single_value_nothing():
    interval = Interval(1.5, 1.2, 1.8, 5)
    assert interval.excludes(1.0)
    assert interval.excludes(2.0)
    assert not interval.excludes(1.3)
    assert not t_interval([3.0]).excludes(1.0)
