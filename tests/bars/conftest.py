"""Small bars frames, spelled out where a test reads them."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from fints.bars.schema import conform_bars
from fints.bars.sources.base import daily_bounds
from fints.sessions.calendars import get_calendar

MakeBars = Callable[..., pd.DataFrame]


@pytest.fixture
def make_bars() -> MakeBars:
    """Return a function from dates and closes to daily XNYS bars; the other prices stand around the close."""

    def make(closes: dict[str, float], symbol: str = "AAA", **columns: object) -> pd.DataFrame:
        rows = daily_bounds(pd.DatetimeIndex(list(closes)), get_calendar("XNYS"))
        close = pd.Series(list(closes.values()), dtype="float64")
        rows = rows.assign(
            symbol=symbol,
            interval="1d",
            exchange="XNYS",
            open=close,
            high=close + 1,
            low=close - 1,
            close=close,
            adj_close=close,
            volume=1000,
            currency="USD",
            source="test",
            fetched_at=pd.Timestamp("2024-01-01", tz="UTC"),
        )
        return conform_bars(rows.assign(**columns))

    return make
