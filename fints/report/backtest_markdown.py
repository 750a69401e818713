"""A backtest as Markdown: for a terminal, and for the description of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.report import backtest_tables as tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.report.backtest import BacktestReport
    from fints.report.tables import Table


def backtest_markdown(report: BacktestReport) -> str:
    """Write a backtest as Markdown, the verdict first.

    Parameters
    ----------
    report : BacktestReport

    Returns
    -------
    str
        The first sentence of every target, then the tables with the other sentences, then what went wrong. Columns are
        padded, so that it reads well as it stands.
    """
    parts = [f"**{found.target}**: {found.headlines()[0]}" for found in report.targets]
    for found in report.targets:
        parts += [f"## {found.target}", table_markdown(tables.leaderboard(found)), *found.headlines()[1:]]
        parts.append("\n".join(f"- {sentence}" for sentence in found.verdicts))
        if (distances := tables.distances(found)) is not None:
            parts += [distances.caption + ", in standard deviations of the context:", table_markdown(distances)]
    rows = tables.problems(report).rows
    parts.append("\n".join("- " + ": ".join(cell.text for cell in row if cell.text) for row in rows))
    parts.append(report.how)
    return "\n\n".join(filter(None, parts)) + "\n"


def table_markdown(table: Table) -> str:
    """Write a table as Markdown, its columns padded."""
    cells = [[_text(cell.text, strong=cell.strong) for cell in row] for row in table.rows]
    rows = [list(map(_text, table.columns)), *cells]
    rows = [row + [""] * (len(table.columns) - len(row)) for row in rows]
    # a failure runs over the columns beside it
    widths = [max(3, *(len(row[i]) for row in [rows[0], *_whole(rows)])) for i in range(len(table.columns))]
    lines = [_line(row, widths, table.numeric) for row in rows]
    ruler = ["-" * (w - 1) + ":" if right else "-" * w for w, right in zip(widths, table.numeric, strict=True)]
    return "\n".join([lines[0], _line(ruler, widths, table.numeric), *lines[1:]])


def _whole(rows: Sequence[list[str]]) -> list[list[str]]:
    return [row for row in rows if row[-1]]


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    ]
    return "| " + " | ".join(padded) + " |"


def _text(text: str, *, strong: bool = False) -> str:
    plain = text.replace("|", "\\|").replace("\n", " ")
    return f"**{plain}**" if strong and plain else plain
