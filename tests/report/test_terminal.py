from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest
from rich.console import Console

from fints.report import NightlyReport, nightly_table


def printed(report: NightlyReport, width: int = 80) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=False)
    console.print(nightly_table(report))
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_one_line_per_series_has_the_last_value_the_next_and_the_furthest(report: NightlyReport, width: int) -> None:
    lines = [" ".join(line.split()) for line in printed(report, width).splitlines()]
    (row,) = [line for line in lines if line.startswith("^GSPC") and " B" in line]
    last = report.targets[0].past("^GSPC")["y"].iloc[-1]
    assert f"{2.718281828459045**last / 1e9:.2f} B" in row
    # exp of the planted medians: 3.5 B times exp(0.1) and exp(-0.3), bands of 1.28 × 0.2
    assert "3.87 B 2.99–5.00 B" in row
    assert "2.59 B 2.01–3.35 B" in row


def test_nothing_is_cut_off_at_eighty_columns(report: NightlyReport) -> None:
    short = replace(report, targets=tuple(_only(target, "^GSPC") for target in report.targets))
    assert "…" not in printed(short)
    assert "Wed 2 Jan" in printed(short)
    assert "Fri 4 Jan" in printed(short)


def test_verdicts_notes_and_what_was_left_out_are_said(report: NightlyReport) -> None:
    text = " ".join(printed(report).split())
    assert "Cycle is better than HAR on log_range: RMSE 7.7 % lower." in text
    assert "2019-01-01 is a closed day" in text
    assert "left out: SHORT, log_volume: 12 values are fewer than 272" in text
    assert "HOLED" not in text


def test_symbols_that_look_like_markup_are_printed_as_they_are(report: NightlyReport) -> None:
    history = report.targets[0].history.replace({"unique_id": {"^GSPC": "[bold]X[/bold]"}})
    forecast = report.targets[0].forecast.replace({"unique_id": {"^GSPC": "[bold]X[/bold]"}})
    target = replace(report.targets[0], history=history, forecast=forecast)
    assert "[bold]X[/bold]" in printed(replace(report, targets=(target,)), 120)


def test_intraday_bars_are_named_with_their_time(report: NightlyReport) -> None:
    target = _only(report.targets[0], "^GSPC")
    ds = pd.DatetimeIndex(["2019-01-02 09:30", "2019-01-02 10:30", "2019-01-02 11:30"])
    hourly = replace(report, interval="1h", targets=(replace(target, forecast=target.forecast.assign(ds=ds)),))
    text = " ".join(printed(hourly, 100).split())
    assert "Wed 2 Jan 09:30" in text
    assert "at that time of day" in text


def _only(target: object, name: str) -> object:
    return replace(
        target,
        history=target.history[target.history["unique_id"] == name],
        forecast=target.forecast[target.forecast["unique_id"] == name],
    )
