"""Splits and dividends planted into smooth prices, taken out again, against factors computed on the side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.bars.actions import conform_actions
from fints.bars.basis import adjust, find_splits, split_factors, split_sentences
from fints.bars.schema import validate_bars
from fints.bars.sources.base import daily_bounds
from fints.series import make_panel, panel_problems
from fints.sessions.calendars import get_calendar

SESSIONS = get_calendar("XNYS").sessions("2018-01-02", "2018-12-31")
NOW = pd.Timestamp("2024-01-01", tz="UTC")
SPLITS = {60: 7.0, 120: 0.1, 200: 1.5}
DIVIDENDS = {30: 0.8, 90: 0.2, 120: 3.0, 220: 1.1}


def raw_bars(splits: dict[int, float], symbol: str = "AAA", seed: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Bars as they were quoted, and the factor that each row's prices need, in float64."""
    rng, n = np.random.default_rng(seed), len(SESSIONS)
    smooth = 80 * np.exp(np.cumsum(rng.normal(0, 0.012, n)))
    turnover = rng.uniform(0.7, 1.3, n) * 1e9
    factor = np.ones(n)
    for row, ratio in splits.items():
        factor[:row] /= ratio
    close = smooth / factor
    bars = daily_bounds(SESSIONS, get_calendar("XNYS")).assign(
        open=close * np.exp(rng.normal(0, 0.005, n)),
        close=close,
        adj_close=close,
        volume=np.rint(turnover / close).astype("int64"),
        symbol=symbol,
        interval="1d",
        exchange="XNYS",
        currency="USD",
        source="test",
        fetched_at=NOW,
    )
    both = bars[["open", "close"]]
    return validate_bars(bars.assign(high=both.max(axis=1) * 1.004, low=both.min(axis=1) * 0.996)), factor


def actions(symbol: str = "AAA", splits=None, dividends=None) -> pd.DataFrame:
    rows = [
        (symbol, SESSIONS[row], kind, value, "USD", "test", NOW)
        for kind, known in (("split", splits or {}), ("dividend", dividends or {}))
        for row, value in known.items()
    ]
    names = ["symbol", "session", "kind", "value", "currency", "source", "fetched_at"]
    return conform_actions(pd.DataFrame(rows, columns=names))


def test_kind_10_splits_in_raw_prices_are_found_and_taken_out_without_being_told() -> None:
    bars, factor = raw_bars(SPLITS)
    found = find_splits(bars)
    assert found["session"].tolist() == [SESSIONS[row] for row in SPLITS]
    assert found["value"].tolist() == pytest.approx(list(SPLITS.values()))
    assert set(found["origin"]) == {"prices"}
    np.testing.assert_allclose(np.exp(split_factors(bars, found)), factor, rtol=1e-14)
    level = adjust(bars)
    for name in ("open", "high", "low", "close", "adj_close"):
        np.testing.assert_allclose(level[name], bars[name] * factor, rtol=1e-14)
    shares = bars["volume"].to_numpy(dtype=np.float64) / factor
    assert np.abs(level["volume"].to_numpy(dtype=np.float64) - shares).max() <= 0.5
    money, before = (frame["close"] * frame["volume"].astype("float64") for frame in (level, bars))
    np.testing.assert_allclose(money, before, rtol=1e-6)
    assert find_splits(level).empty


def test_stated_splits_are_taken_out_of_raw_prices_and_left_in_peace_where_the_source_adjusts() -> None:
    odd = {60: 7.0, 150: 1.05}
    bars, factor = raw_bars(odd)
    stated = actions(splits=odd)
    np.testing.assert_allclose(adjust(bars, stated)["close"], bars["close"] * factor, rtol=1e-14)
    adjusted = raw_bars({})[0]
    assert adjust(adjusted, stated) is adjusted


def test_an_adjusted_close_that_knows_of_the_split_confirms_it_and_is_left_alone() -> None:
    bars, factor = raw_bars({60: 2.0})
    rush = bars["volume"].where(np.arange(len(bars)) != 60, bars["volume"] * 9)
    bars = bars.assign(adj_close=bars["close"] * factor, volume=rush)
    (found,) = find_splits(bars).to_dict("records")
    assert (found["origin"], found["value"], found["adjusted_knows"]) == ("adjusted close", 2.0, True)
    level = adjust(bars)
    np.testing.assert_array_equal(level["adj_close"], bars["adj_close"])
    np.testing.assert_allclose(level["close"], level["adj_close"], rtol=1e-14)


