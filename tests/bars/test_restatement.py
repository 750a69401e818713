"""Nights of a vendor that restates: the store always stands on one basis, the newest one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fints.bars.actions import empty_actions
from fints.bars.ingest import ingest
from fints.bars.quality import check_bars
from fints.bars.restatement import hold_against
from fints.bars.revision import sentences
from fints.bars.sources.base import BarRequest
from fints.bars.store import BarStore
from fints.sessions.calendars import get_calendar
from tests.bars.vendor import Vendor

NOW = pd.Timestamp("2024-06-01", tz="UTC")
SESSIONS = get_calendar("XNYS").sessions("2018-10-01", "2018-12-31")
VALUES = ["session", "open", "high", "low", "close", "adj_close", "volume"]


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


def night(vendor: Vendor, store: BarStore, session: pd.Timestamp, failing: str = ""):
    vendor.tonight = session
    now = get_calendar("XNYS").schedule(session, session)["close"].iloc[0] + pd.Timedelta(hours=1)
    report = ingest(vendor, store, symbols=[vendor.symbol], now=now)
    assert list(report.failed) == ([vendor.symbol] if failing else [])
    assert failing in report.failed.get(vendor.symbol, "")
    return report


def assert_one_basis(store: BarStore, vendor: Vendor, rtol: float = 1e-12) -> None:
    stored, truth = store.read()[VALUES], vendor.truth()[VALUES]
    pd.testing.assert_frame_equal(stored, truth, rtol=rtol, atol=0, check_exact=False)


def nights(vendor: Vendor, store: BarStore, first: int, last: int, step: int = 1) -> list:
    return [night(vendor, store, session) for session in SESSIONS[first:last:step]]


def test_kind_11_a_dividend_restates_the_adjusted_closes_of_the_whole_history_and_nothing_else(store) -> None:
    vendor = Vendor(SESSIONS, dividends={str(SESSIONS[40]): 0.6})
    nights(vendor, store, 39, 41)
    assert [request.start for request in vendor.asked] == [None, SESSIONS[35], None]
    assert_one_basis(store, vendor, rtol=0)
    (change,) = store.diff(1, 2).to_dict("records")
    assert (change["columns"], change["revised"], change["dividend"], change["split"]) == ("adj_close", 40, 40, 0)


def test_kind_12_no_two_bases_after_a_split_and_a_dividend_whatever_nights_were_missed(store) -> None:
    vendor = Vendor(SESSIONS, splits={str(SESSIONS[40]): 4.0}, dividends={str(SESSIONS[43]): 0.3})
    for session in (30, 38, 46, 47):
        night(vendor, store, SESSIONS[session])
        assert_one_basis(store, vendor, rtol=0)


@given(
    split=st.tuples(st.integers(21, 33), st.sampled_from([2.0, 3.0, 0.1, 1.048])),
    dividend=st.tuples(st.integers(21, 33), st.floats(0.01, 20)),
    steps=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    reach=st.sampled_from([None, 9]),
    tells=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=6)
def test_the_store_stands_on_the_newest_basis_after_every_night(split, dividend, steps, reach, tells) -> None:
    vendor = Vendor(SESSIONS, {str(SESSIONS[split[0]]): split[1]}, {str(SESSIONS[dividend[0]]): dividend[1]})
    with tempfile.TemporaryDirectory() as folder:
        store = BarStore(Path(folder) / "store")
        at = 20
        night(vendor, store, SESSIONS[at])
        vendor.reach, vendor.tells = reach, tells
        for step in steps:
            at += step if reach is None else min(step, 4)
            night(vendor, store, SESSIONS[at])
            # rows brought over by a measured factor carry its rounding; volumes are whole
            assert_one_basis(store, vendor, rtol=1e-12 if reach is None else 1e-6)
        assert store.verify() == []


def test_a_history_that_the_source_no_longer_serves_is_brought_to_the_new_basis_and_says_so(store) -> None:
    vendor = Vendor(SESSIONS, splits={str(SESSIONS[40]): 4.0}, dividends={str(SESSIONS[40]): 0.6})
    night(vendor, store, SESSIONS[39])
    before = store.read()
    vendor.reach = 8
    report = night(vendor, store, SESSIONS[40])
    after = store.read(end=SESSIONS[39])
    np.testing.assert_array_equal(after["close"], before["close"] * 0.25)
    assert after["volume"].tolist() == (before["volume"] * 4).tolist()
    (told,) = [finding for finding in report.findings if finding.kind == "rescaled"]
    assert "33 stored bars" in told.reason
    assert "prices times 0.25, volumes times 4" in told.reason
    night(vendor, store, SESSIONS[41])
    assert "rescaled" in store.findings()["kind"].tolist()
    pd.testing.assert_frame_equal(store.read(version=1), before)


def test_a_dividend_never_touches_prices_or_volume_of_bars_that_are_not_served(store) -> None:
    vendor = Vendor(SESSIONS, dividends={str(SESSIONS[40]): 0.6})
    night(vendor, store, SESSIONS[39])
    before = store.read()
    vendor.reach = 8
    night(vendor, store, SESSIONS[40])
    after = store.read(end=SESSIONS[39])
    raw = ["open", "high", "low", "close", "volume"]
    pd.testing.assert_frame_equal(after[raw], before[raw])
    assert (after["adj_close"] < before["adj_close"]).all()


def test_a_split_stated_without_an_overlap_is_enough_where_the_prices_agree(store) -> None:
    vendor = Vendor(SESSIONS, splits={str(SESSIONS[40]): 4.0})
    night(vendor, store, SESSIONS[39])
    vendor.reach = 5
    report = night(vendor, store, SESSIONS[44])
    assert [finding.kind for finding in report.findings] == ["rescaled"]
    assert_one_basis(store, vendor)


def deliver(store: BarStore, bars: pd.DataFrame, actions: pd.DataFrame | None = None):
    kept, findings = check_bars(bars.assign(fetched_at=NOW), now=NOW)
    held = hold_against(store, kept, empty_actions() if actions is None else actions)
    store.commit(held.bars, findings + held.findings, actions)
    return held


@pytest.fixture
def history(store) -> pd.DataFrame:
    vendor = Vendor(SESSIONS)
    night(vendor, store, SESSIONS[29])
    vendor.tonight = SESSIONS[33]
    return vendor.truth()


PRICES = ["open", "high", "low", "close", "adj_close"]


def scaled(bars: pd.DataFrame, rows: slice, factor: float) -> pd.DataFrame:
    moved = bars.reset_index(drop=True)
    moved.loc[rows, PRICES] *= factor
    return moved


def test_a_delivery_that_only_goes_on_is_left_alone(store, history) -> None:
    held = deliver(store, history.tail(9))
    assert (held.findings, len(held.restated), len(held.bars)) == ([], 0, 9)
    assert_frame(store, history)


def assert_frame(store: BarStore, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(store.read()[VALUES], expected[VALUES].reset_index(drop=True))


def test_kind_09_another_currency_is_a_conflict_and_the_stored_bars_stay(store, history) -> None:
    before = store.read()
    held = deliver(store, history.tail(9).assign(currency="GBP"))
    assert held.bars.empty
    assert {finding.kind for finding in held.findings} == {"currency_conflict"}
    assert held.findings[0].reason == "the bar is in GBP, the stored ones are in USD"
    pd.testing.assert_frame_equal(store.read(), before)
    assert len(store.quarantine()) == 9


def test_kind_09_a_night_in_pence_fetches_no_history_in_pence_and_the_next_night_goes_on(store) -> None:
    vendor = Vendor(SESSIONS)
    night(vendor, store, SESSIONS[39])
    vendor.unit = 100.0
    report = night(vendor, store, SESSIONS[40], "another unit")
    assert [request.start for request in vendor.asked] == [None, SESSIONS[35]]
    assert report.commit.inserted == report.commit.revised == {}
    vendor.unit = 1.0
    night(vendor, store, SESSIONS[41])
    assert_one_basis(store, vendor, rtol=0)


@pytest.mark.parametrize("factor", [100.0, 0.01])
@pytest.mark.parametrize("rows", [9, 4])  # with an overlap of five, and without any
def test_kind_09_a_delivery_wholly_in_pence_is_set_aside_and_never_scaled(store, history, factor, rows) -> None:
    before = store.read()
    held = deliver(store, scaled(history.tail(rows), slice(None), factor))
    assert held.bars.empty
    assert {finding.kind for finding in held.findings if finding.severity == "quarantine"} == {"unit_change"}
    pd.testing.assert_frame_equal(store.read(), before)


def test_kind_09_new_bars_in_pence_after_an_overlap_in_pounds_are_set_aside(store, history) -> None:
    held = deliver(store, scaled(history.tail(9), slice(5, None), 100.0))
    assert {(f.kind, str(f.session.date())) for f in held.findings if f.severity == "quarantine"} == {
        ("unit_change", str(session.date())) for session in SESSIONS[30:34]
    }
    assert len(store.read()) == 30


def test_a_consolidation_of_a_hundred_shares_that_is_stated_is_no_change_of_unit(store, history) -> None:
    vendor = Vendor(SESSIONS, splits={str(SESSIONS[31]): 0.01}, tonight=SESSIONS[33])
    told = vendor.fetch(BarRequest("AAA"))
    held = deliver(store, told.bars.tail(9), told.actions)
    assert [finding.kind for finding in held.findings] == ["rescaled"]
    assert_one_basis(store, vendor)


def test_kind_10_a_split_applied_to_some_bars_only_is_set_aside(store, history) -> None:
    before = store.read()
    torn = scaled(history.tail(9), slice(None, 2), 0.25)
    held = deliver(store, torn)
    assert [(f.kind, str(f.session.date())) for f in held.findings] == [
        ("partial_split", str(session.date())) for session in SESSIONS[25:28]
    ]
    pd.testing.assert_frame_equal(store.read(end=SESSIONS[29]), before)
    assert len(store.read()) == 34


def test_kind_10_a_split_that_the_source_applies_late_restates_what_lies_before_its_ex_date(store) -> None:
    unsplit = Vendor(SESSIONS, splits={str(SESSIONS[30]): 4.0}, tonight=SESSIONS[29]).truth()
    split = Vendor(SESSIONS, splits={str(SESSIONS[30]): 4.0}, tonight=SESSIONS[33]).truth()
    store.commit(pd.concat([unsplit, split.iloc[30:32]], ignore_index=True))
    held = deliver(store, split.tail(7))
    assert [finding.kind for finding in held.findings] == ["rescaled"]
    np.testing.assert_allclose(store.read()["close"], split["close"], rtol=1e-12)
    (restated,) = held.restated.to_dict("records")
    assert (restated["kind"], restated["rows"], restated["last"]) == ("split", 30, SESSIONS[29])
    assert restated["factor"] == pytest.approx(0.25)


def test_kind_10_a_jump_from_the_last_stored_bar_waits_for_a_second_one(store, history) -> None:
    held = deliver(store, scaled(history.iloc[[30]], slice(None), 0.25))
    assert [finding.kind for finding in held.findings] == ["unconfirmed_jump"]
    held = deliver(store, scaled(history.iloc[30:34], slice(None), 0.25))
    assert [finding.kind for finding in held.findings] == ["split_jump"]
    assert len(store.read()) == 34


def test_kind_10_a_full_restatement_is_a_new_version_and_the_old_stays_readable(store, history) -> None:
    before = store.read()
    held = deliver(store, scaled(history, slice(None), 0.25))
    (restated,) = held.restated.to_dict("records")
    assert (restated["kind"], restated["rows"], restated["factor"]) == ("split", 30, pytest.approx(0.25))
    assert_frame(store, scaled(history, slice(None), 0.25))
    pd.testing.assert_frame_equal(store.read(version=1), before)


def test_a_factor_that_the_stated_splits_deny_moves_no_older_bar(store, history) -> None:
    actions = Vendor(SESSIONS, splits={str(SESSIONS[31]): 3.0}, tonight=SESSIONS[33])
    told = actions.fetch(BarRequest("AAA")).actions
    held = deliver(store, scaled(history.tail(9), slice(None), 0.5), told)
    assert [finding.kind for finding in held.findings] == ["mixed_basis"]
    assert "by 0.5 (adjusted closes by 0.5), the splits it states make 0.333333" in held.findings[0].reason
    assert len(held.bars) == 9


def test_a_missing_volume_or_adjusted_close_never_overwrites_a_value(store, history) -> None:
    lost = history.tail(9).reset_index(drop=True)
    lost.loc[1, "volume"] = pd.NA
    lost.loc[2, "volume"] = 0
    lost.loc[3, "adj_close"] = np.nan
    held = deliver(store, lost)
    assert [finding.kind for finding in held.findings] == ["value_kept"] * 3
    assert held.restated.empty
    assert_frame(store, history)


def test_a_correction_is_counted_apart_from_dividends(store, history) -> None:
    corrected = history.tail(9).reset_index(drop=True)
    corrected.loc[2, "close"] += 0.01
    corrected.loc[2, "adj_close"] += 0.01
    held = deliver(store, corrected)
    assert held.restated[["kind", "rows"]].to_numpy().tolist() == [["correction", 1]]
    old, new = (f"{frame['close'].iloc[2]:.10g}" for frame in (history.tail(9), corrected))
    day = f"{corrected['session'].iloc[2]:%Y-%m-%d}"
    assert sentences(held.restated) == [
        f"AAA: 1 bar of {day} restated (corrected: close {old} → {new}); the old ones stay readable"
    ]


def test_of_several_corrections_the_earliest_is_told_with_its_day_and_not_all_of_its_columns(store, history) -> None:
    corrected = history.tail(9).reset_index(drop=True)
    corrected.loc[[2, 4], "volume"] += 7
    corrected.loc[2, "open"] = corrected.loc[2, "low"]
    corrected.loc[2, "low"] -= 1
    (said,) = sentences(deliver(store, corrected).restated)
    first, last = (f"{corrected['session'].iloc[at]:%Y-%m-%d}" for at in (2, 4))
    volume, begun = history.tail(9)["volume"].iloc[2], f"{history.tail(9)['open'].iloc[2]:.10g}"
    assert said == (
        f"AAA: 2 bars of {first} to {last} restated (corrected, on {first}: volume {volume} → {volume + 7}, "
        f"open {begun} → {corrected.loc[2, 'open']:.10g}, 1 more); the old ones stay readable"
    )


def test_a_split_and_a_dividend_are_told_by_their_factor_once(store, history) -> None:
    (split,) = sentences(deliver(store, scaled(history, slice(None), 0.5)).restated)
    assert "restated (all prices were multiplied by 0.5)" in split
    paid = scaled(history, slice(None), 0.5)
    paid["adj_close"] *= 0.98
    (dividend,) = sentences(deliver(store, paid).restated)
    assert "restated (the adjusted close alone was multiplied by 0.98)" in dividend


def test_bars_that_another_source_revises_are_told_with_both(store, history) -> None:
    assert history["source"].nunique() == 1
    (said,) = sentences(deliver(store, scaled(history, slice(None), 0.5).assign(source="other")).restated)
    assert said.endswith(
        f"multiplied by 0.5; from other, before from {history['source'].iloc[0]}); the old ones stay readable"
    )
    assert not sentences(deliver(store, scaled(history, slice(None), 0.5).assign(source="third")).restated)


def test_an_adjusted_close_corrected_alone_moves_no_older_bar(store, history) -> None:
    corrected = history.tail(9).reset_index(drop=True)
    corrected.loc[0, "adj_close"] *= 0.999
    held = deliver(store, corrected)
    assert [finding.kind for finding in held.findings] == ["mixed_basis"]
    assert len(held.bars) == 9


def test_a_correction_of_the_first_bar_of_a_history_is_no_mixed_basis(store, history) -> None:
    corrected = history.reset_index(drop=True)
    corrected.loc[0, ["close", "adj_close"]] *= 1.004
    held = deliver(store, corrected)
    assert held.findings == []
    assert held.restated[["kind", "rows"]].to_numpy().tolist() == [["correction", 1]]


def test_a_bar_that_the_source_has_lost_is_restated_with_its_neighbours(store, history) -> None:
    held = deliver(store, scaled(history, slice(None), 0.5).drop(index=12))
    assert "rescaled" in {finding.kind for finding in held.findings}
    np.testing.assert_allclose(store.read()["close"], history["close"] * 0.5, rtol=1e-12)


def test_kind_20_a_symbol_that_comes_back_at_another_level_is_reported_across_two_fetches(store, history) -> None:
    summer = get_calendar("XNYS").sessions("2019-06-03", "2019-06-14")
    later = Vendor(summer, tonight=summer[-1]).truth()
    held = deliver(store, scaled(later, slice(None), 0.31).assign(currency="EUR"))
    assert {finding.kind for finding in held.findings} >= {"long_hole", "recycled_symbol"}
    assert len(store.read()) == 30 + len(later)
