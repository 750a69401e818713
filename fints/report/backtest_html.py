"""A backtest as one page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fints.report import backtest_figures as figures
from fints.report import backtest_tables as tables
from fints.report import tables as cells
from fints.report.pages import asset, template

if TYPE_CHECKING:
    from fints.report.backtest import BacktestReport, ComparedTarget
    from fints.report.backtest_svg import Picture
    from fints.report.colours import Look
    from fints.report.tables import Table


@dataclass(frozen=True, slots=True)
class Chapter:
    """What stands under one target."""

    target: str
    anchor: str
    brief: str
    headlines: tuple[str, ...]
    verdicts: tuple[str, ...]
    legend: tuple[tuple[str, Look], ...]
    leaderboard: Table
    errors: tuple[Picture, ...]
    distances: Table | None
    calibration: tuple[Picture, ...]
    series: tuple[Picture, ...]
    more_series: int
    series_table: Table
    timeline: Picture | None
    pairs: Table | None
    plan: Table
    costs: Table


def render_backtest(report: BacktestReport) -> str:
    """Write the page of a backtest.

    Parameters
    ----------
    report : BacktestReport
        Names and causes in it are data: they are escaped.

    Returns
    -------
    str
        A self-contained HTML page with figures as inline SVG. It fetches nothing and runs nothing, and says so in its
        content security policy.
    """
    report = replace(report, targets=tuple(replace(found, brief=True) for found in report.targets))
    looks = {found.call(name): look for found in report.targets for name, look in found.looks.items()}
    return template("backtest.html.j2").render(
        report=report,
        chapters=[_chapter(report, found, i) for i, found in enumerate(report.targets)],
        looks=looks,
        problems=tables.problems(report),
        style=asset("nightly.css", "backtest.css"),
    )


def _chapter(report: BacktestReport, found: ComparedTarget, number: int) -> Chapter:
    steps, word = found.result.by_step(), report.bar_word
    errors = (
        figures.skills(found),
        figures.by_step(found, steps, word),
        figures.against_baseline(found, steps, word),
        figures.by_window(found),
        figures.beyond_horizon(found),
    )
    several = found.result.frame["unique_id"].nunique()
    return Chapter(
        target=found.target,
        anchor=f"target-{number + 1}",
        brief=found.in_brief(),
        headlines=found.headlines(),
        verdicts=tuple(found.named(sentence) for sentence in found.verdicts),
        legend=tuple(
            (found.call(name), found.looks[name]) for name in found.looks if name not in found.result.failures
        ),
        leaderboard=tables.leaderboard(found),
        errors=tuple(picture for picture in errors if picture is not None),
        distances=tables.distances(found),
        calibration=(
            figures.coverage_by_step(found, steps, 80, word),
            figures.coverage_by_step(found, steps, 95, word),
            figures.reliability(found),
        ),
        series=figures.per_series(found, word) if several > 1 else (),
        more_series=max(several - figures.MOST_SERIES, 0),
        series_table=tables.series(found),
        timeline=figures.timeline(found.result),
        pairs=tables.pairs(found),
        plan=cells.plan(found.plan, found.target),
        costs=tables.costs(found),
    )
