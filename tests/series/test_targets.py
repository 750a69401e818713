import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.errors import UnknownNameError
from fints.series import TARGETS, get_target

NAMES = sorted(TARGETS)


@pytest.fixture(scope="module")
def bars(make_bars):
    return make_bars()


def changed(bars: pd.DataFrame, **columns) -> pd.DataFrame:
    return bars.assign(**columns)


@pytest.mark.parametrize("name", NAMES)
def test_every_target_says_what_it_is_and_has_companions_that_exist(name):
    target = TARGETS[name]
    assert target.name == name
    assert target.doc
    assert target.unit
    assert target.source
    assert set(target.companions) <= set(TARGETS) - {name}


@pytest.mark.parametrize("name", NAMES)
def test_a_target_has_one_finite_value_per_ordinary_bar(bars, name):
    values = TARGETS[name](bars)
    assert values.shape == (len(bars),)
    assert np.isfinite(values[1:]).all()


@pytest.mark.parametrize("name", NAMES)
def test_damaged_bars_give_nan_and_never_an_infinity(bars, name):
    zero = changed(bars, volume=pd.array([0] * len(bars), dtype="Int64"), high=0.0, low=0.0, close=0.0, adj_close=0.0)
    missing = changed(
        bars, volume=pd.array([pd.NA] * len(bars), dtype="Int64"), high=np.nan, close=np.nan, adj_close=-1.0
    )
    assert np.isnan(TARGETS[name](zero)).all()
    assert np.isnan(TARGETS[name](missing)).all()


def test_volume_targets_follow_their_formulas(bars):
    volume = bars["volume"].astype(float)
    np.testing.assert_allclose(TARGETS["log_volume"](bars), np.log(volume))
    np.testing.assert_allclose(TARGETS["log_dollar_volume"](bars), np.log(volume * bars["close"]))


def test_parkinson_range_of_a_brownian_bar_is_its_volatility():
    rng = np.random.default_rng(0)
    steps = rng.normal(0, 0.02 / np.sqrt(2000), (1500, 2000)).cumsum(axis=1)
    path = np.concatenate([np.zeros((1500, 1)), steps], axis=1)
    frame = pd.DataFrame({"high": np.exp(path.max(axis=1)), "low": np.exp(path.min(axis=1))})
    variance = np.exp(2 * TARGETS["log_range"](frame)).mean()
    assert np.sqrt(variance) == pytest.approx(0.02, rel=0.04)


def test_garman_klass_follows_its_formula_and_is_parkinson_like_for_a_flat_body(bars):
    spread = np.log(bars["high"] / bars["low"])
    body = np.log(bars["close"] / bars["open"])
    variance = 0.5 * spread**2 - (2 * np.log(2) - 1) * body**2
    np.testing.assert_allclose(TARGETS["log_range_gk"](bars), 0.5 * np.log(variance))
    flat = changed(bars, open=bars["close"])
    np.testing.assert_allclose(
        TARGETS["log_range_gk"](flat) - TARGETS["log_range"](flat), 0.5 * np.log(2 * np.log(2)), atol=1e-12
    )


def test_a_bar_with_one_price_has_no_range(bars):
    one = changed(bars, low=bars["high"])
    assert np.isnan(TARGETS["log_range"](one)).all()
    assert np.isnan(TARGETS["log_range_gk"](one)).all()


def test_daily_returns_come_from_the_adjusted_close(bars):
    split = changed(bars, close=np.where(np.arange(len(bars)) < 100, bars["close"] * 2, bars["close"]))
    expected = np.log(bars["adj_close"]).diff().to_numpy()
    np.testing.assert_allclose(TARGETS["log_return"](split), expected)
    np.testing.assert_allclose(TARGETS["abs_return"](split), np.abs(expected))


def test_intraday_returns_come_from_the_close_and_include_the_night(make_bars):
    bars = make_bars(interval="1h", start="2018-06-01", end="2018-06-08").assign(adj_close=np.nan)
    np.testing.assert_allclose(TARGETS["log_return"](bars), np.log(bars["close"]).diff().to_numpy())


def test_no_return_is_taken_over_a_hole_behind_which_the_symbol_may_mean_something_else(make_bars):
    bars = make_bars(start="2018-01-02", end="2018-12-31")
    hole = bars[(bars["session"] < "2018-03-01") | (bars["session"] >= "2018-07-02")].reset_index(drop=True)
    first = int((hole["session"] < "2018-03-01").sum())
    for name in ("log_return", "abs_return"):
        missing = np.flatnonzero(np.isnan(TARGETS[name](hole)))
        assert missing.tolist() == [0, first]


@settings(deadline=None, max_examples=50)
@given(factor=st.floats(1e-3, 1e3))
def test_ranges_and_returns_do_not_depend_on_the_currency(factor):
    bars = pd.DataFrame(
        {
            "interval": "1d",
            "session": pd.to_datetime(["2018-06-01", "2018-06-04", "2018-06-05"]),
            "open": [1.0, 2.0, 2.5],
            "high": [1.5, 3.0, 2.6],
            "low": [0.5, 1.0, 2.1],
            "close": [1.2, 2.5, 2.2],
            "adj_close": [1.2, 2.5, 2.2],
        }
    )
    prices = ["open", "high", "low", "close", "adj_close"]
    scaled = bars.assign(**{name: bars[name] * factor for name in prices})
    for name in ("log_range", "log_range_gk", "log_return", "abs_return"):
        np.testing.assert_allclose(TARGETS[name](scaled), TARGETS[name](bars), rtol=1e-9, atol=1e-12)


def test_an_unknown_target_is_named_with_the_choices():
    with pytest.raises(UnknownNameError, match=r"unknown target 'log_volum'.*log_volume"):
        get_target("log_volum")
