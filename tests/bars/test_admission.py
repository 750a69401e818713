"""Deliveries looked at in pieces: what is stored and told does not depend on which symbols go together."""

from __future__ import annotations

import pandas as pd
import pytest

from fints.bars.finding import findings_frame
from fints.bars.ingest import IngestReport, ingest
from fints.bars.sources.base import BarRequest, Delivery
from fints.bars.store import BarStore
from fints.errors import TransientError
from fints.sessions.calendars import get_calendar
from tests.bars.vendor import Vendor

SESSIONS = get_calendar("XNYS").sessions("2018-11-01", "2019-02-08")
NIGHTS = SESSIONS[[40, 45, 50]]
DAY = {name: str(SESSIONS[number]) for name, number in (("split", 47), ("dividend", 44), ("glitch", 20), ("hole", 30))}


class Market:
    """Symbols with one story each, under one name."""

    name = "vendor"
    live = True

    def __init__(self, tonight: pd.Timestamp) -> None:
        self.vendors = {
            "CALM": Vendor(SESSIONS, symbol="CALM"),
            "SPLIT": Vendor(SESSIONS, symbol="SPLIT", splits={DAY["split"]: 3.0}),
            "PAYS": Vendor(SESSIONS, symbol="PAYS", dividends={DAY["dividend"]: 2.5}),
            "HOLE": Vendor(SESSIONS.drop([DAY["hole"]]), symbol="HOLE"),
            "GLITCH": Vendor(SESSIONS, symbol="GLITCH"),
            "LATE": Vendor(SESSIONS[:49], symbol="LATE"),
            "AWAY": Vendor(SESSIONS, symbol="AWAY"),
            "BROKEN": Vendor(SESSIONS, symbol="BROKEN"),
        }
        for vendor in self.vendors.values():
            vendor.tonight = tonight

    def symbols(self) -> list[str]:
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        delivery = self.vendors[request.symbol].fetch(request)
        bars = delivery.bars.reset_index(drop=True)
        if request.symbol == "AWAY":
            raise TransientError("nobody answers")
        if request.symbol == "GLITCH":
            bars.loc[bars["session"] == DAY["glitch"], ["open", "high", "low", "close"]] *= 100
        if request.symbol == "BROKEN":
            bars = bars.assign(low=bars["high"] + 1)
        return Delivery(bars, delivery.actions)


def history(store: BarStore) -> list[IngestReport]:
    reports = []
    for night in NIGHTS:
        now = get_calendar("XNYS").schedule(night, night)["close"].iloc[0] + pd.Timedelta(hours=1)
        market = Market(night)
        reports.append(ingest(market, store, symbols=market.vendors, now=now))
    return reports


@pytest.fixture(scope="module")
def together(tmp_path_factory) -> tuple[BarStore, list[IngestReport]]:
    store = BarStore(tmp_path_factory.mktemp("together") / "store")
    return store, history(store)


@pytest.mark.parametrize("rows", [1, 90])
def test_symbols_looked_at_in_pieces_end_as_those_looked_at_together(rows, together, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fints.bars.admission._ROWS", rows)
    monkeypatch.setattr("fints.bars.merge._AT_ONCE", 7)
    store = BarStore(tmp_path / "store")
    reports = history(store)
    whole, expected = together
    assert store.version() == len(NIGHTS)
    for version in range(1, len(NIGHTS) + 1):
        pd.testing.assert_frame_equal(store.read(version=version), whole.read(version=version))
    pd.testing.assert_frame_equal(store.actions(), whole.actions())
    told = ["symbol", "session", "severity", "kind", "reason"]
    pd.testing.assert_frame_equal(store.findings()[told], whole.findings()[told])
    aside = ["id", "symbol", "session", "kind", "state"]
    pd.testing.assert_frame_equal(store.quarantine()[aside], whole.quarantine()[aside])
    for mine, theirs in zip(reports, expected, strict=True):
        assert (mine.commit, mine.failed, mine.fetched) == (theirs.commit, theirs.failed, theirs.fetched)
        pd.testing.assert_frame_equal(findings_frame(mine.findings), findings_frame(theirs.findings))
        pd.testing.assert_frame_equal(by_series(mine.restated), by_series(theirs.restated))
    assert store.verify() == []


def by_series(restated: pd.DataFrame) -> pd.DataFrame:
    return restated.sort_values(["symbol", "interval", "kind"], ignore_index=True)


def test_the_market_of_these_tests_has_something_to_tell_of_each_symbol(together) -> None:
    store, reports = together
    assert set(reports[0].failed) == {"AWAY", "BROKEN"}
    told = {"HOLE": "missing_sessions", "GLITCH": "split_jump", "BROKEN": "high_below_low"}
    assert told.items() <= {f.symbol: f.kind for f in reports[0].findings}.items()
    assert dict(zip(reports[2].restated["symbol"], reports[2].restated["kind"], strict=True)) == {"SPLIT": "split"}
    assert dict(zip(reports[1].restated["symbol"], reports[1].restated["kind"], strict=True)) == {"PAYS": "dividend"}
    assert [f.symbol for f in reports[2].findings if f.kind == "stale"] == ["LATE"]
    assert reports[0].commit.inserted["CALM"] == 41
    assert set(store.symbols()) == {"CALM", "SPLIT", "PAYS", "HOLE", "GLITCH", "LATE"}
