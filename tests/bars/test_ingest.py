from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.sources import make_source
from fints.bars.sources.base import BarRequest, Delivery, daily_bounds
from fints.bars.sources.config import FilesConfig, SyntheticConfig
from fints.bars.sources.sample import SampleSource
from fints.bars.sources.synthetic import SyntheticSource
from fints.bars.store import BarStore
from fints.errors import (
    CalendarError,
    ConfigError,
    DateError,
    RateLimitedError,
    SchemaError,
    StoreError,
    TransientError,
    UnknownNameError,
    UnknownSymbolError,
)
from fints.sessions import get_calendar


class Scripted:
    """A source that follows the market and answers from frames, or raises what the script says."""

    name = "scripted"
    live = True

    def __init__(self, answers: dict[str, pd.DataFrame | Exception]) -> None:
        self.answers = answers
        self.asked: list[BarRequest] = []

    def symbols(self) -> list[str]:
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        self.asked.append(request)
        answer = self.answers[request.symbol]
        if isinstance(answer, Exception):
            raise answer
        inside = answer["session"] >= (request.start or pd.Timestamp.min)
        return Delivery(answer[inside])


def days(make_bars, first: str, last: str, symbol: str = "AAA", factor: float = 1.0) -> pd.DataFrame:
    from fints.sessions.calendars import get_calendar

    sessions = get_calendar("XNYS").sessions(first, last).strftime("%Y-%m-%d")
    return make_bars({day: factor * (100 + int(day[-2:])) for day in sessions}, symbol)


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


DELAY = pd.Timedelta(hours=1)


def at(text: str) -> pd.Timestamp:
    return pd.Timestamp(text, tz="UTC")


