from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fints.forecast import QUANTILES, Forecast
from fints.sessions import get_calendar


@cache
def _sessions() -> pd.DatetimeIndex:
    return get_calendar("XNYS").sessions("2016-01-04", "2019-12-31")


SHAPE = norm.ppf(QUANTILES)


@pytest.fixture(scope="package")
def panel() -> pd.DataFrame:
    """Two series with a level and noise, on real sessions."""
    rng = np.random.default_rng(11)
    sessions = get_calendar("XNYS").sessions("2016-01-04", "2018-12-31")
    parts = [
        pd.DataFrame({"unique_id": name, "ds": sessions, "y": level + rng.normal(size=len(sessions))})
        for name, level in (("A", 10.0), ("B", 20.0))
    ]
    return pd.concat(parts, ignore_index=True).assign(exchange="XNYS", interval="1d")


@dataclass
class Level:
    """Forecasts the mean of each history, off by a constant, with a spread of its own; can be told to fail."""

    label: str = "Level"
    off: float = 0.0
    spread: float = 1.0
    h: int = 5
    fails_from: int = 10**9
    rows: int = 0

    @property
    def name(self) -> str:
        return self.label

    def fit(self, panel):
        if len(panel) >= self.fails_from:
            raise ValueError("told to fail")
        self.rows = len(panel)
        self.fitted = panel
        return self

    def forecast(self, panel=None, *, at=None, known_at=None):
        history = self.fitted if panel is None else panel
        after = {
            name: _sessions().searchsorted(ds, "right") for name, ds in history.groupby("unique_id")["ds"].max().items()
        }
        future = pd.DataFrame(
            {
                "unique_id": np.repeat(list(after), self.h),
                "ds": np.concatenate([_sessions()[i : i + self.h] for i in after.values()]),
                "step": np.tile(np.arange(1, self.h + 1), len(after)),
            }
        )
        level = future["unique_id"].map(history.groupby("unique_id")["y"].mean()).to_numpy(float) + self.off
        keys = future[["unique_id", "ds", "step"]].reset_index(drop=True)
        return Forecast(keys, level, level[:, None] + self.spread * SHAPE)

    def predict(self, panel=None, *, at=None, known_at=None):
        return self.forecast(panel, at=at, known_at=known_at).to_wide(self.name)


@pytest.fixture(scope="package")
def level():
    return Level
