from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.tsa.holtwinters import SimpleExpSmoothing

from fints.baselines import EWMA
from fints.baselines.ewma import best_weight, smoothed
from fints.errors import SeriesError

if TYPE_CHECKING:
    import pandas as pd


def one(panel: pd.DataFrame, name: str = "A") -> pd.DataFrame:
    return panel[panel["unique_id"] == name].reset_index(drop=True)


def walk(weight: float, n: int, seed: int) -> np.ndarray:
    """A series whose best weight is the one given: its level moves by that share of each surprise."""
    e = np.random.default_rng(seed).normal(size=n)
    level = np.concatenate([[0.0], np.cumsum(weight * e)[:-1]])
    return level + e


@pytest.mark.parametrize("weight", [0.1, 0.4, 0.9])
def test_the_weight_and_the_forecast_are_those_of_statsmodels(daily: pd.DataFrame, weight: float) -> None:
    panel = one(daily).assign(y=lambda d: walk(weight, len(d), 3))
    y = panel["y"].to_numpy()
    reference = SimpleExpSmoothing(y, initialization_method="known", initial_level=y[0]).fit()
    model = EWMA(3).fit(panel)
    alpha = reference.params["smoothing_level"]
    assert model._fits["A"].coefficients[0] == pytest.approx(alpha, abs=1e-3)
    exact = SimpleExpSmoothing(y, initialization_method="known", initial_level=y[0]).fit(
        smoothing_level=model._fits["A"].coefficients[0], optimized=False
    )
    np.testing.assert_allclose(model.forecast().mean, exact.forecast(3), atol=1e-10)
    # at least as good as the library's optimum
    assert exact.sse <= reference.sse * (1 + 1e-9)


@settings(max_examples=25)
@given(weight=st.floats(0.05, 0.95), seed=st.integers(0, 1000))
def test_no_weight_on_a_fine_grid_is_better(weight: float, seed: int) -> None:
    y = walk(weight, 200, seed)

    def squares(alpha: float) -> float:
        return float(np.square(y[1:] - smoothed(y, alpha)[:-1]).sum())

    assert squares(best_weight(y)) <= min(squares(a) for a in np.linspace(0.005, 1, 200)) + 1e-9


@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0])
def test_smoothing_is_the_recursion(alpha: float) -> None:
    y = np.random.default_rng(0).normal(size=50)
    level = y[0]
    for value in y[1:]:
        level = alpha * value + (1 - alpha) * level
    assert smoothed(y, alpha)[-1] == pytest.approx(level, abs=1e-12)


def test_a_random_walk_is_forecast_by_its_last_value(daily: pd.DataFrame) -> None:
    panel = one(daily).assign(y=lambda d: np.random.default_rng(1).normal(size=len(d)).cumsum())
    model = EWMA(2).fit(panel)
    assert model._fits["A"].coefficients[0] == pytest.approx(1.0, abs=0.1)


def test_a_far_level_does_not_change_the_weight() -> None:
    y = walk(0.4, 400, 5)
    assert best_weight(y + 1e9) == pytest.approx(best_weight(y), abs=1e-4)


def test_a_series_that_is_too_short_is_named(daily: pd.DataFrame) -> None:
    with pytest.raises(SeriesError, match="A: 6 known values are too few for EWMA"):
        EWMA(4).fit(one(daily).head(6))
