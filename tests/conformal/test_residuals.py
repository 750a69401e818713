import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.conformal import ResidualQuantiles
from fints.errors import SeriesError
from fints.forecast import QUANTILES

ERRORS = np.random.default_rng(3).standard_normal((400, 5)) * np.arange(1, 6)
STEPS = np.arange(1, 6)


def test_a_band_covers_its_share_of_the_errors_it_was_made_from():
    bands = ResidualQuantiles.from_errors(ERRORS).around(np.zeros(5), STEPS)
    for low, high in ((1, -2), (2, -3)):
        inside = (bands[:, low] <= ERRORS) & (bands[:, high] >= ERRORS)
        assert np.allclose(inside.mean(axis=0), QUANTILES[high] - QUANTILES[low], atol=0.01)


@given(st.floats(-1e6, 1e6))
def test_a_band_moves_with_its_forecast(shift):
    bands = ResidualQuantiles.from_errors(ERRORS)
    assert np.allclose(bands.around(np.full(5, shift), STEPS) - shift, bands.around(np.zeros(5), STEPS), atol=1e-6)


def test_fitted_coefficients_widen_the_band():
    plain, fitted = (ResidualQuantiles.from_errors(ERRORS, parameters=k).offsets for k in (0, 100))
    assert np.allclose(fitted, plain * np.sqrt(400 / 300))


def test_unknown_errors_are_left_out_step_by_step():
    with_gap = np.vstack([ERRORS, [[np.nan, 0, 0, 0, 0]]])
    assert np.array_equal(
        ResidualQuantiles.from_errors(with_gap).offsets[0], ResidualQuantiles.from_errors(ERRORS).offsets[0]
    )


def test_steps_beyond_the_measured_ones_take_the_last():
    bands = ResidualQuantiles.from_errors(ERRORS)
    assert np.array_equal(bands.around(np.zeros(2), np.array([5, 7]))[1], bands.offsets[4])


def test_too_few_errors_are_refused():
    with pytest.raises(SeriesError, match="at least two past errors"):
        ResidualQuantiles.from_errors(np.zeros((1, 3)))
