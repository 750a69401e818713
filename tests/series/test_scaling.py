import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from fints.errors import UnknownNameError
from fints.series import SCALERS, expanding_scaling, get_scaler, robust_scaling, standard_scaling

VALUES = st.floats(-1e6, 1e6)
WINDOWS = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=12), elements=VALUES)


@pytest.mark.parametrize("name", sorted(SCALERS))
@settings(deadline=None, max_examples=50)
@given(y=WINDOWS)
def test_scaling_and_back_is_the_identity(name, y):
    scaling = SCALERS[name](y)
    size = 1e-12 * max(1.0, np.abs(y).max())
    np.testing.assert_allclose(scaling.invert(scaling.apply(y)), y, rtol=0, atol=size)


@pytest.mark.parametrize("name", ["standard", "robust"])
@settings(deadline=None, max_examples=50)
@given(
    y=hnp.arrays(np.float64, 12, elements=st.integers(-1000, 1000).map(float)), shift=VALUES, scale=st.floats(0.01, 100)
)
def test_a_scaled_window_does_not_depend_on_level_and_unit(name, y, shift, scale):
    if np.ptp(y) == 0:
        return
    moved = scale * y + shift
    np.testing.assert_allclose(SCALERS[name](moved).apply(moved), SCALERS[name](y).apply(y), atol=1e-5)


@settings(deadline=None, max_examples=50)
@given(level=VALUES, length=st.integers(1, 30))
def test_a_constant_window_scales_to_zero(level, length):
    y = np.full((2, length), level)
    for scaler in (standard_scaling, robust_scaling):
        np.testing.assert_allclose(scaler(y).apply(y), 0.0, atol=1e-9 * max(1.0, abs(level)))
        np.testing.assert_array_equal(scaler(y).spread, 1.0)


def test_standard_scaling_is_the_z_score_and_ignores_missing_values():
    y = np.random.default_rng(0).normal(5, 3, (4, 50))
    np.testing.assert_allclose(standard_scaling(y).apply(y), stats.zscore(y, axis=-1))
    y[0, :10] = np.nan
    np.testing.assert_allclose(standard_scaling(y).apply(y), stats.zscore(y, axis=-1, nan_policy="omit"))
    assert np.isfinite(standard_scaling(np.full((2, 3), np.nan)).center).all()
    assert np.isfinite(robust_scaling(np.full((2, 3), np.nan)).center).all()


def test_robust_scaling_hardly_feels_an_outlier():
    y = np.random.default_rng(1).normal(0, 1, 500)
    clean = robust_scaling(y)
    assert clean.spread[0] == pytest.approx(stats.iqr(y, scale="normal"), rel=1e-12)
    y[7] = 1e6
    dirty = robust_scaling(y)
    assert abs(dirty.center - clean.center) < 0.02
    assert abs(dirty.spread - clean.spread) < 0.02


def test_robust_scaling_of_a_mostly_constant_window_uses_what_varies():
    y = np.zeros(20)
    y[0] = 10.0
    assert robust_scaling(y).spread[0] == pytest.approx(10 * np.sqrt(1 / 20))


def test_expanding_scaling_is_the_running_mean_and_deviation():
    y = np.random.default_rng(2).normal(1e6, 3, 300)
    y[[0, 5, 100]] = np.nan
    scaling = expanding_scaling(y, min_count=10)
    running = pd.Series(y).expanding()
    np.testing.assert_allclose(scaling.center[1:], running.mean()[1:], rtol=1e-12)
    enough = running.count() >= 10
    np.testing.assert_allclose(scaling.spread[enough], running.std(ddof=0)[enough], rtol=1e-6)
    assert (scaling.spread[~enough] == 1).all()


@settings(deadline=None, max_examples=50)
@given(y=hnp.arrays(np.float64, 40, elements=VALUES), cut=st.integers(0, 39), other=VALUES)
def test_expanding_scaling_knows_no_future(y, cut, other):
    changed = y.copy()
    changed[cut + 1 :] = other
    before, after = expanding_scaling(y, 5), expanding_scaling(changed, 5)
    np.testing.assert_array_equal(before.center[: cut + 1], after.center[: cut + 1])
    np.testing.assert_array_equal(before.spread[: cut + 1], after.spread[: cut + 1])


def test_an_unknown_scaler_is_refused():
    with pytest.raises(UnknownNameError, match="unknown scaler 'minmax'"):
        get_scaler("minmax")
