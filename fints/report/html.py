"""The nightly report as one page that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from fints.report import champion, combination, comparisons, figures, periods, shortfalls, tables
from fints.report.glance import glance
from fints.report.pages import asset, template
from fints.report.units import unit_of
from fints.report.verification import lookback_sections

if TYPE_CHECKING:
    from fints.report.figures import Drawing
    from fints.report.nightly import NightlyReport, TargetReport
    from fints.report.tables import Table
    from fints.report.units import Unit

MOST_DRAWN = 24
"""Series of a target that have figures: nobody reads hundreds of them, and a page of them is slow to open."""


@dataclass(frozen=True, slots=True)
class SeriesSection:
    """What stands under one series of one target."""

    name: str
    anchor: str
    fan: Drawing
    cycles: tuple[Drawing, ...]
    forecasts: Table
    remark: str = ""


@dataclass(frozen=True, slots=True)
class TargetSection:
    """What stands under one target."""

    report: TargetReport
    unit: Unit
    anchor: str
    leaderboard: Table | None
    by_step: Drawing | None
    members: Table | None
    coverage: Table | None
    events: Table | None
    cycles: Table | None
    plan: Table | None
    in_use: str
    why: tuple[str, ...]
    verdicts: tuple[str, ...]
    undecided: tuple[str, ...]
    decisions: Table | None
    series: tuple[SeriesSection, ...]
    undrawn: int


def render_nightly(report: NightlyReport) -> str:
    """Write the page of a night.

    Parameters
    ----------
    report : NightlyReport
        Symbols, reasons and names in it are data: they are escaped.

    Returns
    -------
    str
        A self-contained HTML page. It fetches nothing, and says so in its content security policy; plotly.js is
        inlined once.
    """
    from plotly.offline import get_plotlyjs

    return template("nightly.html.j2").render(
        report=report,
        headline=headline(report),
        glances=[table for target in report.targets if target.series for table in glance(report, target)],
        targets=[_target_section(report, target, i) for i, target in enumerate(report.targets)],
        lookback=lookback_sections(report.verification, report.bar_word),
        findings=tables.findings(report),
        problems=tables.problems(report),
        not_delivered=shortfalls.not_delivered(report),
        misplaced=shortfalls.misplaced(report),
        left_out=shortfalls.named(report.left_out()),
        reasons=shortfalls.reasons(report),
        undelivered=shortfalls.named(list(report.failed)),
        notes=(*shortfalls.restated(report), *shortfalls.other_notes(report)),
        usual_bars=tables.USUAL_BARS,
        plotlyjs=Markup(get_plotlyjs()),
        style=asset("nightly.css"),
        script=asset("nightly.js"),
    )


def headline(report: NightlyReport) -> str:
    """Say what was forecast, for when, in one sentence."""
    names = [unit_of(target.target).title.lower() for target in report.targets]
    series = sorted({name for target in report.targets for name in target.series})
    stamps = [stamp for target in report.targets for stamp in target.forecast["ds"]]
    if not stamps:
        return "Nothing could be forecast; the reasons stand below."
    coming = [
        ds
        for target in report.targets
        for name in target.series
        for ds in target.ahead(name)["ds"]
        if not target.is_over(name, ds)
    ]
    what = " and ".join(dict.fromkeys(names))
    whose = series[0] if len(series) == 1 else f"{len(series)} series"
    kind = f"bars of {report.interval}" if report.intraday else "sessions"
    late = shortfalls.behind_in_words(report)
    return (
        f"{what[:1].upper()}{what[1:]} of {whose} for the next {report.h} {kind}, "
        f"{report.stamp(min(coming or stamps))} to {report.stamp(max(stamps))}{f'; {late}' if late else ''}"
    )


def _target_section(report: NightlyReport, target: TargetReport, number: int) -> TargetSection:
    anchor = f"target-{number + 1}"
    return TargetSection(
        report=target,
        unit=unit_of(target.target),
        anchor=anchor,
        leaderboard=tables.leaderboard(target) if len(target.leaderboard) else None,
        by_step=figures.by_step(target, report.bar_word),
        members=combination.members(target, report.bar_word),
        coverage=combination.coverage(target, report.bar_word),
        events=combination.events(target),
        cycles=periods.cycles_table(target.found) if target.found is not None else None,
        plan=tables.plan(target.plan, target.target) if len(target.plan) else None,
        in_use="" if target.ruling is None else champion.in_one_line(target.ruling),
        why=() if target.ruling is None else champion.why_in_use(target.ruling),
        verdicts=comparisons.in_few_words(target.verdicts),
        undecided=comparisons.undecided(target.verdicts),
        decisions=None if target.ruling is None else champion.decisions_table(target.ruling),
        series=tuple(
            SeriesSection(
                name=name,
                anchor=f"{anchor}-series-{i + 1}",
                fan=figures.fan(report, target, name),
                cycles=() if target.found is None else periods.drawings(target.found, name),
                forecasts=tables.forecasts(report, target, name),
                remark=target.remarks.get(name, ""),
            )
            for i, name in enumerate(target.series[:MOST_DRAWN])
        ),
        undrawn=len(target.series[MOST_DRAWN:]),
    )
