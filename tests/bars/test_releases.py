from __future__ import annotations

import pandas as pd
import pytest

from fints.bars.quality import check_bars
from fints.bars.store import BarStore
from fints.errors import UnknownNameError, UsageError

NOW = pd.Timestamp("2024-06-01", tz="UTC")
WEEK = {"2018-12-17": 100.0, "2018-12-18": 101.0, "2018-12-19": 102.0, "2018-12-20": 103.0, "2018-12-21": 104.0}


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


@pytest.fixture
def odd(make_bars) -> pd.DataFrame:
    """A week whose Tuesday has its open outside the range: a quirk of the exchange that the user knows to be right."""
    bars = make_bars(WEEK)
    bars.loc[1, "open"] = 110.0
    return bars


def deliver(store: BarStore, bars: pd.DataFrame):
    return store.commit(*check_bars(bars, now=NOW))


def test_a_released_row_is_a_bar_from_then_on_and_was_none_before(store, odd) -> None:
    deliver(store, odd)
    (row,) = store.quarantine().to_dict("records")
    assert (row["state"], len(row["id"])) == ("open", 10)
    before = pd.Timestamp.now("UTC")
    decision = store.release([row["id"]], "the auction printed late")
    assert (decision.commit.version, decision.commit.inserted, decision.commit.revised) == (2, {"AAA": 1}, {})
    bars = store.read()
    assert bars["open"].tolist()[1] == 110.0
    assert bars["fetched_at"].iloc[1] >= before.floor("us")
    assert len(store.read(version=1)) == 4
    (row,) = store.quarantine().to_dict("records")
    assert (row["state"], row["decision"]) == ("released", "the auction printed late")
    assert row["decided_at"] >= before.floor("us")
    assert "open_outside_range" not in store.findings()["kind"].tolist()
    assert store.verify() == []


def test_a_released_row_survives_the_next_delivery_and_another_value_is_judged_anew(store, odd) -> None:
    deliver(store, odd)
    store.release(store.quarantine()["id"], "right")
    again = deliver(store, odd.assign(fetched_at=NOW, source="other"))
    assert (again.version, again.unchanged) == (2, {"AAA": 5})
    assert len(store.quarantine()) == 1
    assert store.findings().empty
    odd.loc[1, "open"] = 111.0
    deliver(store, odd)
    assert store.read()["open"].tolist()[1] == 110.0
    assert store.quarantine()["state"].tolist() == ["released", "open"]


def test_a_row_is_known_by_one_short_id_for_ever(store, odd) -> None:
    deliver(store, odd)
    (known,) = store.quarantine()["id"]
    deliver(store, odd.assign(fetched_at=NOW))
    assert BarStore(store.root).quarantine()["id"].tolist() == [known]
    assert store.release([known[:6]], "right").rows["id"].tolist() == [known]


def test_releasing_twice_is_releasing_once_and_says_so(store, odd) -> None:
    deliver(store, odd)
    ids = store.quarantine()["id"]
    store.release(ids, "right")
    again = store.release(ids, "right")
    assert (again.again, again.commit.version) == (tuple(ids), 2)
    assert store.version("releases") == 1


def test_a_release_of_a_key_that_is_stored_revises_it_and_says_so(store, make_bars, odd) -> None:
    deliver(store, make_bars(WEEK))
    deliver(store, odd)
    (row,) = store.quarantine().to_dict("records")
    assert row["superseded"]
    with pytest.raises(UsageError, match=r"stored for 2018-12-18: open 101\.0.*The row has open 110\.0.*--force"):
        store.release([row["id"]], "right")
    assert (store.version(), store.version("releases")) == (1, 0)
    decision = store.release([row["id"]], "right", force=True)
    assert decision.commit.revised == {"AAA": 1}
    assert store.read()["open"].tolist()[1] == 110.0


def test_a_dropped_row_stays_in_quarantine_and_is_marked(store, odd) -> None:
    deliver(store, odd)
    ids = store.quarantine()["id"]
    assert store.drop(ids, "a typing error").again == ()
    assert store.drop(ids, "a typing error").again == tuple(ids)
    deliver(store, odd)
    assert store.quarantine()[["state", "decision"]].to_numpy().tolist() == [["dropped", "a typing error"]]
    assert len(store.read()) == 4
    store.release(ids, "no, it was right")
    assert store.quarantine()["state"].tolist() == ["released"]
    with pytest.raises(UsageError, match="was released and is among the bars"):
        store.drop(ids, "really?")


