from __future__ import annotations

import pandas as pd
import pytest

from fints.bars.absences import Night
from fints.bars.ingest import IngestPolicy, ingest
from fints.bars.sources.base import BarRequest, Delivery
from fints.bars.store import BarStore
from fints.errors import FintsError, RateLimitedError, TransientError, UnknownSymbolError
from fints.sessions import get_calendar

GONE = UnknownSymbolError("No data found, symbol may be delisted")


class Exchange:
    """A live source of AAA, which trades on, and OLD, of which it says what it is told to say."""

    name = "scripted"
    live = True

    def __init__(self, make_bars, answer: FintsError | None = None) -> None:
        self.make_bars = make_bars
        self.answer = answer
        self.asked: list[str] = []

    def symbols(self) -> list[str]:
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        self.asked.append(request.symbol)
        if request.symbol == "OLD" and self.answer is not None:
            raise self.answer
        last = request.end or pd.Timestamp("2018-10-31")
        days = get_calendar("XNYS").sessions(request.start or "2018-10-01", last).strftime("%Y-%m-%d")
        return Delivery(self.make_bars(dict.fromkeys(days, 100.0), request.symbol))


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


def nights(first: str, count: int) -> list[pd.Timestamp]:
    sessions = get_calendar("XNYS").sessions(first, "2019-12-31")[:count]
    return [session.tz_localize("UTC") + pd.Timedelta(hours=22) for session in sessions]


def night(source: Exchange, store: BarStore, now: pd.Timestamp, **policy: int):
    source.asked.clear()
    return ingest(source, store, symbols=["AAA", "OLD"], now=now, policy=IngestPolicy(**policy))


@pytest.fixture
def source(store, make_bars) -> Exchange:
    source = Exchange(make_bars)
    night(source, store, nights("2018-10-31", 1)[0])
    source.answer = GONE
    return source


def test_kind_21_a_symbol_is_inactive_after_so_many_nights_and_keeps_its_history(store, source) -> None:
    for now in nights("2018-11-01", 4):
        report = night(source, store, now)
        assert source.asked == ["AAA", "OLD"]
        assert (set(report.failed), dict(report.inactive)) == ({"OLD"}, {})
    report = night(source, store, nights("2018-11-07", 1)[0])
    assert report.failed == {}
    assert "5 nights from 2018-11-01 to 2018-11-07" in report.inactive["OLD"]
    assert "may be delisted" in report.to_frame().set_index("symbol").loc["OLD", "notes"]
    assert report.remarks() == [f"OLD: {report.inactive['OLD']}"]
    night(source, store, nights("2018-11-08", 1)[0])
    assert source.asked == ["AAA"]
    assert len(store.read("OLD")) == 23
    assert store.verify() == []


def test_kind_21_an_inactive_symbol_is_asked_for_once_in_a_while_and_comes_back(store, source, monkeypatch) -> None:
    monkeypatch.setattr("fints.bars.absences.RETRY_AFTER", 3)
    evenings, asked = nights("2018-11-01", 16), []
    for now in evenings[:12]:
        night(source, store, now)
        asked.append("OLD" in source.asked)
    assert asked == [True] * 5 + [False, False, True] * 2 + [False]
    source.answer = None
    reports = [night(source, store, now) for now in evenings[12:]]
    assert [bool(report.inactive) for report in reports] == [True, False, False, False]
    assert store.absences("scripted") == {}


def test_kind_21_only_distinct_sessions_count(store, source) -> None:
    friday = pd.Timestamp("2018-11-02 22:00", tz="UTC")
    for hours in (0, 1, 24, 48):  # the same evening, Saturday, Sunday
        night(source, store, friday + pd.Timedelta(hours=hours))
    assert store.absences("scripted")["OLD"].nights == 1


@pytest.mark.parametrize("fault", [TransientError("timed out"), RateLimitedError("slow down")])
def test_kind_21_a_fault_that_may_pass_neither_counts_nor_resets(store, source, fault) -> None:
    for number, now in enumerate(nights("2018-11-01", 8)):
        source.answer = fault if number % 2 else GONE
        report = night(source, store, now)
    assert store.absences("scripted")["OLD"].nights == 4
    assert set(report.failed) == {"OLD"}


def test_kind_21_a_delivery_resets_the_count(store, source) -> None:
    for number, now in enumerate(nights("2018-11-01", 9)):
        source.answer = None if number == 4 else GONE
        night(source, store, now)
    assert store.absences("scripted")["OLD"].nights == 4


def test_kind_21_a_symbol_that_never_had_a_bar_stays_a_failure(store, make_bars) -> None:
    source = Exchange(make_bars, GONE)
    for now in nights("2018-11-01", 8):
        report = night(source, store, now)
    assert source.asked == ["AAA", "OLD"]
    assert set(report.failed) == {"OLD"}


def test_kind_21_it_can_be_switched_off(store, source) -> None:
    for now in nights("2018-11-01", 8):
        report = night(source, store, now, inactive_after=0)
    assert source.asked == ["AAA", "OLD"]
    assert set(report.failed) == {"OLD"}


def test_each_source_has_absences_of_its_own(store) -> None:
    store.prepare()
    session = pd.Timestamp("2018-11-01")
    store.count_absences("one", {"OLD": Night(session, "gone")}, [])
    store.count_absences("two", {"OLD": Night(session, "gone")}, [])
    store.count_absences("one", {}, ["OLD"])
    assert store.absences("one") == {}
    assert store.absences("two")["OLD"].first == session


def test_a_night_without_news_writes_nothing(store) -> None:
    store.prepare()
    store.count_absences("one", {"OLD": Night(pd.Timestamp("2018-11-01"), "gone")}, [])
    version = store.version("absences")
    store.count_absences("one", {"OLD": Night(pd.Timestamp("2018-11-01"), "gone")}, ["AAA"])
    assert store.version("absences") == version
