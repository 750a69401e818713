"""What libraries make of tables and of tickers, and what is stored all the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import yaml

from fints.bars.ingest import ingest
from fints.bars.schema import BAR_COLUMNS
from fints.bars.sources import make_source, parse_source
from fints.bars.store import BarStore
from fints.errors import ConfigError
from fints.settings import load_settings
from tests.bars.sources.loopback import chart
from tests.bars.sources.provider import Provider, Reply
from tests.bars.sources.wired import wired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bars.sources.loopback import ChartServer

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:yfinance"),
    pytest.mark.filterwarnings("ignore::FutureWarning:yfinance"),
]

NOW = pd.Timestamp("2018-12-14 23:00", tz="UTC")
TICKERS = [
    "NA",
    "NAN",
    "nan",
    "N/A",
    "TRUE",
    "False",
    "1E5",
    "1e5",
    "0700",
    "700",
    "NULL",
    "None",
    "inf",
    "-",
    "NO",
    "1_0",
]


@pytest.fixture
def charts(monkeypatch) -> Iterator[ChartServer]:
    with wired(monkeypatch) as server:
        yield server


@pytest.mark.parametrize("symbols", [["AAA"], ["AAA", "BBB", "CCC"]])
def test_kind_04_one_symbol_or_many_give_one_long_schema_with_raw_and_adjusted_close(charts, tmp_path, symbols) -> None:
    stamps = [pd.Timestamp(f"2018-12-{day} 09:30", tz="America/New_York") for day in (13, 14)]
    for place, symbol in enumerate(symbols):
        close = [100.5 + place, 101.25 + place]
        prices = pd.DataFrame({"stamp": stamps, "open": close, "high": close, "low": close, "close": close})
        charts.answers[symbol] = [chart(symbol, prices.assign(adjclose=[99.125 + place, 101.25 + place], volume=1000))]
    source = make_source(parse_source({"kind": "yahoo", "cache": str(tmp_path / "cache"), "wait": 0}))
    store = BarStore(tmp_path / "store")
    assert ingest(source, store, symbols=symbols, now=NOW).failed == {}
    bars = store.read()
    assert list(bars.columns) == list(BAR_COLUMNS)
    assert bars.columns.nlevels == 1
    wanted = [[s, 100.5 + p, 99.125 + p] for p, s in enumerate(symbols)]
    wanted += [[s, 101.25 + p, 101.25 + p] for p, s in enumerate(symbols)]
    assert bars[["symbol", "close", "adj_close"]].to_numpy().tolist() == sorted(
        wanted, key=lambda row: (row[0], row[1])
    )


def stored(settings: dict[str, object], root, symbols: list[str] | None = None) -> list[str]:
    store = BarStore(root / f"store-{settings['kind']}")
    report = ingest(make_source(parse_source(settings)), store, symbols=symbols, now=NOW)
    assert report.failed == {}
    assert store.verify() == []
    assert [len(store.read(symbol)) for symbol in store.symbols()] == [1] * len(store.symbols())
    return store.symbols()


def test_kind_26_tickers_that_look_like_something_else_stay_text_in_a_column(tmp_path) -> None:
    rows = "".join(f'"{ticker}",2018-12-14,{1 + place}\n' for place, ticker in enumerate(TICKERS))
    (tmp_path / "all.csv").write_text("symbol,date,close\n" + rows)
    assert stored({"kind": "files", "path": str(tmp_path / "all.csv")}, tmp_path) == sorted(TICKERS)
    (tmp_path / "in").mkdir()
    frame = pd.DataFrame({"symbol": TICKERS, "date": "2018-12-14", "close": 1.5})
    frame.to_parquet(tmp_path / "in" / "all.parquet")
    assert stored({"kind": "folder", "path": str(tmp_path / "in"), "quiet": 0}, tmp_path) == sorted(TICKERS)


def test_kind_26_spaces_that_pad_a_column_are_no_part_of_a_ticker(tmp_path) -> None:
    (tmp_path / "all.csv").write_text(
        'symbol,date,close\n  AAA,2018-12-14,1\nBBB  ,2018-12-14,2\n" CCC ",2018-12-14,3\n'
    )
    assert stored({"kind": "files", "path": str(tmp_path / "all.csv")}, tmp_path) == ["AAA", "BBB", "CCC"]


def test_kind_26_tickers_that_look_like_something_else_stay_text_as_file_names(tmp_path) -> None:
    names = [ticker for ticker in TICKERS if "/" not in ticker] + [" A ", "^GSPC", "BRK-B", "7203.T"]
    folder = tmp_path / "in"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.csv").write_text("date,close\n2018-12-14,1.5\n")
    assert stored({"kind": "folder", "path": str(folder), "quiet": 0}, tmp_path) == sorted(names)
    assert stored({"kind": "files", "path": str(folder)}, tmp_path) == sorted(names)


def test_kind_26_tickers_that_look_like_something_else_stay_text_in_json(tmp_path) -> None:
    with Provider() as provider:
        rows = [[{"symbol": ticker, "date": "2018-12-14", "close": 1.5}] for ticker in TICKERS]
        provider.replies = [Reply(json.dumps(row).encode()) for row in rows]
        settings = {"kind": "http", "url": f"{provider.address}/{{symbol}}"}
        assert stored(settings, tmp_path, TICKERS) == sorted(TICKERS)


def test_kind_26_quoted_tickers_stay_text_in_the_settings(tmp_path) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text("symbols: [" + ", ".join(f'"{ticker}"' for ticker in TICKERS) + "]\n")
    assert load_settings(path).symbols == tuple(TICKERS)


@pytest.mark.parametrize("ticker", ["NO", "TRUE", "1E5", "1.5", "0700", "NULL", "2018-12-14", "~"])
@pytest.mark.parametrize(
    "place",
    [
        "symbols: [{}]",
        "source: {{kind: files, path: x, symbol: {}}}",
        "source: {{kind: synthetic, names: [{}]}}",
        "source: {{kind: chain, sources: [{{kind: yahoo}}, {{kind: sample, symbols: {{A: {}}}}}]}}",
    ],
)
def test_kind_26_a_ticker_that_yaml_turned_into_something_else_is_refused_with_the_cure(
    tmp_path, ticker, place
) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text(place.format(ticker) + "\n")
    read = yaml.safe_load(ticker)
    if isinstance(read, str):  # 1E5 without a point is text to YAML 1.1
        assert read == ticker
        assert load_settings(path)
    elif read is None and "symbol: " in place:
        assert load_settings(path).source.symbol is None
    else:
        with pytest.raises(ConfigError, match=r"put it in quotes|valid string"):
            load_settings(path)
