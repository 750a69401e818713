"""Some baselines read the end of a history only; what lies before it is left aside, and must not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fints.baselines import HAR, GradientBoosting, GradientBoostingConfig, Naive

if TYPE_CHECKING:
    import pandas as pd

    from fints.baselines.per_series import PerSeriesForecaster

MODELS = {
    "har": lambda: HAR(5),
    "long har": lambda: HAR(5, spans=(1, 5, 130), calendar=True),
    "boosting": lambda: GradientBoosting(5, GradientBoostingConfig(iterations=20, max_rows=3000)),
}


@pytest.fixture(scope="module")
def asked(daily: pd.DataFrame) -> pd.DataFrame:
    """Not what was learned from: a value at which a tree splits goes to either side by a rounding."""
    return daily.assign(y=daily["y"] + 0.05 * np.random.default_rng(3).normal(size=len(daily)))


@pytest.fixture(scope="module", params=MODELS)
def fitted(request: pytest.FixtureRequest, daily: pd.DataFrame) -> PerSeriesForecaster:
    return MODELS[request.param]().fit(daily)


def untrimmed(model: PerSeriesForecaster, monkeypatch: pytest.MonkeyPatch, panel: pd.DataFrame) -> np.ndarray:
    with monkeypatch.context() as patch:
        patch.setattr(type(model), "lookback", None)
        return model.forecast(panel).quantiles


def test_it_is_all_that_a_forecast_needs(fitted, asked, monkeypatch) -> None:
    short = asked.groupby("unique_id", sort=False).tail(fitted.lookback).reset_index(drop=True)
    assert len(short) < len(asked)
    np.testing.assert_array_equal(fitted.forecast(short).quantiles, fitted.forecast(asked).quantiles)
    np.testing.assert_allclose(
        fitted.forecast(asked).quantiles, untrimmed(fitted, monkeypatch, asked), rtol=1e-9, atol=1e-9
    )


def test_it_is_no_longer_than_it_has_to_be(fitted, asked) -> None:
    """A change of the oldest value that counts changes the forecast; one of the value before it does not."""
    at_edge = (
        asked.groupby("unique_id", sort=False).tail(fitted.lookback).groupby("unique_id", sort=False).head(1).index
    )
    known = fitted.forecast(asked).mean
    moved = asked.assign(y=asked["y"].where(~asked.index.isin(at_edge), asked["y"] + 3.0))
    before = asked.assign(y=asked["y"].where(~asked.index.isin(at_edge - 1), asked["y"] + 3.0))
    assert not np.array_equal(fitted.forecast(moved).mean, known)
    np.testing.assert_array_equal(fitted.forecast(before).mean, known)


def test_values_that_are_missing_do_not_count(fitted, asked, monkeypatch) -> None:
    gaps = asked.groupby("unique_id", sort=False).tail(60).groupby("unique_id", sort=False).head(25).index
    last = asked.groupby("unique_id", sort=False).tail(1).index
    holed = asked.assign(y=asked["y"].where(~asked.index.isin([*gaps, *last])))
    np.testing.assert_allclose(
        fitted.forecast(holed).quantiles, untrimmed(fitted, monkeypatch, holed), rtol=1e-9, atol=1e-9
    )


def test_a_model_that_reads_everything_is_given_everything_and_so_are_intraday_bars(daily, hourly) -> None:
    assert Naive(5).lookback is None
    model = HAR(5).fit(hourly)
    seen: list[int] = []
    point = model._point
    model._point = lambda fit, history, future: (seen.append(len(history.y)), point(fit, history, future))[1]
    model.forecast(hourly)
    assert seen == [len(hourly)]
