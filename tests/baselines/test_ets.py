from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from statsmodels.tsa.exponential_smoothing.ets import ETSModel

from fints.baselines import ETS, EWMA
from fints.baselines import ets as module
from fints.baselines.ets import EtsErrors
from fints.errors import SeriesError

if TYPE_CHECKING:
    import pandas as pd

PARAMETERS = {"N": [0.3], "A": [0.4, 0.05], "Ad": [0.4, 0.1, 0.9]}
OPTIONS = {"N": {}, "A": {"trend": "add"}, "Ad": {"trend": "add", "damped_trend": True}}


def one(panel: pd.DataFrame, name: str = "A") -> pd.DataFrame:
    return panel[panel["unique_id"] == name].reset_index(drop=True)


@pytest.mark.parametrize("trend", ["N", "A", "Ad"])
def test_forecasts_from_any_origin_are_those_of_smoothing_the_history_up_to_it(trend: str) -> None:
    u = np.random.default_rng(1).normal(size=150).cumsum()
    parameters = np.array(PARAMETERS[trend])
    origins = np.array([40, 99, 149])
    together = EtsErrors(trend, parameters).forecasts(u, origins, 6)  # type: ignore[arg-type]
    for row, origin in zip(together, origins, strict=True):
        alone = ETSModel(u[: origin + 1], initialization_method="heuristic", **OPTIONS[trend]).smooth(parameters)
        np.testing.assert_allclose(row, alone.forecast(6), atol=1e-10)


@pytest.mark.parametrize("trend", ["N", "A", "Ad"])
def test_innovations_are_the_one_step_errors_and_linear_in_the_series(trend: str) -> None:
    u = np.random.default_rng(2).normal(size=(80, 2)).cumsum(axis=0)
    errors = EtsErrors(trend, np.array(PARAMETERS[trend]))  # type: ignore[arg-type]
    found = errors.innovations(u)
    one_step = errors.forecasts(u[:, 0], np.arange(79), 1)[:, 0]
    np.testing.assert_allclose(found[1:, 0], u[1:, 0] - one_step, atol=1e-10)
    mixed = errors.innovations(2 * u[:, :1] - 3 * u[:, 1:])
    np.testing.assert_allclose(mixed[:, 0], 2 * found[:, 0] - 3 * found[:, 1], atol=1e-9)


def test_without_terms_and_trend_it_is_exponential_smoothing(daily: pd.DataFrame) -> None:
    panel = one(daily)
    model = ETS(4, calendar=False).fit(panel)
    assert model.chosen() == {"A": "ETS(A,N,N)"}
    np.testing.assert_allclose(model.forecast().mean, EWMA(4).fit(panel).forecast().mean, atol=0.02)


def test_a_trend_is_found_and_carried_on(daily: pd.DataFrame) -> None:
    rng = np.random.default_rng(3)
    panel = one(daily).assign(y=lambda d: 0.1 * np.arange(len(d)) + 0.3 * rng.normal(size=len(d)))
    model = ETS(10, calendar=False).fit(panel)
    assert model.chosen() == {"A": "ETS(A,A,N)"}
    assert np.diff(model.forecast().mean) == pytest.approx(0.1, abs=0.01)


def test_terms_are_found_beside_the_smoothing(daily: pd.DataFrame) -> None:
    forecast = ETS(20).fit(daily).forecast()
    frame = forecast.frame.assign(mean=forecast.mean, monday=forecast.frame["ds"].dt.day_of_week == 0)
    by_day = frame.groupby(["unique_id", "monday"])["mean"].mean().unstack()
    assert by_day.loc["A", True] - by_day.loc["A", False] == pytest.approx(-0.5, abs=0.2)
    assert by_day.loc["B", True] - by_day.loc["B", False] == pytest.approx(0.0, abs=0.2)


def test_where_nothing_converges_plain_smoothing_stands_in_and_says_so(
    daily: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_estimate", lambda u, trend: None)
    panel = one(daily)
    model = ETS(3, calendar=False).fit(panel)
    assert model.fallbacks["A"].startswith("no exponential smoothing converged")
    np.testing.assert_allclose(model.forecast().mean, EWMA(3).fit(panel).forecast().mean, atol=1e-3)


def test_an_estimation_that_raises_counts_as_one_that_did_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("singular")

    monkeypatch.setattr(ETSModel, "fit", broken)
    assert module._estimate(np.arange(60.0), "N") is None


def test_a_series_that_is_too_short_is_named(daily: pd.DataFrame) -> None:
    with pytest.raises(SeriesError, match="A: 52 known values are too few for ETS with h = 3"):
        ETS(3, calendar=False).fit(one(daily).head(52))
    ETS(3, calendar=False).fit(one(daily).head(53))
