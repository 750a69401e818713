"""Yahoo's kinds of failure through a whole ingest: the real yfinance client, a loopback server, a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fints.bars.ingest import IngestPolicy, ingest
from fints.bars.rounds import Patience
from fints.bars.sources.config import YahooConfig
from fints.bars.sources.yahoo import YahooSource
from fints.bars.store import BarStore
from fints.sessions.calendars import get_calendar
from tests.bars.sources.loopback import ChartServer, chart, honest, intraday, refusal
from tests.bars.sources.wired import wired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fints.bars.ingest import IngestReport

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:yfinance"),
    pytest.mark.filterwarnings("ignore::FutureWarning:yfinance"),
]


@pytest.fixture
def server(monkeypatch) -> Iterator[ChartServer]:
    with wired(monkeypatch) as chart_server:
        yield chart_server


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


@pytest.fixture
def yahoo(tmp_path) -> YahooSource:
    source = YahooSource(YahooConfig(timeout=5, attempts=3, wait=0, workers=3, cache=tmp_path / "cache"))
    source.patience = Patience(workers=3, attempts=3, pause=5.0, sleep=lambda seconds: None)
    return source


def rows(days: pd.DatetimeIndex, at: str = "09:30", zone: str = "America/New_York", **columns: object) -> pd.DataFrame:
    stamps = (days + pd.Timedelta(f"{at}:00")).tz_localize(zone)
    frame = pd.DataFrame({"stamp": stamps}).assign(open=10.0, high=11.0, low=9.0, close=10.5, adjclose=10.25)
    return frame.assign(volume=1000 + np.arange(len(days))).assign(**columns)


def spy(first: str, last: str, symbol: str = "SPY", **columns: object) -> dict:
    return chart(symbol, rows(get_calendar("XNYS").sessions(first, last), **columns))


def night(source: YahooSource, store: BarStore, when: str, *symbols: str, **policy: object) -> IngestReport:
    now = pd.Timestamp(when, tz="UTC")
    return ingest(source, store, symbols=symbols or ("SPY",), now=now, policy=IngestPolicy(**policy))


def test_kind_01_a_rate_limited_night_is_completed_by_the_next_one(server, yahoo, store) -> None:
    names = ("AAA", "BBB", "CCC", "DDD")
    for name in names:
        server.answers[name] = [honest(spy("2018-12-03", "2018-12-14", name))]
    server.answers["CCC"] = ["rate limit"]
    report = night(yahoo, store, "2018-12-14 22:00", *names)
    assert "CCC" in report.failed
    assert all("slow down" in cause or "too many requests" in cause for cause in report.failed.values())
    assert report.inactive == {}
    server.answers["CCC"] = [honest(spy("2018-12-03", "2018-12-14", "CCC"))]
    assert night(yahoo, store, "2018-12-15 22:00", *names).failed == {}
    assert store.symbols() == list(names)
    assert len(store.read()) == 36


def test_kind_01_a_limit_that_passes_costs_pauses_and_nothing_else(server, yahoo, store) -> None:
    names = [f"S{number}" for number in range(12)]
    for number, name in enumerate(names):
        good = honest(spy("2018-12-03", "2018-12-14", name))
        server.answers[name] = ["rate limit", "rate limit", good] if number == 5 else [good]
    report = night(yahoo, store, "2018-12-14 22:00", *names)
    assert report.failed == {}
    assert (report.version, sum(report.commit.inserted.values())) == (1, 12 * 9)


def test_kind_02_possibly_delisted_is_a_failed_fetch_and_the_bars_stay(server, yahoo, store) -> None:
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-13"))]
    night(yahoo, store, "2018-12-13 22:00")
    for trouble in ("no result", "bad gateway", refusal("Not Found", "No data found, symbol may be delisted")):
        server.answers["SPY"] = [trouble]
        report = night(yahoo, store, "2018-12-14 22:00")
        assert set(report.failed) == {"SPY"}
        assert (report.version, len(store.read("SPY")), dict(report.inactive)) == (1, 8, {})
    assert store.absences("yahoo")["SPY"].nights == 1


def test_kind_03_the_good_are_committed_and_the_bad_named_with_cause(server, yahoo, store) -> None:
    for name in ("AAA", "ZZZ"):
        server.answers[name] = [honest(spy("2018-12-03", "2018-12-14", name))]
    server.answers |= {"HTML": ["maintenance"], "MIXED": [spy("2018-12-03", "2018-12-14", "AAA")]}
    server.answers["OFF"] = [spy("2018-12-03", "2018-12-14", "OFF", open=np.nan, high=np.nan, low=np.nan, close=np.nan)]
    report = night(yahoo, store, "2018-12-14 22:00", "AAA", "GONE", "HTML", "MIXED", "OFF", "a/b", "ZZZ")
    assert report.commit.inserted == {"AAA": 9, "ZZZ": 9}
    assert report.version == 1
    assert {name: cause.partition(":")[0] for name, cause in report.failed.items()} == {
        "GONE": "Yahoo, 'GONE' (1d)",
        "HTML": "Yahoo, 'HTML' (1d)",
        "MIXED": "Yahoo was asked for 'MIXED' and answered for 'AAA'; nothing was kept",
        "OFF": "every row was set aside; the first because a price is missing",
        "a/b": "the symbol 'a/b' is not in capitals, and Yahoo would be asked for 'A/B'; write that",
    }
    assert not store.read()[["open", "high", "low", "close"]].isna().any(axis=None)


def test_kind_05_what_is_final_is_told_by_the_calendar_the_clock_and_the_delay(server, yahoo, store) -> None:
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-14"))]
    night(yahoo, store, "2018-12-13 22:00")
    assert night(yahoo, store, "2018-12-14 21:14").current == ("SPY",)
    assert night(yahoo, store, "2018-12-14 21:16", settle=pd.Timedelta(minutes=30)).current == ("SPY",)
    asked = len(server.queries["SPY"])
    report = night(yahoo, store, "2018-12-14 21:16")
    assert (len(server.queries["SPY"]), report.commit.inserted) == (asked + 1, {"SPY": 1})


@pytest.mark.parametrize("refetch", [2, 5])
def test_kind_05_trailing_sessions_are_fetched_again_and_a_revision_is_a_version(server, yahoo, store, refetch) -> None:
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-13"))]
    night(yahoo, store, "2018-12-13 22:00", refetch=refetch)
    revised = rows(get_calendar("XNYS").sessions("2018-12-03", "2018-12-14"))
    revised.loc[[2, 7], "close"] = 10.6  # 2018-12-06 lies too far back to be asked for again
    server.answers["SPY"] = [honest(chart("SPY", revised))]
    report = night(yahoo, store, "2018-12-14 22:00", refetch=refetch)
    assert (report.commit.inserted, report.commit.revised) == ({"SPY": 1}, {"SPY": 1})
    assert (store.read(version=1)["close"] == 10.5).all()
    assert store.read()["close"].tolist().count(10.6) == 1


def test_kind_06_the_newest_fetch_of_a_day_wins(server, yahoo, store) -> None:
    days = get_calendar("XNYS").sessions("2018-12-03", "2018-12-14")
    twice = pd.concat([rows(days), rows(days[-1:], "16:00", close=10.9)], ignore_index=True)
    server.answers["SPY"] = [chart("SPY", twice)]
    night(yahoo, store, "2018-12-14 22:00")
    bars = store.read()
    assert bars["session"].is_unique
    assert (len(bars), bars["close"].iloc[-1]) == (9, 10.9)


def test_kind_07_a_finished_session_without_prices_is_missing_retried_and_overwrites_nothing(
    server, yahoo, store
) -> None:
    days = get_calendar("XNYS").sessions("2018-12-03", "2018-12-14")
    void = rows(days)
    void.loc[void.index[-2:], ["open", "high", "low", "close", "adjclose"]] = np.nan
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-13"))]
    night(yahoo, store, "2018-12-13 22:00")
    server.answers["SPY"] = [honest(chart("SPY", void))]
    report = night(yahoo, store, "2018-12-14 22:00")
    assert store.read()["close"].tolist() == [10.5] * 8
    assert {finding.kind for finding in report.findings} >= {"missing_price"}
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-14"))]
    assert night(yahoo, store, "2018-12-15 12:00").commit.inserted == {"SPY": 1}
    assert store.findings().empty


def test_kind_15_sydney_is_asked_for_by_its_own_date(server, yahoo, store) -> None:
    days = get_calendar("XASX").sessions("2018-12-10", "2018-12-20")
    answer = chart(
        "BHP.AX", rows(days, "10:00", "Australia/Sydney"), exchangeName="ASX", exchangeTimezoneName="Australia/Sydney",
        currency="AUD",
    )  # fmt: skip
    server.answers["BHP.AX"] = [honest(answer)]
    night(yahoo, store, "2018-12-19 05:30", "BHP.AX")  # 16:30 in Sydney
    assert store.read("BHP.AX")["session"].max() == pd.Timestamp("2018-12-19")
    # the evening of the 19th in UTC, the morning of the 20th in Sydney: nothing has closed there
    assert night(yahoo, store, "2018-12-19 22:30", "BHP.AX").current == ("BHP.AX",)
    assert night(yahoo, store, "2018-12-20 05:30", "BHP.AX").commit.inserted == {"BHP.AX": 1}
    assert store.read("BHP.AX")["currency"].unique().tolist() == ["AUD"]


def test_kind_18_over_holidays_nothing_is_asked(server, yahoo, store) -> None:
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-04"))]
    night(yahoo, store, "2018-12-04 22:00")
    asked = len(server.targets)
    report = night(yahoo, store, "2018-12-05 23:00")  # a day of mourning
    assert (report.current, report.failed, len(server.targets)) == (("SPY",), {}, asked)


def test_kind_19_the_last_session_is_there_and_rows_after_it_are_not(server, yahoo, store) -> None:
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-21"))]
    night(yahoo, store, "2018-12-13 22:00")
    assert store.read()["session"].max() == pd.Timestamp("2018-12-13")
    server.answers["SPY"] = [spy("2018-12-03", "2018-12-21")]  # answers with all it has, whatever was asked
    report = night(yahoo, store, "2018-12-14 22:00")
    assert store.read()["session"].max() == pd.Timestamp("2018-12-14")
    assert report.fetched == {"SPY": 6}
    asked = pd.Timestamp(int(server.queries["SPY"][-1]["period2"]), unit="s", tz="America/New_York")
    assert asked == pd.Timestamp("2018-12-15", tz="America/New_York")


def test_kind_22_a_day_that_never_sleeps_may_come_late_and_is_asked_for_again(server, yahoo, store) -> None:
    def coins(last: str) -> list:
        days = pd.date_range("2018-12-20", last)
        about = {"exchangeName": "CCC", "exchangeTimezoneName": "UTC", "instrumentType": "CRYPTOCURRENCY"}
        return [honest(chart("BTC-USD", rows(days, "00:00", "UTC"), **about))]

    server.answers["BTC-USD"] = coins("2018-12-24")
    report = night(yahoo, store, "2018-12-25 00:30", "BTC-USD")
    assert store.read("BTC-USD")["session"].max() == pd.Timestamp("2018-12-24")
    assert report.findings == ()
    report = night(yahoo, store, "2018-12-26 00:30", "BTC-USD")  # Christmas is a session, but not there yet
    assert [(f.kind, f"{f.session:%m-%d}") for f in report.findings] == [("stale", "12-25")]
    server.answers["BTC-USD"] = coins("2018-12-25")
    report = night(yahoo, store, "2018-12-26 06:30", "BTC-USD")
    assert report.commit.inserted == {"BTC-USD": 1}
    assert store.findings().empty


def test_kind_27_an_answer_beyond_the_calendar_fails_alone(server, yahoo, store) -> None:
    far = spy("2018-12-03", "2018-12-14")
    far["chart"]["result"][0]["timestamp"][0] = -9_000_000_000
    server.answers |= {"SPY": [far], "AAA": [honest(spy("2018-12-03", "2018-12-14", "AAA"))]}
    report = night(yahoo, store, "2018-12-14 22:00", "SPY", "AAA")
    assert "beyond the calendar of XNYS" in report.failed["SPY"]
    assert report.commit.inserted == {"AAA": 9}


def test_kind_28_a_hostile_symbol_is_stored_as_it_is_and_leads_nowhere(server, yahoo, store) -> None:
    names = ("../X", "A/B", "^GSPC", "BRK-B", "7203.T", "A'; DROP TABLE BARS; --")
    for name in names:
        server.answers[name] = [honest(spy("2018-12-03", "2018-12-14", name))]
    report = night(yahoo, store, "2018-12-14 22:00", *names)
    assert report.failed == {}
    assert store.symbols() == sorted(names)
    assert night(yahoo, store, "2018-12-14 23:00", *names).current == names
    assert {path.name for path in store.root.parent.iterdir()} <= {"store", "cache"}
    assert store.verify() == []


def test_dividends_and_splits_are_stored_once(server, yahoo, store) -> None:
    days = get_calendar("XNYS").sessions("2018-12-03", "2018-12-14")
    told = {"dividends": {"2018-12-12 09:30": 0.5}, "splits": {"2018-12-04 09:30": (2, 1)}}
    server.answers["SPY"] = [honest(chart("SPY", rows(days), **told))]
    for when in ("2018-12-13 22:00", "2018-12-14 22:00"):
        night(yahoo, store, when)
    actions = store.actions(["SPY"])
    assert actions[["kind", "value"]].to_numpy().tolist() == [["split", 2.0], ["dividend", 0.5]]
    assert store.version("actions") == 1


def test_kind_17_what_the_look_back_cuts_off_is_noted_and_the_stored_bars_stay(server, yahoo, store) -> None:
    def quarters(session: pd.Timestamp) -> dict:
        day = f"{session:%Y-%m-%d}"
        answer = chart("SPY", rows(pd.DatetimeIndex([session] * 2)))
        stamps = answer["chart"]["result"][0]["timestamp"]
        stamps[1] += 900
        return intraday(answer, [(f"{day} 09:30", f"{day} 16:00")], "15m")

    now = pd.Timestamp.now("UTC")
    sessions = get_calendar("XNYS").sessions(now.date() - pd.Timedelta(days=200), now.date() - pd.Timedelta(days=1))
    server.answers["SPY"] = [quarters(sessions[0])]
    ingest(yahoo, store, symbols=["SPY"], interval="15m", now=(sessions[0] + pd.Timedelta(days=1)).tz_localize("UTC"))
    server.answers["SPY"] = [quarters(sessions[-2])]
    report = ingest(yahoo, store, symbols=["SPY"], interval="15m", now=now)
    (note,) = report.notes["SPY"]
    assert note.startswith("Yahoo serves 15m bars back to ")
    assert report.remarks() == [f"SPY: {note}"]
    assert (report.failed, report.commit.inserted) == ({}, {"SPY": 2})
    assert store.read(interval="15m")["session"].unique().tolist() == [sessions[0], sessions[-2]]


@pytest.mark.parametrize("workers", [1, 8])
def test_what_is_stored_does_not_depend_on_the_number_of_workers(server, tmp_path, workers) -> None:
    names = [f"S{number:02d}" for number in range(20)]
    for number, name in enumerate(names):
        good = honest(spy("2018-12-03", "2018-12-14", name, close=10.0 + number / 100))
        server.answers[name] = ["server error", good] if number % 5 == 2 else [good]
    server.latency = 0.002
    source = YahooSource(YahooConfig(timeout=5, wait=0, workers=workers))
    store = BarStore(tmp_path / "store")
    report = ingest(source, store, symbols=names, now=pd.Timestamp("2018-12-14 22:00", tz="UTC"))
    assert (list(report.fetched), report.failed) == (names, {})
    bars = store.read()
    assert bars["symbol"].unique().tolist() == names
    closes = bars.groupby("symbol")["close"].first().to_numpy()
    np.testing.assert_allclose(closes, 10.0 + np.arange(20) / 100)


def test_kind_03_the_command_ends_with_exit_code_3(server, tmp_path, monkeypatch) -> None:
    import json

    from typer.testing import CliRunner

    from pipelines.cli import app

    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    recent = pd.Timestamp.now("UTC").tz_localize(None).normalize()
    days = get_calendar("XNYS").sessions(recent - pd.Timedelta(days=20), recent - pd.Timedelta(days=1))
    server.answers["AAA"] = [honest(chart("AAA", rows(days)))]
    asked = ["--source", "yahoo", "--set", 'symbols=["AAA", "GONE"]', "--set", "source.wait=0"]
    ended = CliRunner().invoke(app, ["ingest", *asked, "--json", str(tmp_path / "told.json")])
    assert ended.exit_code == 3, ended.output
    told = {row["symbol"]: row for row in json.loads((tmp_path / "told.json").read_text())["symbols"]}
    assert (told["AAA"]["inserted"], told["AAA"]["failed"]) == (len(days), "")
    assert "may be delisted" in told["GONE"]["failed"]


def test_currencies_trade_around_the_clock_and_keep_their_dates(server, yahoo, store) -> None:
    days = get_calendar("FX").sessions("2018-10-22", "2018-11-02")  # both clocks change, in different weeks
    about = {"exchangeName": "CCY", "exchangeTimezoneName": "Europe/London", "instrumentType": "CURRENCY"}
    server.answers["EURUSD=X"] = [honest(chart("EURUSD=X", rows(days, "00:00", "Europe/London", volume=0), **about))]
    report = night(yahoo, store, "2018-11-05 12:00", "EURUSD=X")
    assert report.failed == {}
    bars = store.read("EURUSD=X")
    assert bars["session"].tolist() == days.tolist()
    assert bars["volume"].isna().all()


@pytest.mark.parametrize("spelled", ["", "unknown"])  # as earlier versions stored it
def test_a_currency_that_was_not_told_at_first_conflicts_with_none_later(server, yahoo, store, spelled) -> None:
    silent = spy("2018-12-03", "2018-12-12")
    silent["chart"]["result"][0]["meta"]["currency"] = None
    server.answers["SPY"] = [honest(silent)]
    night(yahoo, store, "2018-12-12 22:00")
    assert store.read()["currency"].unique().tolist() == [""]
    store.commit(store.read().assign(currency=spelled))
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-13"))]
    report = night(yahoo, store, "2018-12-13 22:00")
    assert (report.failed, report.commit.inserted) == ({}, {"SPY": 1})
    assert store.quarantine().empty
    assert store.read()["currency"].tolist()[-5:] == ["USD"] * 5


def test_a_currency_that_is_no_longer_told_stays(server, yahoo, store) -> None:
    server.answers["SPY"] = [honest(spy("2018-12-03", "2018-12-12"))]
    night(yahoo, store, "2018-12-12 22:00")
    silent = spy("2018-12-03", "2018-12-13")
    silent["chart"]["result"][0]["meta"]["currency"] = None
    server.answers["SPY"] = [honest(silent)]
    report = night(yahoo, store, "2018-12-13 22:00")
    assert (report.failed, report.commit.revised, report.commit.inserted) == ({}, {}, {"SPY": 1})
    assert (store.read()["currency"] == "USD").sum() == 7


@pytest.mark.parametrize("traded", [True, False])
def test_the_whole_history_tells_whether_a_series_has_volumes(server, yahoo, store, traded) -> None:
    """In some days of an illiquid symbol nothing is traded; an index has no volume at all."""
    sessions = get_calendar("XNYS").sessions("2018-11-01", "2018-12-14")
    volume = np.zeros(len(sessions), dtype=np.int64)
    volume[:5] = 700 if traded else 0
    server.answers["SPY"] = [honest(chart("SPY", rows(sessions).assign(volume=volume)))]
    for when in ("2018-12-11 22:00", "2018-12-12 22:00", "2018-12-14 22:00"):
        report = night(yahoo, store, when)
        assert report.commit.revised == {}
    stored = store.read()["volume"]
    assert len(stored) == len(sessions)
    assert stored.dropna().tolist() == (volume.tolist() if traded else [])


def test_an_exchange_for_what_yahoo_cannot_place_moves_no_symbol_that_it_can(server, yahoo, store) -> None:
    days = get_calendar("XLON").sessions("2018-12-03", "2018-12-14")
    london = {"exchangeName": "LSE", "exchangeTimezoneName": "Europe/London", "currency": "GBp"}
    server.answers |= {
        "SPY": [honest(spy("2018-12-03", "2018-12-14"))],
        "VOD.L": [honest(chart("VOD.L", rows(days, "08:00", "Europe/London"), **london))],
    }
    for when in ("2018-12-13 22:00", "2018-12-14 22:00"):
        now = pd.Timestamp(when, tz="UTC")
        report = ingest(yahoo, store, symbols=["SPY", "VOD.L"], exchange="XNYS", now=now)
        assert report.failed == {}
    assert report.commit.inserted == {"SPY": 1, "VOD.L": 1}
    assert store.status().set_index("symbol")["exchange"].to_dict() == {"SPY": "XNYS", "VOD.L": "XLON"}