def test_distributions_are_taken_out_of_prices_and_not_of_volumes() -> None:
    bars, factor = raw_bars(SPLITS)
    stated = actions(splits=SPLITS, dividends=DIVIDENDS)
    close = bars["close"].to_numpy()
    total = factor.copy()
    for row, cash in DIVIDENDS.items():
        total[:row] *= 1 - cash / (close[row - 1] / SPLITS.get(row, 1.0))
    level = adjust(bars, stated, to="total")
    for name in ("open", "close"):
        np.testing.assert_allclose(level[name], bars[name] * total, rtol=1e-13)
    np.testing.assert_array_equal(level["adj_close"], level["close"])
    assert level["volume"].tolist() == adjust(bars, stated)["volume"].tolist()


def test_a_crash_by_half_in_a_rush_of_trading_is_no_split() -> None:
    bars, _ = raw_bars({60: 2.0})
    rush = bars["volume"].where(np.arange(len(bars)) < 60, bars["volume"] * 4)
    assert find_splits(bars.assign(volume=rush)).empty


def test_a_change_of_level_amid_wild_prices_or_without_volume_is_not_confirmed() -> None:
    bars, _ = raw_bars({60: 2.0})
    assert find_splits(bars.assign(volume=pd.array([pd.NA] * len(bars), "Int64"))).empty
    wild = bars.assign(**{name: bars[name].where(bars.index != 63, bars[name] * 1.3) for name in ("high", "close")})
    assert find_splits(wild).empty


def test_series_are_adjusted_apart() -> None:
    (one, factor), (other, _) = raw_bars({60: 7.0}), raw_bars({}, "BBB", seed=4)
    level = adjust(pd.concat([one, other], ignore_index=True))
    np.testing.assert_allclose(level["close"], np.concatenate([one["close"] * factor, other["close"]]), rtol=1e-14)
    assert adjust(other) is other


@pytest.mark.parametrize("target", ["log_volume", "log_dollar_volume", "log_return", "log_range", "log_close"])
def test_kind_12_a_panel_of_raw_prices_is_that_of_prices_on_one_basis(target) -> None:
    raw, level = raw_bars({60: 4.0, 150: 2.0})[0], raw_bars({})[0]
    split, whole = (make_panel(bars, target, features=False) for bars in (adjust(raw), level))
    assert split["ds"].tolist() == whole["ds"].tolist()
    columns = [name for name in whole if name == "y" or name.startswith("past_")]
    np.testing.assert_allclose(split[columns], whole[columns], atol=1e-5, equal_nan=True)


def test_a_panel_says_which_splits_are_in_its_prices() -> None:
    (problem,) = panel_problems(raw_bars({60: 4.0, 150: 0.1})[0], "log_volume")
    assert problem.reason == (
        "splits in the prices (4 for 1 on 2018-03-29, 1 for 10 on 2018-08-07): what lies before is on another basis; "
        "see fints.bars.basis.adjust"
    )
    assert not problem.left_out
    assert panel_problems(raw_bars({})[0], "log_volume") == []


def test_a_row_of_a_panel_depends_on_no_later_bar() -> None:
    """Neither on a split to come, nor on the bars that would confirm it."""
    raw, _ = raw_bars({60: 4.0})
    whole = make_panel(raw, "log_volume", features=False, companions=False)
    for until in (50, 60, 61, 80):
        known = make_panel(raw.iloc[:until], "log_volume", features=False, companions=False)
        pd.testing.assert_frame_equal(known, whole.iloc[: len(known)])


def test_what_was_taken_out_is_said_in_a_sentence() -> None:
    (said,) = split_sentences(find_splits(raw_bars({60: 4.0, 150: 0.1})[0]))
    assert said.startswith("AAA: splits in its prices (4 for 1 on 2018-03-29, 1 for 10 on 2018-08-07)")
    assert split_sentences(find_splits(raw_bars({})[0])) == []
