"""The real yfinance client against a chart server on the loopback interface."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.quality import check_bars
from fints.bars.schema import validate_bars
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import YahooConfig
from fints.bars.sources.yahoo import EXCHANGES, YahooSource
from fints.bars.store import BarStore
from fints.errors import (
    ConfigError,
    FintsError,
    NoSuchRangeError,
    RateLimitedError,
    SourceError,
    TransientError,
    UnknownSymbolError,
)
from fints.sessions.calendars import get_calendar
from tests.bars.sources.loopback import CUTS, REFUSALS, ChartServer, chart, honest, intraday, refusal
from tests.bars.sources.wired import wired

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:yfinance"),
    pytest.mark.filterwarnings("ignore::FutureWarning:yfinance"),
]


@pytest.fixture
def server(monkeypatch) -> Iterator[ChartServer]:
    with wired(monkeypatch) as chart_server:
        yield chart_server


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
    request = BarRequest("SPY", "1d", pd.Timestamp("2018-12-21"), pd.Timestamp("2018-12-24"), "XNYS")
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
    answer = chart("SPY", rows(stamps), dataGranularity="1h")
    server.answers["SPY"] = [intraday(answer, [("2018-11-23 09:30", "2018-11-23 13:00")])]
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


@pytest.mark.parametrize("fault", sorted({*REFUSALS, *CUTS} - {"rate limit"}))
def test_a_fault_of_the_server_may_pass_and_never_means_that_a_symbol_is_gone(server, yahoo, fault, tmp_path) -> None:
    server.answers["SPY"] = [fault]
    hasty = YahooSource(YahooConfig(timeout=0.3, cache=tmp_path / "cache")) if fault == "hang" else yahoo
    with pytest.raises(TransientError, match="Yahoo, 'SPY'"):
        hasty.fetch(BarRequest("SPY"))
    server.answers["SPY"] = [chart("SPY", rows(OPENS))]
    assert len(yahoo.fetch(BarRequest("SPY")).bars) == 3


def test_too_many_requests_are_told_apart(server, yahoo) -> None:
    server.answers["SPY"] = ["rate limit"]
    with pytest.raises(RateLimitedError, match="Yahoo, 'SPY'"):
        yahoo.fetch(BarRequest("SPY"))


def test_without_a_cookie_one_is_fetched_and_a_refused_crumb_does_no_harm(monkeypatch, tmp_path) -> None:
    for crumb in ("crumb", "rate limit"):
        with wired(monkeypatch, cookie=False) as server:
            server.crumb = crumb
            server.answers["SPY"] = [chart("SPY", rows(OPENS))]
            source = YahooSource(YahooConfig(timeout=5, cache=tmp_path / crumb))
            assert len(source.fetch(BarRequest("SPY")).bars) == 3
            assert "/" in server.targets


def test_a_symbol_costs_one_request(server, yahoo) -> None:
    server.answers["SPY"] = [chart("SPY", rows(OPENS))]
    yahoo.fetch(BarRequest("SPY"))
    assert [target.partition("?")[0] for target in server.targets] == ["/v8/finance/chart/SPY"]


def test_a_symbol_that_the_server_does_not_know_is_known_as_such_from_the_first_time(server, yahoo) -> None:
    for symbol in ("GONE", "GONE2", "GONE3"):
        with pytest.raises(UnknownSymbolError, match=f"'{symbol}'.*may be delisted"):
            yahoo.fetch(BarRequest(symbol))


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


def test_actions_come_with_the_bars(server, yahoo) -> None:
    answer = chart(
        "SPY",
        rows(OPENS),
        dividends={"2018-12-21 09:30": 0.5, "2018-12-10 09:30": 0.4, "2018-12-26 09:30": 0.6},
        splits={"2018-12-24 09:30": (4, 1)},
        gains={"2018-12-21 09:30": 0.1},
        instrumentType="ETF",
    )
    server.answers["SPY"] = [answer]
    delivery = yahoo.fetch(BarRequest("SPY", "1d", None, pd.Timestamp("2018-12-26"), "XNYS"))
    assert delivery.bars["session"].dt.day.tolist() == [20, 21, 24]
    told = delivery.actions.set_index(["session", "kind"])["value"]
    assert {(day.day, kind): value for (day, kind), value in told.items()} == {
        (21, "dividend"): 0.5,
        (21, "capital_gain"): 0.1,
        (24, "split"): 4.0,
        (26, "dividend"): 0.6,  # of a session without a bar: still an action
    }
    assert set(delivery.actions["currency"]) == {"USD"}
    asked = BarRequest("SPY", "1d", pd.Timestamp("2018-12-24"), pd.Timestamp("2018-12-24"), "XNYS")
    server.answers["SPY"] = [honest(answer)]
    assert yahoo.fetch(asked).actions["kind"].tolist() == ["split"]


def test_an_action_that_cannot_be_is_left_out(server, yahoo) -> None:
    server.answers["SPY"] = [
        chart("SPY", rows(OPENS), dividends={"2018-12-21 09:30": -0.5}, splits={"2018-12-24 09:30": (4, 0)})
    ]
    delivery = yahoo.fetch(BarRequest("SPY"))
    assert (len(delivery.bars), len(delivery.actions)) == (3, 0)


def test_kind_06_a_day_told_twice_is_one_bar_and_equal_values_are_two_days(server, yahoo) -> None:
    twice = rows([*OPENS, "2018-12-24 16:00"])
    twice.loc[3, ["close", "high"]] = 10.9, 11.5
    server.answers["SPY"] = [chart("SPY", twice)]
    bars = yahoo.fetch(BarRequest("SPY")).bars
    assert bars["session"].dt.day.tolist() == [20, 21, 24]
    assert bars["close"].tolist() == [10.5, 10.5, 10.9]  # equal closes are no reason to drop a day


def test_kind_07_a_row_without_prices_on_a_holiday_is_no_bar(server, yahoo) -> None:
    void = rows(["2018-12-24 09:30", "2018-12-25 09:30", "2018-12-26 09:30"])
    void.loc[1, ["open", "high", "low", "close", "adjclose", "volume"]] = np.nan
    server.answers["SPY"] = [chart("SPY", void)]
    kept, findings = check_bars(yahoo.fetch(BarRequest("SPY")).bars)
    assert kept["session"].dt.day.tolist() == [24, 26]
    assert findings == []


CHANGES = {  # the sessions around both changes of the clock, and the opens in UTC
    ("SPY", "NYQ", "America/New_York", "09:30"): [("2018-03-09", "14:30"), ("2018-03-12", "13:30"),
                                                  ("2018-11-02", "13:30"), ("2018-11-05", "14:30")],
    ("VOD.L", "LSE", "Europe/London", "08:00"): [("2018-03-23", "08:00"), ("2018-03-26", "07:00"),
                                                 ("2018-10-26", "07:00"), ("2018-10-29", "08:00")],
    ("BHP.AX", "ASX", "Australia/Sydney", "10:00"): [("2018-03-29", "23:00"), ("2018-04-03", "00:00"),
                                                     ("2018-10-05", "00:00"), ("2018-10-08", "23:00")],
}  # fmt: skip


@pytest.mark.parametrize("interval", ["1d", "1h"])
@pytest.mark.parametrize("where", sorted(CHANGES))
def test_kind_15_sessions_keep_their_dates_and_opens_over_a_change_of_the_clock(server, yahoo, where, interval) -> None:
    symbol, code, zone, opening = where
    days = [day for day, _ in CHANGES[where]]
    answer = chart(
        symbol, rows([f"{day} {opening}" for day in days], zone), exchangeName=code, exchangeTimezoneName=zone
    )
    if interval == "1h":
        answer = intraday(answer, [(f"{day} {opening}", f"{day} 16:00") for day in days])
    server.answers[symbol] = [answer]
    bars = yahoo.fetch(BarRequest(symbol, interval)).bars
    assert bars["session"].dt.strftime("%Y-%m-%d").tolist() == days
    assert bars["start"].dt.strftime("%H:%M").tolist() == [at for _, at in CHANGES[where]]
    kept, _ = check_bars(bars)
    assert len(kept) == len(days)


def test_kind_15_a_zone_from_another_part_of_the_world_moves_no_session(server, yahoo) -> None:
    server.answers["SPY"] = [chart("SPY", rows(OPENS), exchangeTimezoneName="Pacific/Kiritimati")]
    with pytest.raises(TransientError, match=r"time zone Pacific/Kiritimati, but XNYS lies in America/New_York"):
        yahoo.fetch(BarRequest("SPY"))


def test_kind_16_bars_beyond_a_half_day_and_an_auction_stub_go_by_a_named_rule(server, yahoo) -> None:
    hours = ["09:30", "10:30", "11:30", "12:30", "13:00", "13:30"]
    answer = chart("SPY", rows([f"2018-11-23 {hour}" for hour in hours]))
    # the server's trading period does not know of the early close, so yfinance lets the rows through
    server.answers["SPY"] = [intraday(answer, [("2018-11-23 09:30", "2018-11-23 16:00")])]
    kept, findings = check_bars(yahoo.fetch(BarRequest("SPY", "1h")).bars)
    assert kept["end"].dt.strftime("%H:%M").tolist() == ["15:30", "16:30", "17:30", "18:00"]
    assert {finding.kind for finding in findings} == {"off_grid"}
    stub = chart(
        "VOD.L",
        rows(["2018-11-23 15:00", "2018-11-23 16:00", "2018-11-23 16:35"], "Europe/London"),
        exchangeName="LSE",
        exchangeTimezoneName="Europe/London",
    )
    server.answers["VOD.L"] = [intraday(stub, [("2018-11-23 08:00", "2018-11-23 17:00")], "30m")]
    kept, findings = check_bars(yahoo.fetch(BarRequest("VOD.L", "15m")).bars)
    assert kept["start"].dt.strftime("%H:%M").tolist() == ["15:00", "16:00"]
    assert [f.kind for f in findings if f.severity == "quarantine"] == ["off_grid"]


def sessions_ago(count: int) -> pd.Timestamp:
    today = pd.Timestamp.now("UTC").tz_localize(None).normalize()
    return get_calendar("XNYS").sessions(today - pd.Timedelta(days=3 * count + 10), today)[-count]


def test_kind_17_a_request_beyond_the_look_back_is_clipped_and_says_so(server, yahoo) -> None:
    recent = sessions_ago(5)
    answer = chart("SPY", rows([f"{recent:%Y-%m-%d} {hour}" for hour in ("09:30", "09:45")]))
    server.answers["SPY"] = [intraday(answer, [(f"{recent:%Y-%m-%d} 09:30", f"{recent:%Y-%m-%d} 16:00")], "15m")]
    request = BarRequest("SPY", "15m", sessions_ago(100), recent, "XNYS")
    delivery = yahoo.fetch(request)
    assert len(delivery.bars) == 2
    (note,) = delivery.notes
    earliest = pd.Timestamp.now("UTC").tz_localize(None).normalize() - pd.Timedelta(days=59)
    lost = len(get_calendar("XNYS").sessions(request.start, earliest - pd.Timedelta(days=1)))
    assert note.startswith(f"Yahoo serves 15m bars back to {earliest:%Y-%m-%d} only; the {lost} sessions from")
    asked = pd.Timestamp(int(server.queries["SPY"][0]["period1"]), unit="s", tz="America/New_York")
    assert asked.tz_localize(None) == earliest


def test_kind_17_a_request_wholly_beyond_the_look_back_is_not_sent(server, yahoo) -> None:
    request = BarRequest("SPY", "15m", pd.Timestamp("2018-12-03"), pd.Timestamp("2018-12-24"), "XNYS")
    with pytest.raises(NoSuchRangeError, match=r"15m bars of the last 59 days only.*Nothing was asked"):
        yahoo.fetch(request)
    assert server.targets == []


def test_kind_19_the_last_session_arrives_and_nothing_after_it(server, yahoo) -> None:
    server.answers["SPY"] = [honest(chart("SPY", rows([*OPENS, "2018-12-26 09:30"])))]
    for exchange in ("XNYS", None):
        request = BarRequest("SPY", "1d", pd.Timestamp("2018-12-20"), pd.Timestamp("2018-12-24"), exchange)
        assert yahoo.fetch(request).bars["session"].dt.day.tolist() == [20, 21, 24]


def test_kind_24_a_cache_that_another_program_locks_is_no_failure_of_a_symbol(monkeypatch, tmp_path, caplog) -> None:
    other = sqlite3.connect(tmp_path / "cookies.db", isolation_level=None)
    other.execute("CREATE TABLE mine (x INTEGER)")
    other.execute("BEGIN EXCLUSIVE")
    with wired(monkeypatch, cookie=False) as server:
        server.answers["SPY"] = [chart("SPY", rows(OPENS))]
        assert len(YahooSource(YahooConfig(timeout=5, cache=tmp_path)).fetch(BarRequest("SPY")).bars) == 3
    other.close()
    assert "a private one takes its place" in caplog.text


def test_kind_24_a_cache_that_fails_later_is_replaced_and_the_request_repeated(monkeypatch, tmp_path, caplog) -> None:
    with wired(monkeypatch, cookie=False) as server:
        server.answers["SPY"] = [chart("SPY", rows(OPENS))]
        source = YahooSource(YahooConfig(timeout=5, cache=tmp_path))
        source._client.prepare()
        other = sqlite3.connect(tmp_path / "cookies.db", isolation_level=None)
        (tmp_path / "cookies.db").write_bytes(b"this is no database" * 100)
        assert len(source.fetch(BarRequest("SPY")).bars) == 3
        other.close()
    assert "cache of yfinance cannot be used" in caplog.text


def test_kind_24_a_cache_where_no_folder_can_be_is_replaced(server, tmp_path, caplog) -> None:
    (tmp_path / "taken").write_text("a file")
    server.answers["SPY"] = [chart("SPY", rows(OPENS))]
    source = YahooSource(YahooConfig(timeout=5, cache=tmp_path / "taken" / "cache"))
    assert len(source.fetch(BarRequest("SPY")).bars) == 3
    assert "cannot be used" in caplog.text


@pytest.mark.parametrize("session", [ImportError("no module named curl_cffi"), object()])
def test_kind_24_a_session_that_cannot_be_used_is_said_before_any_fetch(monkeypatch, tmp_path, session) -> None:
    from yfinance import data

    def make(*args: object, **kwargs: object) -> object:
        if isinstance(session, Exception):
            raise session
        return session

    with wired(monkeypatch) as server:
        monkeypatch.setattr(data.SingletonMeta, "_instances", {})
        monkeypatch.setattr(data, "new_session", make)
        with pytest.raises(ConfigError, match=r"yfinance cannot make requests here .*pip install"):
            ingest(YahooSource(YahooConfig(attempts=1)), BarStore(tmp_path / "store"), symbols=["SPY", "QQQ"])
        assert server.targets == []


def test_kind_25_symbols_fetched_at_once_are_never_mixed(server, yahoo) -> None:
    names = [f"S{number}" for number in range(40)]
    for number, name in enumerate(names):
        server.answers[name] = [chart(name, rows(OPENS, close=10.0 + number / 100, volume=1000 + number))]
    server.answers["S7"] = [chart("S8", rows(OPENS))]  # as seen: an answer that belongs to another request
    server.latency = 0.01

    def fetched(name: str) -> pd.DataFrame | str:
        try:
            return yahoo.fetch(BarRequest(name)).bars
        except SourceError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        got = dict(zip(names, pool.map(fetched, names), strict=True))
    assert server.busiest > 1
    assert "asked for 'S7' and answered for 'S8'" in got.pop("S7")
    for name, bars in got.items():
        number = int(name[1:])
        assert bars[["symbol", "close", "volume"]].drop_duplicates().to_numpy().tolist() == [
            [name, 10.0 + number / 100, 1000 + number]
        ]


def test_kind_27_dates_beyond_the_calendar_are_refused_aloud(server, yahoo) -> None:
    answer = chart("SPY", rows(OPENS))
    for stamp in (16725225600, -9000000000):  # 2500-01-01, 1684
        answer["chart"]["result"][0]["timestamp"][:2] = [stamp, stamp + 86400]
        server.answers["SPY"] = [answer]
        with pytest.raises(TransientError, match="beyond the calendar of XNYS"):
            yahoo.fetch(BarRequest("SPY"))


@pytest.mark.parametrize(
    "symbol",
    ["../X", "A/B", "^GSPC", "BRK-B", "BTC-USD", "7203.T", "EURUSD=X", "A B", "A?B", "A#B", "A%2FB", "%2E%2E", "A+B",
     "A&B=C", "\U0001f642", "É", "NA", "1E5", "A;B", "..A", "//EVIL.EXAMPLE/A"],
)  # fmt: skip
def test_kind_28_the_server_sees_exactly_the_symbol(server, yahoo, symbol) -> None:
    server.answers[symbol] = [chart(symbol, rows(OPENS))]
    bars = yahoo.fetch(BarRequest(symbol)).bars
    assert set(bars["symbol"]) == {symbol}
    assert list(server.queries) == [symbol]


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("", "empty, padded"),
        ("  ", "empty, padded"),
        (" SPY", "empty, padded"),
        ("SPY\n", "empty, padded"),
        ("A\0B", "unprintable"),
        (".", "step of a path"),
        ("..", "step of a path"),
        ("spy", "write that"),
        ("ß", "'SS'"),
        ("US0378331005", "ISIN"),
    ],
)
def test_kind_28_a_symbol_that_would_become_another_is_refused_unasked(server, yahoo, symbol, message) -> None:
    with pytest.raises(ConfigError, match=message):
        yahoo.fetch(BarRequest(symbol))
    assert server.targets == []


def test_the_switch_for_exceptions_stays_on_while_another_thread_asks(server, yahoo) -> None:
    import yfinance

    server.answers = {"SLOW": ["server error"], "FAST": [chart("FAST", rows(OPENS))]}
    server.latency = 0.05

    def cause(symbol: str) -> str:
        try:
            yahoo.fetch(BarRequest(symbol))
        except FintsError as error:
            return type(error).__name__
        return ""

    with ThreadPoolExecutor(6) as pool:
        causes = list(pool.map(cause, ["SLOW", "FAST"] * 12))
    assert causes == ["TransientError", ""] * 12
    assert yfinance.config.debug.hide_exceptions is True


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("close", 10.5, "'close' is no list of 3 values but float"),
        ("volume", [1000, 1000], "'volume' is no list of 3 values of 2"),
        ("open", [10.0, True, 10.0], "'open' holds something that is no number"),
        ("high", [11.0, "11.0", 11.0], "'high' holds something that is no number"),
        ("stamp", [1545316200, "2018-12-21", 1545661800], "the stamps are no list of numbers"),
    ],
)
def test_a_structure_that_pandas_would_fill_in_is_refused(server, yahoo, column, values, message) -> None:
    answer = chart("SPY", rows(OPENS))
    (result,) = answer["chart"]["result"]
    if column == "stamp":
        result["timestamp"] = values
    else:
        result["indicators"]["quote"][0][column] = values
    server.answers["SPY"] = [answer]
    with pytest.raises(TransientError, match=message):
        yahoo.fetch(BarRequest("SPY"))


def test_an_answer_that_failed_is_not_repeated_from_memory(server, yahoo) -> None:
    server.answers["SPY"] = ["no result", chart("SPY", rows(OPENS))]
    with pytest.raises(TransientError):
        yahoo.fetch(BarRequest("SPY", "1d", None, pd.Timestamp("2018-12-24"), "XNYS"))
    assert len(yahoo.fetch(BarRequest("SPY", "1d", None, pd.Timestamp("2018-12-24"), "XNYS")).bars) == 3
