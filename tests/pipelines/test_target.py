import numpy as np
import pandas as pd
import pytest

from fints.errors import SeriesError
from fints.forecast import QUANTILES, Forecast
from fints.series import future_frame, validate_panel
from fints.sessions import get_calendar
from fints.settings import load_settings
from pipelines.asof import AsOf
from pipelines.target import _comparable, _still_to_come

AS_OF = AsOf(pd.Timestamp("2018-12-31"), pd.Timestamp("2018-12-31"))


def panel(**stretches):
    """Series of noise, each from its first to its last date on its exchange."""
    parts = []
    for name, (exchange, first, last) in stretches.items():
        ds = get_calendar(exchange).sessions(first, last)
        y = np.random.default_rng(len(name)).normal(size=len(ds))
        parts.append(pd.DataFrame({"unique_id": name, "ds": ds, "y": y, "exchange": exchange, "interval": "1d"}))
    return validate_panel(pd.concat(parts, ignore_index=True))


def forecast(history, h=5):
    frame = future_frame(history, h)[["unique_id", "ds", "step"]]
    return Forecast(frame, np.arange(len(frame), dtype=float), np.zeros((len(frame), len(QUANTILES))))


def test_a_series_whose_next_bars_are_over_is_left_out():
    history = panel(
        DEAD=("XNYS", "2018-01-02", "2018-06-29"),
        LATE=("XNYS", "2018-01-02", "2018-12-27"),
        NOW=("XNYS", "2018-01-02", "2018-12-31"),
        TOKYO=("XTKS", "2018-01-04", "2018-12-28"),
    )
    kept, problems = _still_to_come(forecast(history), history, AS_OF)
    assert kept.frame["unique_id"].unique().tolist() == ["LATE", "NOW", "TOKYO"]
    assert kept.mean.tolist() == list(range(5, 20))
    assert [(p.unique_id, p.left_out) for p in problems] == [("DEAD", True), ("LATE", False)]
    assert problems[1].reason == "its last bar is of 2018-12-27: 2 of the 5 bars after it were over at the as-of"


def test_a_panel_that_ended_long_ago_is_refused():
    history = panel(DEAD=("XNYS", "2018-01-02", "2018-06-29"))
    with pytest.raises(SeriesError, match="no series goes on to the as-of: DEAD"):
        _still_to_come(forecast(history), history, AS_OF)


def test_a_series_too_short_before_the_first_cutoff_is_not_compared():
    """On an exchange that never closes, more bars lie behind the cutoff than on the one that sets it."""
    history = panel(
        LONG=("XNYS", "2014-01-02", "2018-12-31"),
        COIN=("24/7", "2018-04-10", "2018-12-31"),
    )
    settings = load_settings(None, ["h=10", "input_size=100", "holdout.n_windows=12"])
    assert (history["unique_id"] == "COIN").sum() > 100 + 20 + 11 * 10
    kept, training, left_out = _comparable(history, settings)
    assert left_out == ["COIN"]
    assert kept["unique_id"].unique().tolist() == ["LONG"]
    assert len(training) == len(kept) - 12 * 10


def test_nothing_to_compare_says_why():
    history = panel(A=("XNYS", "2018-06-01", "2018-12-31"))
    with pytest.raises(SeriesError, match="A: too short"):
        _comparable(history, load_settings())
