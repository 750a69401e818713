"""Gaps of a delivery, told of the store: a session that is stored is not missing."""

from __future__ import annotations

import pandas as pd
import pytest

from fints.bars.gaps import open_gaps
from fints.bars.ingest import ingest
from fints.bars.quality import check_bars
from fints.bars.sources.config import SyntheticConfig
from fints.bars.sources.synthetic import SyntheticSource
from fints.bars.store import BarStore
from fints.sessions.calendars import get_calendar
from tests.bars.test_ingest import Scripted, at, days

PRICES = ["open", "high", "low", "close", "adj_close"]


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


def told(findings) -> list[str]:
    return [finding.reason for finding in findings if finding.severity == "gap"]


def test_a_session_that_a_refetch_leaves_out_and_the_store_holds_is_not_missing(store, make_bars) -> None:
    good = days(make_bars, "2018-12-03", "2018-12-14")
    ingest(Scripted({"AAA": good[:-1]}), store, symbols=["AAA"], now=at("2018-12-13 22:00"))
    report = ingest(Scripted({"AAA": good.drop(index=6)}), store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert told(report.findings) == []
    assert store.findings().empty
    assert len(store.read()) == len(good)


def test_a_gap_is_told_by_the_parts_that_are_not_stored(store, make_bars) -> None:
    good = days(make_bars, "2018-12-03", "2018-12-21")
    store.commit(good.iloc[[0, 4, 5, 13]])
    findings = check_bars(good.iloc[[0, 9, 13]], now=at("2018-12-30"))[1]
    assert told(findings) == [
        "no bar for 2018-12-04 to 2018-12-14 (8 sessions)",
        "no bar for 2018-12-18 to 2018-12-20 (3 sessions)",
    ]
    assert told(open_gaps(store, findings, good.iloc[[0, 9, 13]])) == [
        "no bar for 2018-12-04 to 2018-12-07 (3 sessions)",
        "no bar for 2018-12-12 to 2018-12-14 (3 sessions)",
        "no bar for 2018-12-18 to 2018-12-20 (3 sessions)",
    ]
    assert open_gaps(store, findings, good.iloc[:0])[-1] == findings[-1]


def test_a_day_of_a_glitch_that_is_stored_is_not_missing_and_one_taken_out_is(store, make_bars) -> None:
    good = days(make_bars, "2018-12-03", "2018-12-14")
    ingest(Scripted({"AAA": good[:-1]}), store, symbols=["AAA"], now=at("2018-12-13 22:00"))
    glitch = good.copy()
    glitch.loc[6, PRICES] *= 100.0
    report = ingest(Scripted({"AAA": glitch}), store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert told(report.findings) == []
    store.commit(glitch.iloc[[6]])
    again = check_bars(glitch, now=at("2018-12-30"))
    assert told(open_gaps(store, again[1], again[0])) == [f"no bar for {good['session'].iloc[6]:%Y-%m-%d}"]


def test_a_released_day_is_not_missing_in_the_nights_after(store, make_bars) -> None:
    bars = days(make_bars, "2018-12-03", "2018-12-14")
    bars.loc[6, PRICES] *= 2.0
    ingest(Scripted({"AAA": bars[:-1]}), store, symbols=["AAA"], now=at("2018-12-13 22:00"))
    assert len(told_of(store)) == 1
    store.release(store.quarantine()["id"].tolist(), "a takeover bid")
    report = ingest(Scripted({"AAA": bars}), store, symbols=["AAA"], now=at("2018-12-14 22:00"))
    assert (told(report.findings), told_of(store), len(store.read())) == ([], [], len(bars))
    monday = pd.concat([bars, make_bars({"2018-12-17": 110.0})], ignore_index=True).drop(index=6)
    report = ingest(Scripted({"AAA": monday}), store, symbols=["AAA"], now=at("2018-12-17 22:00"))
    assert (told(report.findings), told_of(store), len(store.read())) == ([], [], len(bars) + 1)


def told_of(store: BarStore) -> list[str]:
    found = store.findings()
    return found.loc[found["severity"] == "gap", "reason"].tolist()


def test_hours_that_are_stored_are_not_missing(store) -> None:
    config = SyntheticConfig(interval="1h", start="2018-11-19", end="2018-11-20", names=("AAA",))
    ingest(SyntheticSource(config), store, symbols=None, interval="1h", now=at("2018-11-21 03:00"))
    bars = store.read(interval="1h")
    assert len(get_calendar("XNYS").sessions("2018-11-19", "2018-11-20")) == 2
    findings = check_bars(bars.drop(index=[3, 4, 5]), now=at("2018-11-30"))[1]
    assert len(told(findings)) == 1
    assert told(open_gaps(store, findings, bars)) == []
    other = BarStore(store.root.parent / "other")
    other.commit(bars.iloc[[0, 4, 13]])
    starts = [f"{start:%Y-%m-%d %H:%M} UTC" for start in bars["start"]]
    assert told(open_gaps(other, findings, bars.drop(index=[3, 4, 5]))) == [
        f"no bar for {starts[row]}" for row in (3, 5)
    ]
