import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fints.errors import ConfigError
from fints.series import LONG_HAR_SPANS, har_features, lag_features

SERIES = hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e6, 1e6))


@settings(deadline=None, max_examples=50)
@given(y=SERIES)
def test_har_means_are_rolling_means(y):
    features = har_features(y, (1, 5, 22))
    for column, span in enumerate((1, 5, 22)):
        np.testing.assert_allclose(features[:, column], pd.Series(y).rolling(span).mean(), rtol=1e-9, atol=1e-6)


@settings(deadline=None, max_examples=50)
@given(y=SERIES, data=st.data())
def test_nothing_after_a_bar_changes_its_features(y, data):
    cut = data.draw(st.integers(0, len(y) - 1))
    changed = y.copy()
    changed[cut + 1 :] = data.draw(st.floats(-1e6, 1e6))
    np.testing.assert_array_equal(har_features(y)[: cut + 1], har_features(changed)[: cut + 1])
    np.testing.assert_array_equal(lag_features(y, (0, 1, 7))[: cut + 1], lag_features(changed, (0, 1, 7))[: cut + 1])


def test_lags_look_back_and_lag_zero_is_the_value_itself():
    y = np.arange(10.0)
    features = lag_features(y, (0, 3, 20))
    np.testing.assert_array_equal(features[:, 0], y)
    np.testing.assert_array_equal(features[:, 1], pd.Series(y).shift(3))
    assert np.isnan(features[:, 2]).all()


def test_many_series_at_once_are_the_series_one_by_one():
    y = np.random.default_rng(0).normal(size=(3, 2, 300))
    together = har_features(y, LONG_HAR_SPANS)
    assert together.shape == (3, 2, 300, 5)
    np.testing.assert_array_equal(together[2, 1], har_features(y[2, 1], LONG_HAR_SPANS))
    np.testing.assert_array_equal(lag_features(y, (1, 2))[1, 0], lag_features(y[1, 0], (1, 2)))


def test_a_missing_value_is_missing_from_every_mean_that_covers_it():
    y = np.arange(30.0)
    y[10] = np.nan
    missing = np.isnan(har_features(y, (5,))[:, 0])
    assert np.flatnonzero(missing).tolist() == [0, 1, 2, 3, 10, 11, 12, 13, 14]


def test_features_that_read_the_future_are_refused():
    with pytest.raises(ConfigError, match="negative"):
        lag_features(np.arange(5.0), (1, -1))
    with pytest.raises(ConfigError, match="below 1"):
        har_features(np.arange(5.0), (0, 5))
