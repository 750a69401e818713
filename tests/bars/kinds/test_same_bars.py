"""The same prices through every source are the same bars in the store, bit by bit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.schema import BAR_COLUMNS
from fints.bars.sources import make_source, parse_source
from fints.bars.sources.sample import DEFAULT_SYMBOLS, sample_bars
from fints.bars.store import BarStore
from fints.sessions import bar_grid, get_calendar
from tests.bars.sources.loopback import chart, intraday
from tests.bars.sources.provider import Provider, Reply
from tests.bars.sources.wired import wired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bars.sources.loopback import ChartServer

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:yfinance"),
    pytest.mark.filterwarnings("ignore::FutureWarning:yfinance"),
]

PRICES = ["open", "high", "low", "close", "adj_close", "volume"]
COMPARED = [name for name in BAR_COLUMNS if name not in {"source", "fetched_at"}]
NOW = pd.Timestamp("2019-01-01 12:00", tz="UTC")


@pytest.fixture
def charts(monkeypatch) -> Iterator[ChartServer]:
    with wired(monkeypatch) as server:
        yield server


@pytest.fixture
def store_of(tmp_path):
    """Return a function from settings of a source to the bars that an ingest of it stores."""

    def read(settings: dict[str, object], symbols: list[str], interval: str = "1d") -> pd.DataFrame:
        store = BarStore(tmp_path / f"store-{settings['kind']}")
        report = ingest(make_source(parse_source(settings)), store, symbols=symbols, interval=interval, now=NOW)
        assert report.failed == {}
        assert store.verify() == []
        return store.read(interval=interval)

    return read


def yahoo(tmp_path) -> dict[str, object]:
    return {"kind": "yahoo", "cache": str(tmp_path / "cache"), "timeout": 5, "wait": 0}


def table(bars: pd.DataFrame) -> pd.DataFrame:
    return bars[PRICES].assign(date=bars["session"].dt.strftime("%Y-%m-%d"))


def assert_same_bits(left: pd.DataFrame, right: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(left[COMPARED], right[COMPARED], check_exact=True)
    for name in PRICES[:-1]:
        np.testing.assert_array_equal(left[name].to_numpy().view(np.int64), right[name].to_numpy().view(np.int64))


def test_daily_bars_of_sample_files_folder_provider_and_yahoo_are_the_same(charts, store_of, tmp_path) -> None:
    symbols = list(DEFAULT_SYMBOLS)
    bars = {symbol: part.reset_index(drop=True) for symbol, part in sample_bars().groupby("symbol")}
    whole = store_of({"kind": "sample"}, symbols)
    assert len(whole) == 2 * 5031
    (tmp_path / "in").mkdir()
    columns = pd.concat([table(part).assign(symbol=symbol) for symbol, part in bars.items()])
    columns.to_csv(tmp_path / "in" / "all.csv", index=False)
    for symbol, part in bars.items():
        opens = pd.to_datetime(part["start"]).dt.tz_convert("America/New_York")
        prices = part[PRICES].rename(columns={"adj_close": "adjclose"}).assign(stamp=opens)
        charts.answers[symbol] = [chart(symbol, prices, exchangeName="SNP")]
    with Provider() as provider:
        provider.replies = [Reply(json.dumps(table(bars[symbol]).to_dict("records")).encode()) for symbol in symbols]
        others = [
            store_of({"kind": "files", "path": str(tmp_path / "in")}, symbols),
            store_of({"kind": "folder", "path": str(tmp_path / "in"), "quiet": 0}, symbols),
            store_of({"kind": "http", "url": f"{provider.address}/{{symbol}}"}, symbols),
            store_of(yahoo(tmp_path), symbols),
        ]
    for other in others:
        assert_same_bits(other, whole)


def test_hourly_bars_of_a_file_and_of_yahoo_are_the_same_over_a_half_day_and_a_clock_change(
    charts, store_of, tmp_path
) -> None:
    calendar = get_calendar("XNYS")
    spans = [("2018-03-08", "2018-03-13"), ("2018-11-20", "2018-11-27")]
    grid = pd.concat([bar_grid(calendar, *span, "1h") for span in spans], ignore_index=True)
    close = 100 * np.exp(np.cumsum(np.random.default_rng(3).normal(0, 0.01, len(grid))))
    bars = pd.DataFrame({"open": close * 0.999, "high": close * 1.01, "low": close / 1.01, "close": close})
    bars = bars.assign(volume=np.arange(len(grid)) * 1_000_000_007 + 1)
    bars.assign(datetime=grid["ds"]).to_csv(tmp_path / "SPY.csv", index=False)
    opens = pd.to_datetime(grid["start"]).dt.tz_convert("America/New_York")
    days = calendar.schedule(grid["session"].min(), grid["session"].max()).loc[grid["session"].unique()]
    zone = "America/New_York"
    hours = [
        (f"{o.tz_convert(zone):%Y-%m-%d %H:%M}", f"{c.tz_convert(zone):%Y-%m-%d %H:%M}")
        for o, c in zip(days["open"], days["close"], strict=True)
    ]
    charts.answers["SPY"] = [intraday(chart("SPY", bars.assign(stamp=opens, adjclose=close)), hours)]
    files = store_of({"kind": "files", "path": str(tmp_path / "SPY.csv")}, ["SPY"], "1h")
    assert len(files) == len(grid)
    assert_same_bits(store_of(yahoo(tmp_path), ["SPY"], "1h"), files)
