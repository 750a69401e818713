from __future__ import annotations

import pytest

from pipelines.backtest_view import comparison_view

METRICS = ("by_horizon/rmse", "extrapolation/rmse_in_sd", "headline/rmse", "by_fold/rmse")


@pytest.mark.parametrize(("h", "smoothed"), [(20, set()), (140, {"by_horizon/rmse", "extrapolation/rmse_in_sd"})])
def test_curves_of_many_bars_ahead_are_smoothed_and_no_others(h: int, smoothed: set[str]) -> None:
    view = comparison_view("0123456789abcdef", "run", "log_volume", METRICS, h)
    charts = [chart for section in view.sections for chart in section.charts]
    assert {chart.metric for chart in charts} == set(METRICS)
    assert {chart.metric for chart in charts if chart.smoothed} == smoothed
