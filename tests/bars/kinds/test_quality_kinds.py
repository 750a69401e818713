"""Kinds 08, 13, 14 and 23 of the failures seen in public, through the whole ingest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.sources.base import BarRequest, Delivery, daily_bounds
from fints.bars.store import BarStore
from fints.sessions.calendars import get_calendar
from fints.sessions.overrides import overrides

SESSIONS = get_calendar("XNYS").sessions("2018-10-01", "2018-12-31")
AUTUMN = SESSIONS[SESSIONS <= "2018-11-30"]


class Market:
    """A live source that answers from a frame, up to tonight."""

    name = "market"
    live = True

    def __init__(self, bars: pd.DataFrame) -> None:
        self.bars = bars
        self.asked: list[BarRequest] = []

    def symbols(self) -> list[str]:
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        self.asked.append(request)
        start, end = request.start or pd.Timestamp.min, request.end or pd.Timestamp.max
        return Delivery(self.bars[self.bars["session"].between(start, end)])


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


def closes(sessions) -> dict[str, float]:
    return {f"{day:%Y-%m-%d}": 100.0 + row % 7 for row, day in enumerate(sessions)}


def night(source: Market, store: BarStore, session: pd.Timestamp):
    now = get_calendar("XNYS").schedule(session, session)["close"].iloc[0] + pd.Timedelta(hours=1)
    tonight = Market(source.bars[source.bars["session"] <= session])
    report = ingest(tonight, store, symbols=["AAA"], now=now)
    source.asked += tonight.asked
    return report


def test_kind_08_a_session_missing_in_the_middle_is_that_gap_and_is_asked_for_again(store, make_bars) -> None:
    whole = make_bars(closes(SESSIONS))
    holed = Market(whole.drop(index=20))
    report = night(holed, store, SESSIONS[30])
    assert [finding.reason for finding in report.findings] == [f"no bar for {SESSIONS[20]:%Y-%m-%d}"]
    assert len(store.read()) == 30
    report = night(holed, store, SESSIONS[31])
    assert holed.asked[-1].start == SESSIONS[19]
    assert [finding.reason for finding in report.findings] == [f"no bar for {SESSIONS[20]:%Y-%m-%d}"]
    report = night(Market(whole), store, SESSIONS[32])
    assert report.commit.inserted == {"AAA": 2}
    assert store.findings().empty
    pd.testing.assert_series_equal(store.read()["close"], whole["close"].head(33))
    assert store.verify() == []


def test_kind_08_a_gap_is_asked_for_only_a_few_nights_and_only_lately(store, make_bars) -> None:
    source = Market(make_bars(closes(SESSIONS)).drop(index=[2, 28]))
    for row in range(30, 42):
        night(source, store, SESSIONS[row])
    starts = [request.start for request in source.asked[1:]]
    patient = [start for start in starts if start == SESSIONS[1]]
    assert 1 < len(patient) <= 5
    assert starts[-1] == SESSIONS[36]
    assert store.findings()["kind"].tolist() == ["missing_sessions"] * 2


def test_kind_08_a_known_closure_is_no_gap_and_is_not_asked_for(store, make_bars) -> None:
    source = Market(make_bars(closes(SESSIONS)))
    mourning = int(SESSIONS.searchsorted(pd.Timestamp("2018-12-05")))
    night(source, store, SESSIONS[mourning - 1])
    report = night(source, store, SESSIONS[mourning])
    assert report.findings == ()
    assert SESSIONS[mourning] == pd.Timestamp("2018-12-06")
    assert source.asked[-1].start == SESSIONS[mourning - 5]


@pytest.mark.parametrize("volume", [2**32, 2**32 + 1, 2**53 + 1, 2**62])
def test_kind_13_volumes_above_four_thousand_million_are_kept_to_the_last_share(store, make_bars, volume) -> None:
    source = Market(make_bars(closes(AUTUMN), volume=volume))
    night(source, store, AUTUMN[-2])
    report = night(source, store, AUTUMN[-1])
    assert report.commit.unchanged == {"AAA": 5}
    assert store.read()["volume"].tolist() == [volume] * len(AUTUMN)


def test_kind_13_a_volume_of_zero_keeps_the_price_and_is_a_suspect(store, make_bars) -> None:
    bars = make_bars(closes(AUTUMN))
    bars.loc[9, "volume"] = 0
    report = night(Market(bars), store, AUTUMN[-1])
    assert [(f.kind, f.severity, f.session) for f in report.findings] == [("zero_volume", "suspect", AUTUMN[9])]
    assert store.read().loc[9, ["close", "volume"]].tolist() == [102.0, 0]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"high": 98.0, "low": 103.0}, "high_below_low"),
        ({"open": 104.0}, "open_outside_range"),
        ({"open": 98.9}, "open_outside_range"),
        ({"close": 104.0, "adj_close": 104.0}, "close_outside_range"),
    ],
)
def test_kind_14_a_bar_that_contradicts_itself_is_set_aside_as_it_came_and_never_clipped(
    store, make_bars, change, kind
) -> None:
    bars = make_bars(closes(AUTUMN))
    bars.loc[9, list(change)] = list(change.values())
    night(Market(bars), store, AUTUMN[-1])
    (row,) = store.quarantine().to_dict("records")
    assert row["kind"] == kind
    assert [row[name] for name in change] == list(change.values())
    assert AUTUMN[9] not in set(store.read()["session"])


@pytest.mark.parametrize("name", ["open", "close"])
def test_kind_14_what_float_noise_leaves_outside_the_range_is_no_violation(store, make_bars, name) -> None:
    bars = make_bars(closes(AUTUMN))
    bars[name] = np.nextafter(bars["high"].astype("float32"), np.float32(np.inf)).astype("float64")
    assert night(Market(bars), store, AUTUMN[-1]).findings == ()
    assert len(store.read()) == len(AUTUMN)


def test_kind_23_a_weekend_row_is_set_aside_with_its_values(store, make_bars) -> None:
    saturday = make_bars({"2018-11-17": 103.5})
    bars = pd.concat([make_bars(closes(AUTUMN)), saturday], ignore_index=True)
    report = night(Market(bars), store, AUTUMN[-1])
    assert [finding.reason for finding in report.findings] == ["XNYS has no session on 2018-11-17, a Saturday"]
    assert store.quarantine()[["kind", "close"]].to_numpy().tolist() == [["non_session", 103.5]]
    assert len(store.read()) == len(AUTUMN)


def test_kind_23_a_genuine_special_session_is_a_session_by_calendar_override(store, make_bars) -> None:
    assert pd.Timestamp("2020-02-01") in {pd.Timestamp(np.datetime64(e.day, "D")) for e in overrides("XBOM").events}
    calendar = get_calendar("XBOM")
    days = calendar.sessions("2020-01-20", "2020-02-07")
    budget = pd.Timestamp("2020-02-01")
    assert budget.day_name() == "Saturday"
    assert budget in days
    bars = make_bars(dict.fromkeys(days.strftime("%Y-%m-%d"), 100.0), exchange="XBOM", currency="INR")
    bars = bars.assign(**daily_bounds(days, calendar))
    report = ingest(Market(bars), store, symbols=["AAA"], now=pd.Timestamp("2020-02-07 18:00", tz="UTC"))
    assert report.findings == ()
    assert budget in set(store.read()["session"])
