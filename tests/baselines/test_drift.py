from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.baselines import Drift
from fints.errors import SeriesError
from fints.forecast import QUANTILES, Forecaster

if TYPE_CHECKING:
    import pandas as pd


def one(panel: pd.DataFrame, name: str = "A") -> pd.DataFrame:
    return panel[panel["unique_id"] == name].reset_index(drop=True)


def test_carries_on_the_line_through_the_first_and_the_last_value(daily: pd.DataFrame) -> None:
    panel = one(daily)
    y = panel["y"].to_numpy()
    forecast = Drift(6).fit(panel).forecast()
    line = np.interp([0, len(y) - 1], [0, len(y) - 1], [y[0], y[-1]])
    slope = (line[1] - line[0]) / (len(y) - 1)
    np.testing.assert_allclose(forecast.mean, y[-1] + slope * np.arange(1, 7), rtol=1e-12)


@settings(max_examples=20)
@given(slope=st.floats(-5, 5), start=st.floats(-100, 100))
def test_a_straight_line_is_forecast_without_error(daily: pd.DataFrame, slope: float, start: float) -> None:
    panel = one(daily).head(40)
    panel = panel.assign(y=start + slope * np.arange(40))
    forecast = Drift(5).fit(panel).forecast()
    expected = start + slope * np.arange(40, 45)
    np.testing.assert_allclose(forecast.mean, expected, atol=1e-9)
    np.testing.assert_allclose(forecast.quantiles, np.repeat(expected[:, None], len(QUANTILES), axis=1), atol=1e-9)


def test_the_slope_is_not_learnt_again_from_a_longer_history(daily: pd.DataFrame) -> None:
    model = Drift(3).fit(one(daily).head(300))
    slopes = [np.diff(model.forecast(one(daily).head(n)).mean) for n in (300, 500)]
    np.testing.assert_allclose(slopes[0], slopes[1], atol=1e-12)


def test_a_series_that_is_too_short_is_named(daily: pd.DataFrame) -> None:
    with pytest.raises(SeriesError, match=r"A: 5 known values are too few for Drift with h = 4; it needs 6"):
        Drift(4).fit(one(daily).head(5))
    assert isinstance(Drift(4).fit(one(daily).head(6)), Forecaster)
