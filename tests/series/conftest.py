from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from fints.bars.sources.sample import sample_bars
from fints.sessions import bar_grid, get_calendar


@pytest.fixture(scope="session")
def sample() -> pd.DataFrame:
    return sample_bars()


@pytest.fixture(scope="session")
def make_bars() -> Callable[..., pd.DataFrame]:
    """Bars of a random walk on an exchange's real grid."""

    def make(symbol="AAA", exchange="XNYS", start="2018-01-01", end="2018-12-31", interval="1d", anchor="open"):
        calendar = get_calendar(exchange)
        grid = bar_grid(calendar, start, end, interval, anchor)
        rng = np.random.default_rng(len(symbol) + len(grid))
        close = 100 * np.exp(np.cumsum(rng.normal(0, 0.01, len(grid))))
        high = close * np.exp(rng.uniform(0.001, 0.02, len(grid)))
        low = close * np.exp(-rng.uniform(0.001, 0.02, len(grid)))
        return pd.DataFrame(
            {
                "symbol": symbol,
                "interval": interval,
                "exchange": calendar.mic,
                "session": grid["session"],
                "start": grid["start"],
                "end": grid["end"],
                "open": np.sqrt(high * low),
                "high": high,
                "low": low,
                "close": close,
                "adj_close": close * 0.5,
                "volume": pd.array(rng.integers(1_000, 1_000_000, len(grid)), dtype="Int64"),
                "currency": "USD",
                "source": "test",
                "fetched_at": pd.Timestamp("2020-01-01", tz="UTC"),
            }
        )

    return make
