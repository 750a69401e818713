from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.baselines import TimeOfDay
from fints.errors import ConfigError, SeriesError
from fints.sessions import bar_grid, get_calendar

SHAPE = np.array([2.0, 1.0, 0.5, 0.2, 0.3, 0.8, 1.6])


def planted(rho: float, until: str, seed: int = 4, noise: float = 0.02) -> pd.DataFrame:
    """Hourly bars: a U per session, and a level that forgets by `rho` a bar."""
    grid = bar_grid(get_calendar("XNYS"), "2015-01-02", until, "1h")
    rng = np.random.default_rng(seed)
    level = np.zeros(len(grid))
    shocks = rng.normal(size=len(grid))
    for t in range(1, len(grid)):
        level[t] = rho * level[t - 1] + shocks[t]
    y = SHAPE[grid["bar"]] + 0.3 * level + noise * rng.normal(size=len(grid))
    return pd.DataFrame({"unique_id": "H", "ds": grid["ds"].to_numpy(), "y": y, "exchange": "XNYS", "interval": "1h"})


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_finds_how_fast_a_level_is_forgotten(rho: float) -> None:
    panel = planted(rho, "2018-11-20")
    model = TimeOfDay(14).fit(panel)
    a, decay = model._fits["H"].coefficients
    steps = np.arange(1, 15)
    # what is left of the last bar's deviation, all told, follows the law that was planted
    left = (a * decay ** steps[:, None]).sum(axis=1)
    np.testing.assert_allclose(left, rho**steps, atol=0.12)


def test_far_ahead_only_the_mean_of_the_time_of_day_is_left() -> None:
    panel = planted(0.5, "2018-11-20")
    forecast = TimeOfDay(7).fit(panel).forecast(at="2019-03-01")
    at_time = panel.groupby(panel["ds"].dt.time)["y"]
    expected = [at_time.get_group(stamp.time()).tail(20).mean() for stamp in forecast.frame["ds"]]
    np.testing.assert_allclose(forecast.mean, expected, atol=0.02)


def test_a_half_day_has_the_first_bars_and_the_next_open_is_an_open() -> None:
    panel = planted(0.3, "2018-11-20")
    forecast = TimeOfDay(18).fit(panel).forecast()
    frame = forecast.frame.assign(mean=forecast.mean)
    half = frame[frame["ds"].dt.date == pd.Timestamp("2018-11-23").date()]
    monday = frame[frame["ds"].dt.date == pd.Timestamp("2018-11-26").date()]
    assert len(half) == 4
    assert half["mean"].argmax() == 0
    assert monday["mean"].iloc[0] == pytest.approx(2.0, abs=0.3)
    assert monday["mean"].iloc[3] == pytest.approx(0.2, abs=0.3)


def test_one_history_is_forecast_alike_whatever_came_before_its_window() -> None:
    panel = planted(0.7, "2018-11-20")
    model = TimeOfDay(7).fit(panel)
    # the means reach 20 sessions back, over half-days too
    short = panel.tail(22 * 7).reset_index(drop=True)
    np.testing.assert_allclose(model.forecast(short).mean, model.forecast(panel).mean, atol=1e-2)


def test_daily_bars_have_a_decaying_level_too(daily: pd.DataFrame) -> None:
    panel = daily[daily["unique_id"] == "B"].reset_index(drop=True)
    forecast = TimeOfDay(30).fit(panel).forecast()
    target, last = panel["y"].tail(20).mean(), panel["y"].iloc[-1]
    assert abs(forecast.mean[-1] - target) < abs(forecast.mean[0] - target) < abs(last - target) + 1e-9


def test_refuses_what_cannot_be(hourly: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match="at least one session"):
        TimeOfDay(3, sessions=0)
    with pytest.raises(SeriesError, match=r"H: 150 known values are too few for TimeOfDay with h = 3; it needs 165"):
        TimeOfDay(3).fit(hourly.head(150))
    TimeOfDay(3).fit(hourly.head(165))
