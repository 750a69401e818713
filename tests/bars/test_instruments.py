from __future__ import annotations

import pandas as pd
import pytest

from fints.bars.actions import conform_actions
from fints.bars.instruments import instruments, join_aliases, present, read_instruments, separate
from fints.bars.quality import check_bars
from fints.bars.schema import validate_bars
from fints.bars.store import BarStore
from fints.errors import ConfigError, UnknownNameError
from fints.series import make_panel, panel_problems

NOW = pd.Timestamp("2024-06-01", tz="UTC")
FORMER = {"2002-12-03": 9.8, "2002-12-04": 9.9, "2002-12-05": 9.98}
LATER = {"2003-04-11": 99.7, "2003-04-14": 101.0, "2003-04-15": 100.5}


@pytest.fixture
def recycled(make_bars) -> pd.DataFrame:
    return validate_bars(make_bars({**FORMER, **LATER}, "EEM"))


def test_kind_20_a_recycled_symbol_is_two_instruments(recycled) -> None:
    table = instruments(recycled)
    assert table[["instrument", "rows", "current"]].to_numpy().tolist() == [
        ["EEM (until 2002-12-05)", 3, False],
        ["EEM", 3, True],
    ]
    assert present(recycled)["session"].min() == pd.Timestamp("2003-04-11")
    assert separate(recycled)["symbol"].value_counts().to_dict() == {"EEM": 3, "EEM (until 2002-12-05)": 3}


def test_kind_20_the_panel_of_a_recycled_symbol_begins_behind_the_hole_and_says_so(recycled) -> None:
    panel = make_panel(recycled, "log_return", features=False, companions=False)
    assert panel["ds"].tolist() == [pd.Timestamp("2003-04-14"), pd.Timestamp("2003-04-15")]
    (problem,) = panel_problems(recycled, "log_return")
    assert "3 bars until 2002-12-05 are another instrument" in problem.reason
    assert not problem.left_out
    both = make_panel(separate(recycled), "log_return", features=False, companions=False)
    assert both.groupby("unique_id").size().to_dict() == {"EEM": 2, "EEM (until 2002-12-05)": 2}
    assert both["y"].abs().max() < 0.02


def test_kind_20_a_long_hole_alone_leaves_one_instrument_without_a_return_over_it(make_bars) -> None:
    qqq = make_bars({"2004-11-29": 39.0, "2004-11-30": 39.2, "2011-03-23": 56.0, "2011-03-24": 56.6}, "QQQ")
    assert instruments(qqq)["rows"].tolist() == [4]
    panel = make_panel(qqq, "log_return", features=False, companions=False)
    assert panel["ds"].tolist() == [pd.Timestamp("2004-11-30"), pd.Timestamp("2011-03-24")]
    assert len(make_panel(qqq.assign(high=qqq["close"] + 1), "log_range", features=False)) == 4


@pytest.mark.parametrize(("column", "value"), [("currency", "EUR"), ("exchange", "XLON")])
def test_kind_20_another_currency_or_exchange_over_a_hole_is_another_instrument(make_bars, column, value) -> None:
    bars = make_bars({**FORMER, **dict.fromkeys(LATER, 10.0)})
    bars.loc[3:, column] = value
    assert len(instruments(bars)) == 2
    shut = make_bars({**FORMER, "2002-12-06": 10.0})
    shut.loc[3, column] = value
    assert len(instruments(shut)) == 1


def test_nothing_is_copied_where_no_symbol_is_recycled(make_bars) -> None:
    bars = validate_bars(make_bars(FORMER))
    assert separate(bars) is bars
    assert present(bars) is bars


RENAMED = {"2022-06-06": 194.0, "2022-06-07": 195.6, "2022-06-08": 196.6}
META = {"2022-06-09": 184.0, "2022-06-10": 175.6}


@pytest.fixture
def store(tmp_path, make_bars) -> BarStore:
    store = BarStore(tmp_path / "store")
    store.commit(pd.concat([make_bars(RENAMED, "FB"), make_bars(META, "META"), make_bars(RENAMED, "AAA")]))
    return store


