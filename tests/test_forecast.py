import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from fints.errors import ConfigError, SchemaError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES, Forecast, quantile_name


def normal_forecast(n=3):
    frame = pd.DataFrame({"unique_id": "A", "ds": pd.date_range("2020-01-01", periods=n), "step": range(1, n + 1)})
    return Forecast(frame, np.zeros(n), np.tile(norm.ppf(QUANTILES), (n, 1)))


def test_quantile_columns_are_named_by_their_digits():
    assert QUANTILE_COLUMNS[:3] == ("q025", "q05", "q10")
    assert quantile_name(0.5) == "q50"
    assert len(set(QUANTILE_COLUMNS)) == len(QUANTILES)


@pytest.mark.parametrize("level", [50, 80, 90, 95])
def test_a_stated_band_is_exact(level):
    lower, upper = normal_forecast().band(level)
    assert np.allclose(upper, norm.ppf(0.5 + level / 200))
    assert np.allclose(lower, -upper)


@given(st.floats(QUANTILES[0], QUANTILES[-1]), st.floats(QUANTILES[0], QUANTILES[-1]))
def test_reading_the_distribution_is_monotone(p, q):
    forecast = normal_forecast(1)
    assert (forecast.at(p) <= forecast.at(q)) == (p <= q) or np.isclose(forecast.at(p), forecast.at(q))


def test_tails_are_not_invented():
    with pytest.raises(ConfigError, match=r"between 0\.025 and 0\.975"):
        normal_forecast().band(99)


def test_the_wide_frame_is_named_as_the_ecosystem_names_it():
    wide = normal_forecast().to_wide("M", [80, 95])
    assert list(wide.columns) == ["unique_id", "ds", "M", "M-lo-80", "M-hi-80", "M-lo-95", "M-hi-95"]


def test_forecasts_stack_in_order():
    both = Forecast.concat([normal_forecast(2), normal_forecast(3)])
    assert both.frame["step"].tolist() == [1, 2, 1, 2, 3]
    assert both.to_long().shape == (5, 4 + len(QUANTILES))


def test_shapes_that_disagree_are_refused():
    with pytest.raises(SchemaError, match="3 rows"):
        Forecast(normal_forecast(3).frame, np.zeros(2), np.zeros((3, len(QUANTILES))))
    with pytest.raises(SchemaError, match="step"):
        Forecast(normal_forecast(1).frame[["unique_id", "ds"]], np.zeros(1), np.zeros((1, len(QUANTILES))))
    with pytest.raises(SchemaError, match="left out"):
        Forecast.concat([])
