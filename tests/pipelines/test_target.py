from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fints.errors import SeriesError
from fints.forecast import QUANTILES, Forecast
from fints.series import future_frame
from pipelines.asof import AsOf
from pipelines.searched import Searched
from pipelines.target import _still_to_come
from tests.pipelines.conftest import panel
from tests.pipelines.play import NIGHTS

AS_OF = AsOf(pd.Timestamp("2018-12-31"), pd.Timestamp("2018-12-31"))


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
    with pytest.raises(SeriesError, match=r"no series goes on to the as-of: DEAD.*--as-of 2018-06-29"):
        _still_to_come(forecast(history), history, AS_OF)


def test_what_found_no_room_in_the_plan_is_told_with_its_target(after, monkeypatch):
    found = Searched.of
    monkeypatch.setattr(
        "pipelines.target.Searched.of", lambda *given: replace(found(*given), notes=("There are 2 planes.",))
    )
    night, done = after[0].night(NIGHTS[-1], again=True)
    assert "log_volume: There are 2 planes." in night.notes
    assert "log_volume: There are 2 planes." in done.report.notes