def test_the_bars_of_a_former_name_come_before_those_of_the_present_one(store) -> None:
    bars = read_instruments(store, ["META", "AAA"], aliases={"FB": "META"})
    assert bars[bars["symbol"] == "META"]["close"].tolist() == [*RENAMED.values(), *META.values()]
    assert set(bars["symbol"]) == {"META", "AAA"}
    check_bars(bars, now=NOW)
    assert read_instruments(store, ["META"]).equals(store.read("META"))
    assert read_instruments(store, ["FB"], aliases={"FB": "META"}).equals(store.read("FB"))


def test_a_present_name_without_bars_has_those_of_the_former(store) -> None:
    assert len(read_instruments(store, ["NEW"], aliases={"FB": "NEW"})) == 3
    assert len(read_instruments(store, ["META"], aliases={"GONE": "META"})) == 2
    with pytest.raises(UnknownNameError, match="NEW"):
        read_instruments(store, ["NEW"], aliases={"OTHER": "NEW"})


def test_names_are_followed_through_several_changes(make_bars) -> None:
    days = list(RENAMED)
    bars = pd.concat([make_bars({day: 100.0}, name) for day, name in zip(days, "ABC", strict=True)])
    assert join_aliases(bars, {"A": "B", "B": "C"})["symbol"].tolist() == ["C"] * 3
    with pytest.raises(ConfigError, match="leads back"):
        join_aliases(bars, {"A": "B", "B": "A"})


def test_where_both_names_have_a_session_they_have_to_agree_and_the_present_one_stays(make_bars, caplog) -> None:
    old = make_bars({**RENAMED, "2022-06-09": 184.1}, "FB")
    joined = join_aliases(pd.concat([old, make_bars(META, "META")], ignore_index=True), {"FB": "META"})
    assert joined["close"].tolist() == [*RENAMED.values(), *META.values()]
    other = make_bars({**RENAMED, "2022-06-09": 190.0}, "FB")
    joined = join_aliases(pd.concat([other, make_bars(META, "META")], ignore_index=True), {"FB": "META"})
    assert joined["close"].tolist() == list(META.values())
    assert "both are stored on 2022-06-09 and 1 of 1 closes differ" in caplog.text


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"currency": "GBP"}, "the currency differs"),
        ({"exchange": "XLON"}, "the exchange differs"),
        ({"close": 9.0, "open": 9.0}, "the price goes from 9 "),
    ],
)
def test_of_two_names_that_are_hardly_one_instrument_the_former_is_left_out(
    make_bars, caplog, columns, message
) -> None:
    older = make_bars({"2022-06-03": 190.0}, "OLD")
    parts = [older, make_bars(RENAMED, "FB", **columns), make_bars(META, "META"), make_bars(RENAMED, "AAA")]
    joined = join_aliases(pd.concat(parts, ignore_index=True), {"FB": "META", "OLD": "FB", "A": "AAA"})
    assert joined.groupby("symbol")["close"].apply(list).to_dict() == {
        "META": list(META.values()),
        "AAA": list(RENAMED.values()),
    }
    assert message in caplog.text
    assert "Until then its 3 bars are left out" in caplog.text
    assert "alias OLD: META: its bars are left out" in caplog.text


@pytest.mark.parametrize("ratio", [4.0, 1.5, 0.1])
@pytest.mark.parametrize("overlap", [False, True])
def test_a_split_under_the_present_name_restates_the_bars_of_the_former(tmp_path, make_bars, ratio, overlap) -> None:
    later = {**META, "2022-06-13": 164.0, "2022-06-14": 163.7}
    old = make_bars({**RENAMED, **({"2022-06-09": 184.0} if overlap else {})}, "FB")
    new = make_bars({day: close / ratio for day, close in later.items()}, "META")
    row = {"symbol": "META", "session": "2022-06-13", "kind": "split", "value": ratio, "currency": "USD"}
    split = conform_actions(pd.DataFrame([{**row, "source": "test", "fetched_at": NOW}]))
    store = BarStore(tmp_path / "split")
    store.commit(pd.concat([old, new], ignore_index=True), actions=split)
    joined = read_instruments(store, ["META"], aliases={"FB": "META"})
    truth = [close / ratio for close in (*RENAMED.values(), *later.values())]
    assert joined["close"].tolist() == pytest.approx(truth)
    assert joined["volume"].tolist()[:3] == [1000 * ratio] * 3
    raw = join_aliases(pd.concat([old, make_bars(later, "META")], ignore_index=True), {"FB": "META"}, split)
    assert raw["close"].tolist() == [*RENAMED.values(), *later.values()]