def test_of_two_rows_of_one_bar_the_released_one_holds(store, make_bars) -> None:
    both = pd.concat([make_bars(WEEK), make_bars({"2018-12-19": 102.5}, fetched_at=NOW)])
    deliver(store, both)
    store.release(store.quarantine()["id"], "the first print was right", force=True)
    assert deliver(store, both).revised == {}
    assert store.read()["close"].tolist()[2] == 102.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"high": float("nan")}, "a price is missing"),
        ({"low": 0.0}, "a price is not positive"),
        ({"high": 90.0}, "its high is below its low"),
        ({"volume": -5}, "its volume is negative"),
        ({"open": 200.0, "volume": -5}, "its volume is negative"),
    ],
)
def test_a_row_that_is_no_bar_cannot_be_released(store, make_bars, change, message) -> None:
    bars = make_bars(WEEK)
    bars.loc[1, list(change)] = list(change.values())
    deliver(store, bars)
    for force in (False, True):
        with pytest.raises(UsageError, match=message):
            store.release(store.quarantine()["id"], "why not", force=force)
    assert store.version("releases") == 0


def test_a_row_whose_right_bar_came_later_is_superseded_and_does_not_replace_it(store, make_bars, odd) -> None:
    deliver(store, odd)
    assert store.quarantine()["superseded"].tolist() == [False]
    deliver(store, make_bars(WEEK, fetched_at=NOW))
    (row,) = store.quarantine().to_dict("records")
    assert (row["state"], row["superseded"]) == ("open", True)
    with pytest.raises(UsageError, match="would take the place"):
        store.release([row["id"]], "right")
    assert store.read()["open"].tolist()[1] == 101.0
    store.drop([row["id"]], "the right one came")
    assert store.quarantine()["superseded"].tolist() == [False]


def test_a_weekend_row_is_sent_to_the_calendar(store, make_bars) -> None:
    deliver(store, make_bars({**WEEK, "2018-12-22": 104.0}))
    with pytest.raises(UsageError, match="add the session to the calendar's overrides"):
        store.release(store.quarantine()["id"], "they traded")


def test_ids_are_looked_up_and_reasons_are_asked_for(store, odd) -> None:
    deliver(store, odd)
    (known,) = store.quarantine()["id"]
    for wanted in ("ffffffffff", known[:3], ""):
        with pytest.raises(UnknownNameError, match="unknown row in quarantine"):
            store.release([wanted], "right")
    with pytest.raises(UsageError, match="say why"):
        store.release([known], " ")
    with pytest.raises(UsageError, match="at least one"):
        store.drop([], "wrong")


def test_two_rows_of_one_bar_cannot_both_be_released(store, odd) -> None:
    deliver(store, odd)
    odd.loc[1, "open"] = 111.0
    deliver(store, odd)
    with pytest.raises(UsageError, match="the same bar"):
        store.release(store.quarantine()["id"], "both")


def test_a_release_killed_before_the_bars_is_completed_by_the_same_command(store, odd, monkeypatch) -> None:
    deliver(store, odd)
    ids = store.quarantine()["id"]
    with monkeypatch.context() as killed:
        killed.setattr("fints.bars.releases.merge_bars", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            store.release(ids, "right")
    assert len(store.read()) == 4
    assert store.release(ids, "right").commit.inserted == {"AAA": 1}
    assert store.version("releases") == 1


def test_released_rows_return_to_the_frames_of_their_symbols(store, odd, make_bars) -> None:
    mine = {symbol: odd.assign(symbol=symbol) for symbol in ("A", "B")}
    alone = make_bars({"2018-12-17": 50.0}, "C", open=60.0)
    deliver(store, pd.concat([*mine.values(), alone]))
    store.release(store.quarantine()["id"], "right")
    checked = [check_bars(bars.assign(fetched_at=NOW), now=NOW) for bars in (mine["A"], mine["B"], alone)]
    kept = [bars for bars, _ in checked if len(bars)]
    again = store.commit(kept, [finding for _, found in checked for finding in found])
    assert [len(bars) for bars in kept] == [4, 4]
    assert (again.version, again.unchanged) == (2, {"A": 5, "B": 5, "C": 1})
    assert store.findings().empty
