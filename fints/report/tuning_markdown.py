"""A search as Markdown: for a terminal, and for the description of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.report import tuning_tables as tables
from fints.report.backtest_markdown import table_markdown

if TYPE_CHECKING:
    from fints.report.tuning import TuningReport


def tuning_markdown(report: TuningReport) -> str:
    """Write a search as Markdown, the verdict first.

    Parameters
    ----------
    report : TuningReport

    Returns
    -------
    str
        The verdict, the tables, what the frequencies did, what went wrong, then how it was done.
    """
    verdict, *others = report.headlines()
    judged = tables.judged(report)
    parts = [
        f"**{report.in_brief()}.** {verdict}",
        *others,
        table_markdown(tables.candidates(report)),
        "" if judged is None else f"{judged.caption}:\n\n{table_markdown(judged)}",
        table_markdown(tables.outcome(report)),
        "\n".join(f"- {sentence}" for sentence in report.result.diagnostics),
        "\n".join("- " + ": ".join(c.text for c in row if c.text) for row in tables.problems(report).rows),
        report.how,
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
