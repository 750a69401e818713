from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.bars.quality import check_bars
from fints.bars.sources import make_source, parse_source
from fints.bars.sources.base import BarRequest
from fints.errors import ConfigError, NoSuchRangeError, UnknownNameError


def fetch(symbol: str = "SYNA", interval: str = "1d", **options) -> pd.DataFrame:
    config = parse_source({"kind": "synthetic", "interval": interval, **options})
    return make_source(config).fetch(BarRequest(symbol, interval)).bars


QUIET = {"noise": 0.0, "trend": 0.0, "cycles": []}


def test_the_same_seed_gives_the_same_bars_and_another_one_does_not() -> None:
    pd.testing.assert_frame_equal(fetch(end="2011-01-03"), fetch(end="2011-01-03"))
    assert (fetch(end="2011-01-03")["close"] != fetch(end="2011-01-03", seed=1)["close"]).mean() > 0.9
    assert (fetch("SYNB", end="2011-01-03")["close"] != fetch(end="2011-01-03")["close"]).mean() > 0.9


@pytest.mark.parametrize("interval", ["1d", "1h"])
def test_a_longer_series_begins_with_the_shorter_one(interval) -> None:
    short, long = (fetch(interval=interval, end=end) for end in ("2010-06-30", "2010-12-31"))
    columns = ["session", "start", "end", "open", "high", "low", "close", "volume"]
    pd.testing.assert_frame_equal(long[columns].iloc[: len(short)], short[columns])


@pytest.mark.parametrize(("exchange", "interval"), [("XNYS", "1d"), ("XTKS", "1h"), ("XHKG", "30m"), ("24/7", "1h")])
def test_the_bars_pass_every_check(exchange, interval) -> None:
    bars = fetch(exchange=exchange, interval=interval, start="2018-11-01", end="2018-12-28")
    kept, findings = check_bars(bars, now=pd.Timestamp("2020-01-01", tz="UTC"))
    assert findings == []
    assert len(kept) == len(bars) > 30


def test_tokyo_has_no_bar_in_its_lunch() -> None:
    bars = fetch(exchange="XTKS", interval="1h", start="2018-11-01", end="2018-11-30")
    local = bars["start"].dt.tz_convert("Asia/Tokyo").dt.strftime("%H:%M")
    assert sorted(set(local)) == ["09:00", "10:00", "11:00", "12:30", "13:30", "14:30"]


@pytest.mark.parametrize(("clock", "period"), [("session", 10.0), ("calendar", 14.0)])
def test_a_planted_cycle_is_in_the_log_volume(clock, period) -> None:
    cycle = {"period": period, "clock": clock, "amplitude": 0.5}
    bars = fetch(**(QUIET | {"cycles": [cycle]}), end="2011-01-03")
    places = np.arange(len(bars)) if clock == "session" else (bars["session"] - bars["session"].iloc[0]).dt.days
    level = np.log(bars["volume"].astype("float64")) - np.log(
        fetch(**QUIET, end="2011-01-03")["volume"].astype("float64")
    )
    np.testing.assert_allclose(level, 0.5 * np.cos(2 * np.pi * np.asarray(places) / period), atol=1e-5)


def test_a_break_moves_the_level_from_its_session_on() -> None:
    bars = fetch(**QUIET, breaks=[{"session": "2010-06-01", "step": 1.0}], end="2010-12-31")
    plain = fetch(**QUIET, end="2010-12-31")
    step = np.log((bars["volume"] / plain["volume"]).astype("float64"))
    assert np.allclose(step, (bars["session"] >= "2010-06-01").astype(float), atol=1e-5)


def test_the_noise_is_red_with_the_stated_size() -> None:
    bars = fetch(**(QUIET | {"noise": 0.3}), persistence=0.8, start="1960-01-04", end="2018-12-31")
    level = np.log(bars["volume"].astype("float64").to_numpy())
    assert level.std() == pytest.approx(0.3, rel=0.1)
    assert np.corrcoef(level[1:], level[:-1])[0, 1] == pytest.approx(0.8, abs=0.03)


def test_volume_smiles_over_the_session() -> None:
    bars = fetch(interval="1h", **QUIET, start="2018-11-01", end="2018-11-20")
    by_bar = bars.groupby(bars.groupby("session").cumcount())["volume"].mean()
    assert by_bar.iloc[[0, -1]].min() > 2 * by_bar.iloc[3]


def test_what_is_not_configured_is_said() -> None:
    with pytest.raises(UnknownNameError, match="unknown symbol 'SPY'"):
        fetch("SPY")
    source = make_source(parse_source({"kind": "synthetic"}))
    with pytest.raises(NoSuchRangeError, match="set to '1d' bars"):
        source.fetch(BarRequest("SYNA", "1h"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "bloomberg"}, UnknownNameError, "unknown source 'bloomberg'"),
        ({"kind": "synthetic", "sigma": 1}, ConfigError, "option sigma"),
        ({"kind": "synthetic", "persistence": 1.0}, ConfigError, "option persistence"),
        ({"kind": "files"}, ConfigError, "option path"),
        ({"kind": "synthetic", "exchange": "XNYZ"}, UnknownNameError, "XNYZ"),
    ],
)
def test_a_wrong_option_is_named(options, error, message) -> None:
    with pytest.raises(error, match=message):
        make_source(parse_source(options))
