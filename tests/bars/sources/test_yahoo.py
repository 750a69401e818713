"""The real yfinance client against a chart server on the loopback interface."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.schema import validate_bars
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import YahooConfig
from fints.bars.sources.yahoo import EXCHANGES, YahooSource
from fints.bars.store import BarStore
from fints.errors import (
    ConfigError,
    NoSuchRangeError,
    RateLimitedError,
    SourceError,
    TransientError,
    UnknownSymbolError,
)
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


def _loopback() -> ModuleType:
    # tests are no package (import mode importlib), so a module beside them is loaded by its path
    spec = importlib.util.spec_from_file_location("bars_loopback", Path(__file__).with_name("loopback.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bars_loopback"] = module
    spec.loader.exec_module(module)
    return module


loopback = _loopback()
chart, refusal = loopback.chart, loopback.refusal

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:yfinance"),
    pytest.mark.filterwarnings("ignore::FutureWarning:yfinance"),
]


@pytest.fixture
def server(monkeypatch, tmp_path) -> Iterator:
    """Point yfinance at a chart server; no request can leave the loopback interface."""
    import yfinance.base
    import yfinance.scrapers.history
    from yfinance import _http, data

    class Loopback(type(_http.new_session())):
        def request(self, method, url, *args, **kwargs):
            parts = urlsplit(url)
            if parts.hostname != "127.0.0.1":
                url = f"{chart_server.address}{parts.path}" + (f"?{parts.query}" if parts.query else "")
            return super().request(method, url, *args, **kwargs)

    with loopback.ChartServer() as chart_server:
        for module in (yfinance.base, yfinance.scrapers.history):
            monkeypatch.setattr(module, "_BASE_URL_", chart_server.address)
        client = data.YfData()
        session = Loopback(impersonate="chrome")
        monkeypatch.setattr(data, "new_session", lambda *args, **kwargs: session)
        monkeypatch.setattr(client, "_session", session)
        monkeypatch.setattr(client, "_cookie", True)
        monkeypatch.setattr(client, "_crumb", "crumb")
        data.YfData.cache_get.cache_clear()
        yield chart_server
        session.close()


@pytest.fixture
def yahoo(server, tmp_path) -> YahooSource:
    return YahooSource(YahooConfig(attempts=3, wait=0, timeout=5, cache=tmp_path / "cache"))


def rows(stamps: list[str], zone: str = "America/New_York", **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame({"stamp": [pd.Timestamp(stamp, tz=zone) for stamp in stamps]})
    frame = frame.assign(open=10.0, high=11.0, low=9.0, close=10.5, adjclose=10.25, volume=1000)
    return frame.assign(**columns)


OPENS = ["2018-12-20 09:30", "2018-12-21 09:30", "2018-12-24 09:30"]


def test_daily_bars_carry_their_session_hours_and_both_closes(server, yahoo) -> None:
    server.answers["SPY"] = [chart("SPY", rows(OPENS))]
    bars = yahoo.fetch(BarRequest("SPY")).bars
    pd.testing.assert_frame_equal(bars, validate_bars(bars))
    assert bars["session"].dt.strftime("%Y-%m-%d").tolist() == ["2018-12-20", "2018-12-21", "2018-12-24"]
    assert bars["end"].dt.strftime("%H:%M").tolist() == ["21:00", "21:00", "18:00"]
    assert bars[["close", "adj_close"]].to_numpy().tolist() == [[10.5, 10.25]] * 3
    assert bars[["exchange", "currency", "source"]].drop_duplicates().to_numpy().tolist() == [["XNYS", "USD", "yahoo"]]


def test_the_last_session_is_asked_for_by_the_day_after_it_and_rows_beyond_are_clipped(server, yahoo) -> None:
    server.answers["SPY"] = [chart("SPY", rows([*OPENS, "2018-12-26 09:30"]))]
    request = BarRequest("SPY", "1d", pd.Timestamp("2018-12-21"), pd.Timestamp("2018-12-24"))
    assert yahoo.fetch(request).bars["session"].dt.day.tolist() == [21, 24]
    asked = server.queries["SPY"][-1]
    new_york = [pd.Timestamp(int(asked[name]), unit="s", tz="America/New_York") for name in ("period1", "period2")]
    assert [f"{instant:%Y-%m-%d %H:%M}" for instant in new_york] == ["2018-12-21 00:00", "2018-12-25 00:00"]


def test_a_session_in_sydney_is_sydneys_date(server, yahoo) -> None:
    stamps = ["2018-12-20 10:00", "2018-12-21 10:00"]
    answer = chart(
        "BHP.AX",
        rows(stamps, "Australia/Sydney"),
        exchangeName="ASX",
        exchangeTimezoneName="Australia/Sydney",
        currency="AUD",
    )
    server.answers["BHP.AX"] = [answer]
    bars = yahoo.fetch(BarRequest("BHP.AX")).bars
    assert bars["session"].dt.day.tolist() == [20, 21]
    assert bars["start"].dt.strftime("%Y-%m-%d %H:%M").tolist() == ["2018-12-19 23:00", "2018-12-20 23:00"]
    assert bars["currency"].unique().tolist() == ["AUD"]


def test_hourly_bars_stand_on_the_grid_from_the_open(server, yahoo) -> None:
    stamps = [f"2018-11-23 {hour}:30" for hour in ("09", "10", "11", "12")]
    server.answers["SPY"] = [chart("SPY", rows(stamps), tradingPeriods={}, dataGranularity="1h")]
    server.answers["SPY"][0]["chart"]["result"][0]["meta"]["tradingPeriods"] = [
        [{"timezone": "EST", "start": 1542983400, "end": 1542996000, "gmtoffset": -18000}]
    ]
    bars = yahoo.fetch(BarRequest("SPY", "1h")).bars
    assert bars["end"].dt.strftime("%H:%M").tolist() == ["15:30", "16:30", "17:30", "18:00"]


def test_a_session_without_prices_comes_through_to_be_set_aside(server, yahoo, tmp_path) -> None:
    void = rows(OPENS)
    void.loc[1, ["open", "high", "low", "close", "adjclose"]] = np.nan
    server.answers["SPY"] = [chart("SPY", void)]
    store = BarStore(tmp_path / "store")
    report = ingest(yahoo, store, symbols=["SPY"], now=pd.Timestamp("2018-12-24 20:00", tz="UTC"))
    assert [(f.kind, f"{f.session:%m-%d}") for f in report.findings] == [
        ("missing_price", "12-21"),
        ("missing_sessions", "12-21"),
    ]


def test_a_series_without_any_volume_has_none(server, yahoo) -> None:
    server.answers["^VIX"] = [chart("^VIX", rows(OPENS, volume=0), exchangeName="WCB")]
    assert yahoo.fetch(BarRequest("^VIX")).bars["volume"].isna().all()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("rate limit", RateLimitedError),
        ("server error", TransientError),
        ("no body", TransientError),
        ("maintenance", TransientError),
        ("no result", TransientError),
        ("half an answer", TransientError),
    ],
)
def test_a_fault_of_the_server_is_tried_again_and_never_means_that_a_symbol_is_gone(
    server, yahoo, answer, error
) -> None:
    server.answers["SPY"] = [answer]
    with pytest.raises(error, match="Yahoo, 'SPY'"):
        yahoo.fetch(BarRequest("SPY"))
    assert len(server.queries["SPY"]) >= 3


@pytest.mark.parametrize("fault", ["server error", "rate limit", "half an answer", "no result"])
def test_a_fault_that_passes_does_no_harm(server, yahoo, fault) -> None:
    server.answers["SPY"] = [chart("SPY", rows(OPENS))]
    yahoo.fetch(BarRequest("SPY"))  # the time zone is known from here on
    server.answers["SPY"] = [fault, fault, chart("SPY", rows(OPENS))]
    assert len(yahoo.fetch(BarRequest("SPY")).bars) == 3


def test_a_symbol_that_the_server_does_not_know_is_asked_for_once(server, yahoo) -> None:
    with pytest.raises(UnknownSymbolError, match="GONE"):
        yahoo.fetch(BarRequest("GONE"))


def test_a_known_symbol_of_which_the_server_says_that_it_is_gone(server, yahoo) -> None:
    server.answers["SPY"] = [chart("SPY", rows(OPENS))]
    yahoo.fetch(BarRequest("SPY"))
    server.answers["SPY"] = [refusal("Not Found", "No data found, symbol may be delisted")]
    with pytest.raises(UnknownSymbolError, match="may be delisted"):
        yahoo.fetch(BarRequest("SPY"))


def test_a_range_that_the_server_does_not_hold_is_no_lost_symbol(server, yahoo) -> None:
    server.answers["SPY"] = [chart("SPY", rows(OPENS))]
    yahoo.fetch(BarRequest("SPY"))
    server.answers["SPY"] = [
        refusal("Unprocessable Entity", "15m data not available. The requested range must be within the last 60 days.")
    ]
    with pytest.raises(NoSuchRangeError, match="last 60 days"):
        yahoo.fetch(BarRequest("SPY", "15m"))


def test_an_answer_for_another_symbol_is_thrown_away(server, yahoo) -> None:
    server.answers["SPY"] = [chart("QQQ", rows(OPENS))]
    with pytest.raises(SourceError, match="asked for 'SPY' and answered for 'QQQ'"):
        yahoo.fetch(BarRequest("SPY"))


def test_an_exchange_without_a_calendar_has_to_be_named(server, yahoo) -> None:
    answer = chart("X.YZ", rows(OPENS, "Europe/Rome"), exchangeName="QQQ", exchangeTimezoneName="Europe/Rome")
    server.answers["X.YZ"] = [answer]
    with pytest.raises(ConfigError, match="set the option `exchange`"):
        yahoo.fetch(BarRequest("X.YZ"))
    assert yahoo.fetch(BarRequest("X.YZ", exchange="XMIL")).bars["exchange"].unique().tolist() == ["XMIL"]


def test_an_interval_that_yahoo_lacks_is_refused_before_any_request(server, yahoo) -> None:
    with pytest.raises(NoSuchRangeError, match="no '12h' bars"):
        yahoo.fetch(BarRequest("SPY", "12h"))
    assert server.queries == {}


def test_the_switch_for_exceptions_is_put_back(server, yahoo) -> None:
    import yfinance

    server.answers["SPY"] = ["server error"]
    with pytest.raises(TransientError):
        yahoo.fetch(BarRequest("SPY"))
    assert yfinance.config.debug.hide_exceptions is True


@pytest.mark.parametrize("mic", sorted(set(EXCHANGES.values())))
def test_every_exchange_of_the_table_has_a_calendar(mic) -> None:
    assert get_calendar(mic).mic == mic
