"""Hourly bars with half-days and gaps: the session's own cycle on one clock, the week on the other."""

import numpy as np
import pandas as pd
import pytest

from fints import detect_periods
from fints.sessions import bar_grid, get_calendar


@pytest.fixture(scope="module")
def hourly():
    grid = bar_grid(get_calendar("XNYS"), "2016-01-04", "2018-12-31", "1h", "open")
    n, rng = len(grid), np.random.default_rng(0)
    day = (pd.DatetimeIndex(grid["session"]) - pd.Timestamp("1970-01-01")).days.to_numpy()
    bar = grid["bar"].to_numpy()
    noise = np.zeros(n)
    shock = rng.standard_normal(n)
    for t in range(1, n):
        noise[t] = 0.6 * noise[t - 1] + shock[t]
    smile = 2.0 * np.cos(2 * np.pi * (bar + 1) / 7) + np.cos(4 * np.pi * (bar + 1) / 7)
    week = 0.5 * np.cos(2 * np.pi * day / 7)
    frame = pd.DataFrame({"unique_id": "A", "ds": grid["ds"], "y": noise + smile + week})
    return frame.assign(exchange="XNYS", interval="1h")


@pytest.fixture(scope="module")
def found(hourly):
    holes = [*range(400, 404), *range(1500, 1700), 2500]
    return detect_periods(hourly.drop(index=holes))


def test_the_session_is_found_with_its_harmonics_and_the_week_on_the_calendar(found):
    session, week = sorted(found, key=lambda line: line.clock, reverse=True)
    assert session.clock == "session"
    assert session.period == pytest.approx(1.0, abs=1e-3)
    assert {1, 2} <= set(session.harmonics)
    assert np.isnan(session.other_period)
    assert week.clock == "calendar"
    assert week.period == pytest.approx(7.0, abs=0.02)


def test_gaps_and_half_days_are_said(found):
    method = next(iter(found)).method
    assert "slots interpolated linearly" in method
    assert "1 longer gaps left open (Lomb-Scargle)" in method
