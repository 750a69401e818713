from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.backtest import make_folds
from fints.backtest.extrapolation import measure
from fints.errors import UnknownNameError

H, TRAINED = 60, 5
DAYS = pd.date_range("2018-01-01", periods=400)


def world(unit: float, growth: float) -> tuple[pd.DataFrame, pd.DataFrame, object]:
    """A series that swings by `unit`, and forecasts whose error grows with the distance by `growth` units."""
    y = unit * np.where(np.arange(len(DAYS)) % 2, 1.0, -1.0)
    panel = pd.DataFrame({"unique_id": "A", "ds": DAYS, "y": y})
    folds = make_folds(panel, H, 3, 20)
    steps = np.arange(1, H + 1)
    error = unit * growth * steps / TRAINED
    rows = [
        pd.DataFrame({"unique_id": "A", "cutoff": c, "step": steps, "y": 0.0, "mean": error, "model": "M", "seed": 0})
        for c in folds
    ]
    return panel, pd.concat(rows, ignore_index=True), folds


@settings(max_examples=6)
@given(unit=st.floats(1e-3, 1e3), growth=st.floats(0.01, 10))
def test_errors_are_in_standard_deviations_of_the_context_and_their_growth_is_the_slope(
    unit: float, growth: float
) -> None:
    panel, rows, folds = world(unit, growth)
    found = measure(rows, folds, panel, {"M": TRAINED}, context=100)
    by_step = found.by_step()
    assert by_step["RMSE"].to_numpy() == pytest.approx(growth * by_step["distance"].to_numpy())
    (slope,) = found.slopes()["slope"]
    assert slope == pytest.approx(growth)


def test_steps_are_banded_by_trained_horizons_and_what_lies_further_is_left_out() -> None:
    panel, rows, folds = world(1.0, 1.0)
    bands = measure(rows, folds, panel, {"M": TRAINED}, context=100).by_band()
    assert bands["band"].tolist() == ["1×", "1–2.5×", "2.5–5×", "5–10×"]
    # steps 1–5, 6–12, 13–25 and 26–50 of three windows; 51–60 are further than ten horizons
    assert bands["n"].tolist() == [15, 21, 39, 75]
    expected = [np.sqrt(np.mean(np.square(np.arange(a, b + 1) / 5))) for a, b in [(1, 5), (6, 12), (13, 25), (26, 50)]]
    assert bands["RMSE"].to_numpy() == pytest.approx(expected)


def test_within_the_trained_horizon_there_is_no_slope() -> None:
    panel, rows, folds = world(1.0, 1.0)
    found = measure(rows, folds, panel, {"M": H}, context=100)
    assert found.by_band()["band"].tolist() == ["1×"]
    assert found.slopes()[["slope", "growth"]].isna().all(axis=None)


def test_a_context_that_never_moved_has_no_unit_and_is_left_out() -> None:
    panel, rows, folds = world(1.0, 1.0)
    still = measure(rows, folds, panel.assign(y=1.0), {"M": TRAINED}, context=100)
    assert still.rows.empty


def test_a_model_without_a_trained_horizon_is_named() -> None:
    panel, rows, folds = world(1.0, 1.0)
    with pytest.raises(UnknownNameError, match="unknown model 'M'"):
        measure(rows, folds, panel, {"N": 5}, context=100)
