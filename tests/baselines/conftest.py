from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.sessions import bar_grid, get_calendar


@pytest.fixture(scope="package")
def daily() -> pd.DataFrame:
    """Two persistent series on real sessions, with a weekday effect in the first."""
    rng = np.random.default_rng(7)
    sessions = get_calendar("XNYS").sessions("2016-01-01", "2018-12-31")
    parts = []
    for name, monday in (("A", -0.5), ("B", 0.0)):
        noise = rng.normal(size=len(sessions) + 200)
        y = np.convolve(noise, 0.9 ** np.arange(200), mode="valid")[: len(sessions)]
        y = y + monday * (sessions.day_of_week == 0)
        parts.append(pd.DataFrame({"unique_id": name, "ds": sessions, "y": y}))
    panel = pd.concat(parts, ignore_index=True)
    panel["exchange"], panel["interval"] = "XNYS", "1d"
    panel["cal_monday"] = (panel["ds"].dt.day_of_week == 0).astype(float)
    panel["cal_friday"] = (panel["ds"].dt.day_of_week == 4).astype(float)
    return panel


@pytest.fixture(scope="package")
def hourly() -> pd.DataFrame:
    """One series of hourly bars with a U-shaped session, over a half-day (2018-11-23)."""
    rng = np.random.default_rng(8)
    grid = bar_grid(get_calendar("XNYS"), "2018-06-01", "2018-12-14", "1h")
    shape = np.array([2.0, 1.0, 0.5, 0.2, 0.3, 0.8, 1.6])[grid["bar"]]
    y = shape + 0.1 * rng.normal(size=len(grid))
    return pd.DataFrame({"unique_id": "H", "ds": grid["ds"].to_numpy(), "y": y, "exchange": "XNYS", "interval": "1h"})
