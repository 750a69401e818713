"""The night's outcome in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.report import champion, combination, comparisons, shortfalls, tables
from fints.report.glance import glance

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from rich.console import RenderableType

    from fints.periods import Periods
    from fints.report.nightly import NightlyReport, TargetReport


MOST_NAME = 10
"""Letters of a series' name that are kept on one line where the terminal is narrow."""


def nightly_table(report: NightlyReport, warnings: Sequence[str] = ()) -> RenderableType:
    """Lay out the forecasts and the verdicts for a terminal.

    Parameters
    ----------
    report : NightlyReport
    warnings : sequence of str
        What went wrong without stopping the night.

    Returns
    -------
    rich renderable
        What failed or was not delivered, what was restated, other notes; one line per series and target, with the model
        in use and what the hold-out decided below; then what became of earlier forecasts.
    """
    from rich.console import Group
    from rich.text import Text

    when = " at that time of day" if report.intraday else ""
    legend = (
        "Forecasts are medians, with the band that should hold the value four times in five. "
        f"Usual is the median of the last {tables.USUAL_BARS} sessions{when}."
    )
    return Group(
        Text(f"{report.title}, as of {report.as_of_text}", style="bold"),
        *_failures(report, warnings),
        *(Text(note, style="yellow") for note in (*shortfalls.restated(report), *shortfalls.other_notes(report))),
        *(part for target in report.targets for grid in _forecasts(report, target) for part in (Text(""), grid)),
        Text(""),
        Text(legend, style="dim"),
        *_lookback(report),
    )


def _failures(report: NightlyReport, warnings: Sequence[str]) -> list[RenderableType]:
    """Say what failed, the worst first: alerts, what was not delivered or left out, what the data lack."""
    from rich.text import Text

    alerts = () if report.verification is None else report.verification.alerts
    return [
        *(Text(f"ALERT {alert.rule}: {alert.sentence}", style="bold red") for alert in alerts),
        *(Text(f"not delivered: {symbol}: {cause}", style="red") for symbol, cause in report.failed.items()),
        *(_left_out(line) for _, line in report.problems.iterrows() if line.get("left_out", True)),
        *(Text(f"warning: {warning}", style="yellow") for warning in warnings),
        Text(shortfalls.findings_in_words(report.findings), style="dim"),
    ]


def _forecasts(report: NightlyReport, target: TargetReport) -> list[RenderableType]:
    """Lay out the tables of a target; what is to be said of all of them stands under the last."""
    said = "\n".join(
        [*_in_use(target), *comparisons.in_few_words(target.verdicts), *combination.in_words(target), *target.carried]
    )
    found = glance(report, target)
    return [_grid(target, table, said if table is found[-1] else "") for table in found]


def _grid(target: TargetReport, content: tables.Table, below: str) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        title=Text(f"{content.caption} ({target.target})", style="bold"),
        title_justify="left",
        caption=Text(below, style="default") if below else None,
        caption_justify="left",
        header_style="dim",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name, number in zip(content.columns, content.numeric, strict=True):
        grid.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    grid.columns[0].min_width = min(MOST_NAME, max((len(row[0].text) for row in content.rows), default=0))
    for row in content.rows:
        grid.add_row(*(Text(cell.text, style="bold" if cell.strong else "") for cell in row))
    return grid


def _lookback(report: NightlyReport) -> list[RenderableType]:
    """Say what became of earlier forecasts."""
    from rich.text import Text

    found = report.verification
    if found is None:
        return []
    said = [Text(sentence) for sentence in found.sentences[len(found.alerts) :]]  # they stand at the top
    return [Text(""), Text("What became of earlier forecasts", style="bold"), *said]


def _in_use(target: TargetReport) -> list[str]:
    ruling = target.ruling
    return [] if ruling is None else [champion.in_one_line(ruling), " ".join(champion.why_in_use(ruling))]


def _left_out(line: pd.Series) -> RenderableType:
    from rich.text import Text

    target = line.get("target")
    whose = f"{line['unique_id']}, {target}" if isinstance(target, str) and target else str(line["unique_id"])
    return Text(f"left out: {whose}: {line['reason']}", style="red")


def periods_table(found: Periods, title: str) -> RenderableType:
    """Lay out the cycles found for a terminal.

    Parameters
    ----------
    found : Periods
    title : str
        What was searched.

    Returns
    -------
    rich renderable
        One line per cycle, and below which series show none.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from fints.report.periods import cycles_table

    content = cycles_table(found)
    grid = Table(title=Text(title, style="bold"), title_justify="left", header_style="dim", box=box.SIMPLE_HEAD)
    for name, number in zip(content.columns, content.numeric, strict=True):
        grid.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in content.rows:
        grid.add_row(*(Text(cell.text, style="bold" if cell.strong else "") for cell in row))
    quiet = [name for name in found.series if not len(found[name])]
    none = [Text(f"No cycle stands out from noise in: {', '.join(quiet)}.")] if quiet else []
    return Group(grid, *none) if content.rows else Group(Text(title, style="bold"), *none)
