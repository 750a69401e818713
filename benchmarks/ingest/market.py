"""A made-up market: many symbols with decades of daily bars, as a chart server tells them and as a bars frame."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from fints.bars.schema import conform_bars
from fints.bars.sources.base import daily_bounds
from fints.sessions.calendars import get_calendar

LAST = "2018-12-31"


def symbols(count: int) -> list[str]:
    """Return names."""
    return [f"S{number:04d}" for number in range(count)]


def rows(number: int, years: int) -> pd.DataFrame:
    """Return the daily rows of one symbol: ``session, open, high, low, close, adj_close, volume``."""
    sessions = get_calendar("XNYS").sessions(pd.Timestamp(LAST) - pd.DateOffset(years=years), LAST)
    random = np.random.default_rng(number)
    close = 100 * np.exp(np.cumsum(random.normal(0, 0.01, len(sessions))))
    opened = close * np.exp(random.normal(0, 0.003, len(sessions)))
    prices = {
        "open": opened,
        "high": np.maximum(opened, close) * 1.004,
        "low": np.minimum(opened, close) * 0.996,
        "close": close,
        "adj_close": 0.9 * close,
    }
    told = {name: np.round(price, 4) for name, price in prices.items()}
    return pd.DataFrame({"session": sessions, **told, "volume": random.integers(10**6, 10**8, len(sessions))})


def answer(number: int, years: int) -> bytes:
    """Return what the chart server says of one symbol."""
    table = rows(number, years)
    stamps = (pd.DatetimeIndex(table["session"]) + pd.Timedelta(hours=9.5)).tz_localize("America/New_York")
    meta = {
        "symbol": symbols(number + 1)[-1],
        "currency": "USD",
        "exchangeName": "NYQ",
        "instrumentType": "EQUITY",
        "exchangeTimezoneName": "America/New_York",
        "dataGranularity": "1d",
        "validRanges": ["1d", "max"],
    }
    quote = {name: table[name].tolist() for name in ("open", "high", "low", "close", "volume")}
    result = {
        "meta": meta,
        "timestamp": [int(stamp.timestamp()) for stamp in stamps],
        "indicators": {"quote": [quote], "adjclose": [{"adjclose": table["adj_close"].tolist()}]},
    }
    return json.dumps({"chart": {"result": [result], "error": None}}).encode()


def bars(count: int, years: int, fetched_at: pd.Timestamp) -> pd.DataFrame:
    """Return the bars of all symbols."""
    parts = [rows(number, years).assign(symbol=name) for number, name in enumerate(symbols(count))]
    bounds = daily_bounds(pd.DatetimeIndex(parts[0]["session"]), get_calendar("XNYS"))
    table = pd.concat([part.assign(start=bounds["start"], end=bounds["end"]) for part in parts], ignore_index=True)
    constants = {"interval": "1d", "exchange": "XNYS", "currency": "USD", "source": "bench", "fetched_at": fetched_at}
    return conform_bars(table.assign(**constants))
