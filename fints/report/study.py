"""What a study found as a page of Markdown with figures beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.report.charts import Palette, draw

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fints.studies import Chapter, Findings, Table


@dataclass(frozen=True, slots=True, eq=False)
class StudyReport:
    """A study that was run, ready to be written down.

    Parameters
    ----------
    name, question : str
        Of the study.
    command : str
        That repeats it.
    findings : Findings
    """

    name: str
    question: str
    command: str
    findings: Findings


@dataclass(frozen=True, slots=True)
class StudyPage:
    """A page and its figures. Equal findings make equal pages, byte for byte.

    Parameters
    ----------
    markdown : str
        For a file in some folder.
    figures : mapping of str to str
        SVG by path relative to that folder.
    """

    markdown: str
    figures: Mapping[str, str]


def render_study(report: StudyReport) -> StudyPage:
    """Write the page of a study: command, verdicts, then the chapters.

    Parameters
    ----------
    report : StudyReport

    Returns
    -------
    StudyPage
    """
    findings = report.findings
    charts = [chart for chapter in findings.chapters for chart in chapter.charts]
    palette = Palette.over(charts)
    figures = {_path(report.name, chart.slug): draw(chart, palette) for chart in charts}
    parts = [
        f"# {findings.title}",
        report.question,
        f"```sh\n{report.command}\n```",
        "## Verdicts",
        "\n".join(f"- {sentence}" for sentence in findings.verdicts),
        *(_chapter(report.name, chapter) for chapter in findings.chapters),
    ]
    return StudyPage("\n\n".join(parts) + "\n", figures)


def _path(name: str, slug: str) -> str:
    return f"{name}/{slug}.svg"


def _chapter(name: str, chapter: Chapter) -> str:
    parts = [f"## {chapter.title}", chapter.text.strip()]
    parts += [_table(table) for table in chapter.tables]
    parts += [f"![{chart.title}]({_path(name, chart.slug)})" for chart in chapter.charts]
    return "\n\n".join(part for part in parts if part)


def _table(table: Table) -> str:
    frame = table.frame
    numeric = [frame[column].dtype.kind in "iuf" for column in frame.columns]
    lines = [
        _row([str(column) for column in frame.columns]),
        _row(["---:" if n else "---" for n in numeric]),
        *(_row(cells) for cells in _cells(frame)),
    ]
    return f"{table.caption}\n\n" + "\n".join(lines)


def _cells(frame: pd.DataFrame) -> list[list[str]]:
    return [["" if value is None else str(value) for value in row] for row in frame.itertuples(index=False)]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
