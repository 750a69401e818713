"""A search as one page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.report import tuning_figures as figures
from fints.report import tuning_tables as tables
from fints.report.pages import asset, template

if TYPE_CHECKING:
    from fints.report.tuning import TuningReport


def render_tuning(report: TuningReport) -> str:
    """Write the page of a search.

    Parameters
    ----------
    report : TuningReport
        Names and causes in it are data: they are escaped.

    Returns
    -------
    str
        A self-contained HTML page with figures as inline SVG. It fetches nothing and runs nothing, and says so in its
        content security policy.
    """
    course = (figures.history(report), figures.importance(report), figures.cost(report))
    return template("tuning.html.j2").render(
        report=report,
        headlines=report.headlines(),
        candidates=tables.candidates(report),
        judged=tables.judged(report),
        outcome=tables.outcome(report),
        course=[picture for picture in course if picture is not None],
        valleys=figures.valleys(report),
        trajectories=figures.trajectories(report),
        trials=tables.trials(report),
        problems=tables.problems(report),
        style=asset("nightly.css", "backtest.css"),
    )
