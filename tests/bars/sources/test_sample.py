from __future__ import annotations

from importlib import import_module

import pandas as pd
import pytest

import fints
from fints.bars.schema import validate_bars
from fints.bars.sources.base import BarRequest, BarSource
from fints.bars.sources.sample import SAMPLE, SampleSource, _read, sample_bars
from fints.errors import NoSuchRangeError, UnknownNameError


def test_the_sample_is_two_indices_of_5031_sessions() -> None:
    bars = fints.sample_bars()
    assert bars.groupby("symbol").size().to_dict() == {"^GSPC": 5031, "^IXIC": 5031}
    assert (bars["session"].min(), bars["session"].max()) == (pd.Timestamp("1999-01-04"), pd.Timestamp("2018-12-31"))
    pd.testing.assert_frame_equal(bars, validate_bars(bars))
    assert isinstance(SampleSource(), BarSource)


def test_the_values_are_those_of_the_package() -> None:
    from arch.data import sp500

    raw = sp500.load()
    bars = sample_bars(["^GSPC"])
    assert bars["close"].tolist() == raw["Close"].tolist()
    assert bars["adj_close"].tolist() == raw["Adj Close"].tolist()
    assert bars["volume"].tolist() == raw["Volume"].tolist()


def test_a_day_after_thanksgiving_ends_at_one() -> None:
    bars = sample_bars(["^GSPC"]).set_index("session")
    assert str(bars.loc["2018-11-23", "end"]) == "2018-11-23 18:00:00+00:00"
    assert str(bars.loc["2018-11-21", "end"]) == "2018-11-21 21:00:00+00:00"


def test_close_only_series_are_flat_bars_without_volume() -> None:
    bars = sample_bars(["WTI", "^VIX"])
    assert (bars[["open", "high", "low"]].to_numpy() == bars[["close"]].to_numpy()).all()
    assert bars["volume"].isna().all()


def test_nobody_can_change_the_sample_for_others() -> None:
    for bars in (sample_bars(), SampleSource().fetch(BarRequest("^GSPC")).bars):
        bars.loc[:, "close"] = 0.0
    assert (sample_bars()["close"] > 0).all()


def test_a_request_is_clipped_to_its_dates() -> None:
    request = BarRequest("^GSPC", "1d", pd.Timestamp("2018-12-03"), pd.Timestamp("2018-12-07"))
    sessions = SampleSource().fetch(request).bars["session"].dt.strftime("%m-%d").tolist()
    assert sessions == ["12-03", "12-04", "12-06", "12-07"]


def test_what_the_sample_does_not_hold_is_said() -> None:
    with pytest.raises(UnknownNameError, match="unknown symbol 'AAPL'"):
        sample_bars(["AAPL"])
    with pytest.raises(NoSuchRangeError, match="daily bars only"):
        SampleSource().fetch(BarRequest("^GSPC", "1h"))


@pytest.mark.parametrize("dataset", sorted({series.dataset for series in SAMPLE.values()}))
def test_rows_are_those_that_their_package_loads(dataset):
    theirs = import_module(f"arch.data.{dataset}").load()
    pd.testing.assert_frame_equal(_read(dataset), theirs)