def test_a_first_ingest_takes_everything(store, make_bars) -> None:
    source = Scripted({"AAA": days(make_bars, "2018-12-03", "2018-12-14")})
    report = ingest(source, store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert (report.version, report.commit.inserted, report.failed) == (1, {"AAA": 9}, {})
    assert report.findings == ()
    assert source.asked == [BarRequest("AAA", "1d")]
    assert store.read()["fetched_at"].unique().tolist() == [at("2018-12-14 22:00")]


def test_the_next_night_asks_for_the_last_five_sessions_again(store, make_bars) -> None:
    ingest(
        Scripted({"AAA": days(make_bars, "2018-12-03", "2018-12-13")}),
        store,
        symbols=["AAA"],
        now=at("2018-12-13 22:00"),
    )
    source = Scripted({"AAA": days(make_bars, "2018-12-03", "2018-12-14")})
    report = ingest(source, store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert source.asked == [BarRequest("AAA", "1d", pd.Timestamp("2018-12-07"), pd.Timestamp("2018-12-14"), "XNYS")]
    assert (report.commit.inserted, report.commit.unchanged) == ({"AAA": 1}, {"AAA": 5})


@pytest.mark.parametrize("now", ["2018-12-14 23:00", "2018-12-16 12:00", "2018-12-17 21:10"])
def test_nothing_is_asked_where_no_session_has_closed_since(store, make_bars, now) -> None:
    source = Scripted({"AAA": days(make_bars, "2018-12-03", "2018-12-14")})
    ingest(source, store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    report = ingest(source, store, symbols=["AAA"], now=at(now))
    assert len(source.asked) == 1
    assert (report.current, report.version, report.failed) == (("AAA",), 1, {})


def test_over_a_closure_by_decree_nothing_is_asked(store, make_bars) -> None:
    source = Scripted({"AAA": days(make_bars, "2018-12-03", "2018-12-04")})
    ingest(source, store, symbols=["AAA"], now=at("2018-12-04 22:00"))
    ingest(source, store, symbols=["AAA"], now=at("2018-12-05 23:00"))
    assert len(source.asked) == 1


def test_a_partial_bar_is_not_frozen(store, make_bars) -> None:
    noon = pd.concat([days(make_bars, "2018-12-10", "2018-12-13"), make_bars({"2018-12-14": 111.0}, volume=400)])
    report = ingest(Scripted({"AAA": noon}), store, symbols=["AAA"], now=at("2018-12-14 17:00"))
    assert [finding.kind for finding in report.findings] == ["not_final"]
    full = days(make_bars, "2018-12-10", "2018-12-14")
    ingest(Scripted({"AAA": full}), store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert store.read()["volume"].tolist() == [1000] * 5
    assert store.findings().empty
    assert store.quarantine()["volume"].tolist() == [400]


def test_a_bar_revised_overnight_is_a_new_version(store, make_bars) -> None:
    ingest(
        Scripted({"AAA": days(make_bars, "2018-12-10", "2018-12-13")}),
        store,
        symbols=["AAA"],
        now=at("2018-12-13 22:00"),
    )
    revised = days(make_bars, "2018-12-10", "2018-12-14")
    revised.loc[3, "close"] += 0.25
    report = ingest(Scripted({"AAA": revised}), store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert report.commit.revised == {"AAA": 1}
    assert store.diff(1, 2).loc[0, "columns"] == "close"


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_price_that_came_back_leaves_the_same_bars_by_night_as_in_one_go(tmp_path, make_bars, length) -> None:
    bars = days(make_bars, "2018-12-03", "2018-12-28")
    prices = ["open", "high", "low", "close", "adj_close"]
    bars.loc[8 : 7 + length, prices] *= 2.0
    nightly, at_once = (BarStore(tmp_path / name) for name in ("nightly", "at_once"))
    for end in bars["end"].iloc[5:]:
        report = ingest(Scripted({"AAA": bars[bars["end"] <= end]}), nightly, symbols=["AAA"], now=end + DELAY)
        assert report.failed == {}
    ingest(Scripted({"AAA": bars}), at_once, symbols=["AAA"], now=bars["end"].iloc[-1] + DELAY)
    columns = ["session", "close"]
    pd.testing.assert_frame_equal(nightly.read()[columns], at_once.read()[columns])
    assert len(nightly.read()) == len(bars) - length
    assert nightly.findings()["kind"].tolist() == at_once.findings()["kind"].tolist()
    assert nightly.verify() == []


@pytest.mark.parametrize("factor", [0.5, 1 / 1.048])  # a split two for one; Merck's spin-off of 2021
def test_a_restated_history_is_fetched_as_a_whole(store, make_bars, factor) -> None:
    ingest(
        Scripted({"AAA": days(make_bars, "2018-11-01", "2018-12-13")}),
        store,
        symbols=["AAA"],
        now=at("2018-12-13 22:00"),
    )
    source = Scripted({"AAA": days(make_bars, "2018-11-01", "2018-12-14", factor=factor)})
    ingest(source, store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert [request.start for request in source.asked] == [pd.Timestamp("2018-12-07"), None]
    old, new = store.read(version=1)["close"], store.read()["close"]
    np.testing.assert_allclose(new[: len(old)], factor * old)


def test_one_bad_symbol_does_not_stop_the_others(store, make_bars) -> None:
    good = days(make_bars, "2018-12-10", "2018-12-14")
    source = Scripted(
        {
            "AAA": good,
            "GONE": UnknownSymbolError("GONE: not known"),
            "LATE": TransientError("LATE: timed out"),
            "BROKEN": SchemaError("BROKEN: column 'open' is text"),
            "ELSEWHERE": good.assign(symbol="ELSEWHERE", exchange="XNYZ"),
            "EMPTY": good.iloc[:0],
            "OPTIONS": ConfigError("OPTIONS: set the option `exchange`"),
            "VOID": good.assign(symbol="VOID", close=float("nan")),
            "ZZZ": good.assign(symbol="ZZZ"),
        }
    )
    report = ingest(source, store, symbols=list(source.answers), now=at("2018-12-14 22:00"))
    assert report.commit.inserted == {"AAA": 5, "ZZZ": 5}
    assert set(report.failed) == {"GONE", "LATE", "BROKEN", "ELSEWHERE", "EMPTY", "OPTIONS", "VOID"}
    assert "XNYZ" in report.failed["ELSEWHERE"]
    assert "no bar of 'EMPTY'" in report.failed["EMPTY"]
    assert "a price is missing" in report.failed["VOID"]
    assert store.quarantine()["symbol"].unique().tolist() == ["VOID"]
    frame = report.to_frame().set_index("symbol")
    assert frame.loc["AAA", ["fetched", "inserted", "failed"]].tolist() == [5, 5, ""]
    assert frame.loc["LATE", "failed"] == "LATE: timed out"


def test_a_failed_fetch_leaves_what_is_stored(store, make_bars) -> None:
    good = days(make_bars, "2018-12-10", "2018-12-13")
    ingest(Scripted({"AAA": good}), store, symbols=["AAA"], now=at("2018-12-13 22:00"))
    report = ingest(
        Scripted({"AAA": UnknownSymbolError("possibly delisted")}), store, symbols=["AAA"], now=at("2018-12-14 22:00")
    )
    assert report.failed == {"AAA": "possibly delisted"}
    assert (report.version, len(store.read())) == (1, 4)


def test_a_calendar_that_ends_fails_its_own_symbols_only(store, make_bars) -> None:
    with pytest.raises(CalendarError, match="upgrade"):
        get_calendar("XSAU").last_closed_session(at("2030-06-03 22:00"))
    bars = days(make_bars, "2029-12-03", "2029-12-28")
    sunday = pd.Timestamp("2029-12-30")
    riyadh = daily_bounds(pd.DatetimeIndex([sunday]), get_calendar("XSAU"))
    abroad = make_bars({"2029-12-28": 100.0}, "2222.SR", exchange="XSAU").assign(**riyadh)
    store.commit(pd.concat([bars, abroad], ignore_index=True))
    source = Scripted({"AAA": days(make_bars, "2029-12-03", "2030-01-04"), "2222.SR": abroad})
    report = ingest(source, store, symbols=["2222.SR", "AAA"], now=at("2030-01-04 22:00"))
    assert report.commit.inserted == {"AAA": 4}
    assert report.current == ()
    assert set(report.failed) == {"2222.SR"}
    assert "calendar of XSAU is known" in report.failed["2222.SR"]


def test_the_bars_of_an_evening_are_asked_for_in_that_evening(store) -> None:
    config = SyntheticConfig(exchange="FX", interval="1h", start="2018-12-17", end="2018-12-19", names=("EUR",))
    ingest(SyntheticSource(config), store, symbols=None, interval="1h", now=at("2018-12-18 22:30"))
    assert store.read(interval="1h")["end"].max() == at("2018-12-18 22:00")
    report = ingest(SyntheticSource(config), store, symbols=None, interval="1h", now=at("2018-12-19 03:30"))
    assert report.commit.inserted == {"EUR": 5}
    assert {finding.kind for finding in report.findings} == {"not_final"}


def test_after_a_rate_limit_nothing_more_is_asked(store, make_bars) -> None:
    good = days(make_bars, "2018-12-10", "2018-12-14")
    source = Scripted({"A": good.assign(symbol="A"), "B": RateLimitedError("B: slow down"), "C": good, "D": good})
    report = ingest(source, store, symbols=["A", "B", "C", "D"], now=at("2018-12-14 22:00"))
    assert [request.symbol for request in source.asked] == ["A", "B"]
    assert report.commit.inserted == {"A": 5}
    assert set(report.failed) == {"B", "C", "D"}
    assert "put off to the next ingest" in report.failed["D"]


def test_sessions_that_a_live_source_lacks_at_the_end_are_stale(store, make_bars) -> None:
    source = Scripted({"AAA": days(make_bars, "2018-12-10", "2018-12-12")})
    report = ingest(source, store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert [finding.reason for finding in report.findings] == ["no bar yet for 2018-12-13 to 2018-12-14 (2 sessions)"]
    source.answers["AAA"] = days(make_bars, "2018-12-10", "2018-12-14")
    ingest(source, store, symbols=["AAA"], now=at("2018-12-15 22:00"))
    assert store.findings().empty


def test_a_stored_symbol_that_is_no_longer_delivered_is_stale(store, make_bars) -> None:
    source = Scripted({name: days(make_bars, "2018-12-10", "2018-12-12", name) for name in ("A&B", "BBB")})
    ingest(source, store, symbols=["A&B", "BBB"], now=at("2018-12-12 22:00"))
    assert store.findings().empty
    source.answers |= {"A&B": TransientError("away"), "NEW": TransientError("away")}
    source.answers["BBB"] = days(make_bars, "2018-12-10", "2018-12-13", "BBB")
    for day, reason in (
        ("13", "no bar yet for 2018-12-13"),
        ("14", "no bar yet for 2018-12-13 to 2018-12-14 (2 sessions)"),
    ):
        report = ingest(source, store, symbols=["A&B", "BBB", "NEW"], now=at(f"2018-12-{day} 22:00"))
        found = store.findings(["A&B", "NEW"])
        assert found[["symbol", "kind", "reason"]].to_numpy().tolist() == [["A&B", "stale", reason]]
        assert set(report.failed) == {"A&B", "NEW"}
    status = store.status().set_index("symbol")["findings"]
    assert status.to_dict() == {"A&B": 1, "BBB": 1}
    source.answers["A&B"] = days(make_bars, "2018-12-10", "2018-12-14", "A&B")
    ingest(source, store, symbols=["A&B", "BBB"], now=at("2018-12-14 22:30"))
    assert store.findings(["A&B"]).empty


def test_where_nothing_is_delivered_the_bars_keep_their_version(store, make_bars) -> None:
    source = Scripted({"AAA": days(make_bars, "2018-12-10", "2018-12-12")})
    ingest(source, store, symbols=["AAA"], now=at("2018-12-12 22:00"))
    source.answers["AAA"] = TransientError("away")
    report = ingest(source, store, symbols=["AAA"], now=at("2018-12-13 22:00"))
    assert (report.version, store.version()) == (1, 1)
    assert store.findings()["kind"].tolist() == ["stale"]
    assert len(store.read()) == 3


def test_an_archive_is_not_stale(store) -> None:
    report = ingest(SampleSource(), store, symbols=["^GSPC"], now=at("2024-01-02 22:00"))
    assert report.findings == ()


def test_a_symbol_that_the_source_does_not_list_is_unknown(store) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown symbol '\^GSPX'. Did you mean '\^GSPC'"):
        ingest(SampleSource(), store, symbols=["^GSPX"])
    assert not store.root.exists()


@pytest.mark.parametrize(("symbols", "message"), [([True], "True is a bool"), (None, "cannot list its symbols")])
def test_symbols_have_to_be_text_and_named(store, symbols, message) -> None:
    with pytest.raises(ConfigError, match=message):
        ingest(Scripted({}), store, symbols=symbols)


def test_a_store_that_cannot_be_written_is_known_before_the_first_request(tmp_path, make_bars) -> None:
    store = BarStore(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    source = Scripted({"AAA": days(make_bars, "2018-12-10", "2018-12-14")})
    with pytest.raises(StoreError):
        ingest(source, store, symbols=["AAA"])
    assert source.asked == []


def test_wrong_options_of_a_source_are_raised_where_they_spoil_everything(store) -> None:
    with pytest.raises(ConfigError, match="set the option"):
        ingest(Scripted({"AAA": ConfigError("set the option `exchange`")}), store, symbols=["AAA"])


def test_now_is_an_instant(store) -> None:
    with pytest.raises(DateError, match="no time zone"):
        ingest(SampleSource(), store, symbols=None, now=pd.Timestamp("2018-12-14 22:00"))


def test_progress_counts_every_symbol(store) -> None:
    seen: list[tuple[int, int, str]] = []
    source = SyntheticSource(SyntheticConfig(start="2018-12-03", end="2018-12-14"))
    ingest(source, store, symbols=None, progress=lambda *step: seen.append(step))
    assert seen == [(1, 2, "SYNA"), (2, 2, "SYNB")]


def test_hours_are_asked_for_again_within_the_session(store) -> None:
    source = SyntheticSource(SyntheticConfig(interval="1h", start="2018-11-19", end="2018-11-23", names=("AAA",)))
    source.live = True
    first = ingest(source, store, symbols=None, interval="1h", now=at("2018-11-23 16:50"))
    assert first.commit.inserted == {"AAA": 23}
    # the half-day's third bar closes at 17:30 UTC, the last at 18:00
    assert ingest(source, store, symbols=None, interval="1h", now=at("2018-11-23 17:44")).current == ("AAA",)
    assert ingest(source, store, symbols=None, interval="1h", now=at("2018-11-23 17:45")).commit.inserted == {"AAA": 1}
    assert ingest(source, store, symbols=None, interval="1h", now=at("2018-11-23 22:00")).commit.inserted == {"AAA": 1}
    assert ingest(source, store, symbols=None, interval="1h", now=at("2018-11-24 22:00")).current == ("AAA",)
    assert store.verify() == []


class Archive(Scripted):
    """A source at hand, such as a file."""

    live = False


def test_a_file_is_read_in_full_every_time(store, make_bars) -> None:
    """A correction in the middle and sessions put before the first one are taken, however old they are."""
    bars = days(make_bars, "2018-10-01", "2018-12-14")
    now = at("2018-12-14 22:00")
    ingest(Archive({"AAA": bars[bars["session"] >= "2018-11-01"]}), store, symbols=["AAA"], now=now)
    corrected = bars.assign(volume=bars["volume"].where(bars["session"] != "2018-11-06", 7))
    report = ingest(Archive({"AAA": corrected}), store, symbols=["AAA"], now=now + DELAY)
    assert report.commit.revised == {"AAA": 1}
    assert report.commit.inserted == {"AAA": (bars["session"] < "2018-11-01").sum()}
    assert ingest(Archive({"AAA": corrected}), store, symbols=["AAA"], now=now + DELAY).version == report.version


def test_a_stored_symbol_asked_for_on_another_exchange_is_refused(store, make_bars) -> None:
    source = Archive({"AAA": days(make_bars, "2018-12-03", "2018-12-14")})
    now = at("2018-12-14 22:00")
    ingest(source, store, symbols=["AAA"], exchange="XNYS", now=now)
    with pytest.raises(ConfigError, match="stored as a symbol of XNYS"):
        ingest(source, store, symbols=["AAA"], exchange="XLON", now=now + DELAY)
    assert len(store.read()) == 10 - 1  # the fifth of December was a day of mourning


def test_many_bars_on_closed_days_put_the_exchange_in_doubt(store, make_bars) -> None:
    tokyo = get_calendar("XTKS").sessions("2018-06-01", "2018-12-28").strftime("%Y-%m-%d")
    shut = [day for day in tokyo if not get_calendar("XNYS").is_session(day)]
    bars = make_bars(dict.fromkeys(tokyo, 100.0), "7203")
    report = ingest(Archive({"7203": bars}), store, symbols=["7203"], now=at("2018-12-31 22:00"))
    (doubt,) = report.misplaced()
    assert doubt.startswith(f"7203: {len(shut)} of {len(tokyo)} bars fall on days when its exchange was shut")
    fine = ingest(Scripted({"AAA": days(make_bars, "2018-12-03", "2018-12-14")}), store, symbols=["AAA"])
    assert fine.misplaced() == []


@pytest.mark.parametrize("factor", [100.0, 0.01, 0.5])
def test_a_glitch_of_a_refetch_takes_no_good_bar_out_of_the_store(store, make_bars, factor) -> None:
    good = days(make_bars, "2018-10-01", "2018-12-14")
    ingest(Scripted({"AAA": good[:-1]}), store, symbols=["AAA"], now=at("2018-12-13 22:00"))
    glitch = good.copy()
    glitch.loc[len(good) - 4 : len(good) - 3, ["open", "high", "low", "close", "adj_close"]] *= factor
    report = ingest(Scripted({"AAA": glitch}), store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert [finding.kind for finding in report.findings if finding.severity == "quarantine"] == ["price_excursion"] * 2
    assert (report.commit.withdrawn, report.commit.inserted) == ({}, {"AAA": 1})
    assert store.read()["close"].tolist() == good["close"].tolist()


@pytest.mark.parametrize(
    ("scale", "currency", "cause"),
    [(1.0, "GBP", "in GBP, the stored ones are in USD"), (100.0, "USD", "another unit")],
)
def test_a_symbol_whose_new_rows_all_contradict_the_store_fails(store, make_bars, scale, currency, cause) -> None:
    first = [days(make_bars, "2018-12-03", "2018-12-12", name) for name in ("AAA", "BBB")]
    answers = dict(zip(("AAA", "BBB"), first, strict=True))
    ingest(Scripted(answers), store, symbols=["AAA", "BBB"], now=at("2018-12-12 22:00"))
    bad = days(make_bars, "2018-12-03", "2018-12-14", "AAA", scale).assign(currency=currency)
    good = days(make_bars, "2018-12-03", "2018-12-14", "BBB")
    report = ingest(Scripted({"AAA": bad, "BBB": good}), store, symbols=["AAA", "BBB"], now=at("2018-12-14 22:00"))
    assert set(report.failed) == {"AAA"}
    assert report.failed["AAA"].startswith("every new row was set aside; the first because")
    assert cause in report.failed["AAA"]
    assert report.commit.inserted == {"BBB": 2}


def test_sessions_set_aside_at_the_end_are_stale(store, make_bars) -> None:
    good = days(make_bars, "2018-12-03", "2018-12-14")
    ingest(Scripted({"AAA": good[:-3]}), store, symbols=["AAA"], now=at(f"{good['session'].iloc[-4]:%Y-%m-%d} 22:00"))
    bad = good.copy()
    bad.loc[len(good) - 1, "currency"] = "GBP"
    report = ingest(Scripted({"AAA": bad}), store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert {(f.kind, f"{f.session:%m-%d}") for f in report.findings} == {
        ("currency_conflict", "12-14"),
        ("stale", "12-14"),
    }
    assert report.failed == {}


def test_one_bad_symbol_raises_nothing_where_the_others_are_current(store, make_bars) -> None:
    answers = {"AAA": days(make_bars, "2018-12-10", "2018-12-14"), "BAD": ConfigError("set the option `exchange`")}
    for _ in range(2):
        report = ingest(Scripted(answers), store, symbols=["AAA", "BAD"], now=at("2018-12-14 22:00"))
        assert report.failed == {"BAD": "set the option `exchange`"}
    assert report.current == ("AAA",)


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2262-04-11", "1700-01-01"])
def test_a_date_that_cannot_be_held_fails_its_own_symbol(store, tmp_path, day) -> None:
    path = tmp_path / "bars.csv"
    lines = ["date,symbol,open,high,low,close,volume"]
    lines += [f"2018-12-{number},{name},10,11,9,10.5,1000" for name in ("AAA", "BAD") for number in (12, 13, 14)]
    path.write_text("\n".join([*lines, f"{day},BAD,10,11,9,10.5,1000", ""]))
    source = make_source(FilesConfig(path=path, exchange="XNYS"))
    report = ingest(source, store, symbols=["AAA", "BAD"], now=at("2018-12-14 22:00"))
    assert set(report.failed) == {"BAD"}
    assert report.commit.inserted == {"AAA": 3}
