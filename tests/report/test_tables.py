from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fints.report import NightlyReport, tables
from fints.report.units import unit_of


def test_usual_is_the_median_of_the_last_sixty_sessions(report: NightlyReport) -> None:
    target = report.targets[0]
    shown = tables.Shown.of(target, "^GSPC")
    expected = np.exp(target.past("^GSPC")["y"].tail(60).median())
    np.testing.assert_allclose(shown.usual, expected)


def test_usual_is_taken_at_the_same_time_of_day_on_intraday_bars(report: NightlyReport) -> None:
    target = report.targets[0]
    days = pd.date_range("2018-01-01", periods=80)
    stamps = np.sort(np.concatenate([days + pd.Timedelta(hours=10), days + pd.Timedelta(hours=15)]))
    y = np.where(pd.DatetimeIndex(stamps).hour == 10, 1.0, 5.0)
    history = pd.DataFrame({"unique_id": "X", "ds": stamps, "y": y})
    forecast = target.forecast[target.forecast["unique_id"] == "^GSPC"].assign(unique_id="X")
    ahead = pd.DatetimeIndex(["2018-06-01 10:00", "2018-06-01 15:00", "2018-06-02 10:00"])
    shown = tables.Shown.of(replace(target, history=history, forecast=forecast.assign(ds=ahead)), "X")
    np.testing.assert_allclose(shown.usual, np.exp([1.0, 5.0, 1.0]))


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2.9e9, 3.81e9, "2.90–3.81 B"),
        (0.9e9, 3.81e9, "900 M – 3.81 B"),
        (4.0, 5.0, "4.00–5.00"),
        (-2.0, 3.0, "−2.00 – 3.00"),
    ],
)
def test_a_band_names_its_unit_once(low: float, high: float, text: str) -> None:
    assert tables.band(unit_of("log_volume"), low, high) == text


def test_every_forecast_bar_has_a_row_with_the_models_own_scale(report: NightlyReport) -> None:
    table = tables.forecasts(report, report.targets[0], "^GSPC")
    assert [row[0].text for row in table.rows] == ["Wed 2 Jan 2019", "Thu 3 Jan 2019", "Fri 4 Jan 2019"]
    assert table.rows[0][-1].text == f"{np.log(3.5e9) + 0.1:.4f}"
    assert table.numeric == (False, True, True, True, True, True)


def test_a_long_list_of_findings_is_cut_and_says_so(report: NightlyReport) -> None:
    many = pd.concat([report.findings] * 30, ignore_index=True)
    table = tables.findings(replace(report, findings=many))
    assert len(table.rows) == tables.MOST_FINDINGS
    assert table.caption == f"90 findings, the first {tables.MOST_FINDINGS} shown"


def test_the_plan_tells_detected_cycles_from_prior_ones(report: NightlyReport) -> None:
    rows = [[cell.text for cell in row] for row in tables.plan(report.targets[0].plan, "log_volume").rows]
    assert rows == [
        ["5 sessions", "1,2", "detected", "< 0.001", "found in both series"],
        ["252 sessions", "1", "prior", "–", "nothing significant near a year"],
    ]
