"""The chapter on periods: tables by nominal band and by planted period, and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.intervals import t_interval
from fints.studies.period_drift.drift import BANDS, Drift, approach, drift
from fints.studies.sources import Cycles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fints.studies.comparison import Results, Task

MARKED = ("t_rope", "near epoch, distance", "raw α")
"""Arms whose planes are all drawn."""

FAR = 1.1
"""A period that has changed by less than this factor is said to have stayed."""


def drift_chapter(results: Results) -> list[Chapter]:
    """Show how far periods went, and whether towards what was planted."""
    found = list(drifts(results))
    if not found:
        return []
    tables = [band_table(found), planted_table(results, found), decay_table()]
    return [Chapter("Where the periods went", TEXT, tables, [effective_chart(found), drift_chart(found)])]


TEXT = """\
A plane's nominal period is 2πβ; its effective one is 2πβ/|α|, with α from N(0, 1) before training. So before any
training effective periods are 1.9 times the nominal ones in the geometric mean, with a long tail (the mean of −ln|α| is
0.635). Turns say how far a plane's phase moved against itself from the first to the last bar that training saw: below
a tenth of a turn the change of a period cannot be noticed within them. With phases that count from 1970 a step that
moves a frequency moves the phases of all bars by nearly the same angle, about ten times as far as it moves the first
bar against the last: what is learned is a phase more than a period. Of a planted period distances are taken as daily
bars show them: a frequency and the same plus one turn per bar cannot be told apart.
"""


def drifts(results: Results) -> Iterator[tuple[str, Task, str, Drift]]:
    """List what learns, with task and mode."""
    for task, mode, arm in results.units:
        found = drift(results, arm, task, mode)
        if found is not None:
            yield arm, results.tasks[task], mode, found


def span(task: Task) -> float:
    """Return the days that training sees."""
    seen = task.seen(task.draw(0).panel)
    days = (seen["ds"].max() - seen["ds"].min()).days
    return float(days)


def band_table(found: list[tuple[str, Task, str, Drift]]) -> Table:
    """Return how many times longer periods became, by nominal band."""
    rows = []
    for arm, task, mode, periods in found:
        for band in BANDS:
            planes = periods.within(band)
            if not planes.any():
                continue
            logs = periods.logs[:, planes]
            times, nominal = (_factor(x[:, planes].mean(axis=1)) for x in (periods.logs, periods.from_nominal))
            rows.append(
                {
                    "task": f"{task.name}, {mode}",
                    "arm": arm,
                    "nominal period": band,
                    "after / before": times,
                    "moved by a factor, median": f"{np.exp(np.median(np.abs(logs))):.4g}",
                    f"planes moved over {100 * (FAR - 1):.0f} %": f"{100 * (np.abs(logs) > np.log(FAR)).mean():.0f} %",
                    "turns over what was seen, median": f"{np.median(periods.turns(span(task))[:, planes]):.2g}",
                    "after / nominal": nominal,
                }
            )
    caption = "Effective periods after training: geometric means over planes (Student's 95 % over seeds)"
    return Table(caption, pd.DataFrame(rows))


def planted_table(results: Results, found: list[tuple[str, Task, str, Drift]]) -> Table:
    """Return whether planes approached what was planted."""
    rows = []
    for arm, task, mode, periods in found:
        if not isinstance(task.source, Cycles):
            continue
        for planted in task.source.periods:
            way = approach(periods, planted)
            moved = way.moved[np.isfinite(way.moved)]
            rows.append(
                {
                    "task": f"{task.name}, {mode}",
                    "arm": arm,
                    "planted": f"{planted:g} days",
                    "nearest plane before": f"{100 * np.expm1(np.median(way.before)):.1f} % off",
                    "after": f"{100 * np.expm1(np.median(way.after)):.1f} % off",
                    "planes within a factor of 2 came closer by": _share(moved),
                    "seeds": str(len(results.units[task.name, mode, arm])),
                }
            )
    return Table(
        "Planes and the planted periods (medians over seeds; last, mean with Student's 95 %)", pd.DataFrame(rows)
    )


def decay_table() -> Table:
    """Return how many steps weight decay alone takes to shrink every α."""
    rows = []
    for rate, decay in ((4e-3, 0.1), (1e-3, 0.1), (1e-3, 0.01)):
        steps = {f"{times} times": f"{np.log(times) / (rate * decay):,.0f}" for times in (2, 50, 200)}
        rows.append({"learning rate": f"{rate:g}", "decay": f"{decay:g}", **steps})
    return Table(
        "Steps after which decoupled weight decay alone has made every period so many times longer", pd.DataFrame(rows)
    )


def effective_chart(found: list[tuple[str, Task, str, Drift]]) -> LineChart:
    """Draw effective periods over nominal ones, on the first task."""
    first, mode = found[0][1], found[0][2]
    chosen = [(arm, one) for arm, task, how, one in found if task is first and how == mode and arm in MARKED]
    ends = np.concatenate([one.nominal for _, one in chosen or [(found[0][0], found[0][3])]])
    line = np.array([ends.min(), ends.max()])
    marks = [Line(arm, np.tile(one.nominal, len(one.after)), one.after.ravel(), marks=True) for arm, one in chosen]
    return LineChart(
        "effective-periods",
        f"{first.title}: effective periods after training, all planes and seeds",
        "nominal period 2πβ, days",
        "effective period 2πβ/|α|, days",
        [Line("nominal", line, line, reference=True), *marks],
        log_x=True,
        log_y=True,
    )


def drift_chart(found: list[tuple[str, Task, str, Drift]]) -> LineChart:
    """Draw how far periods moved by nominal period, on the first task."""
    first, mode = found[0][1], found[0][2]
    lines = []
    for arm, task, how, one in found:
        if task is not first or how != mode:
            continue
        nominal = np.unique(one.nominal)
        moved = [np.median(np.abs(one.logs[:, one.nominal == value])) for value in nominal]
        lines.append(Line(arm, nominal, np.maximum(np.array(moved), 1e-9)))
    return LineChart(
        "drift-by-period",
        f"{first.title}: how far training moved the periods, median over planes and seeds",
        "nominal period 2πβ, days",
        "|ln(after / before)|",
        lines[:8],
        log_x=True,
        log_y=True,
    )


def _factor(logs: np.ndarray) -> str:
    interval = t_interval(logs)
    if interval.n == 1:
        return f"{np.exp(interval.mean):.3g}"
    return f"{np.exp(interval.mean):.3g} ({np.exp(interval.low):.3g} to {np.exp(interval.high):.3g})"


def _share(moved: np.ndarray) -> str:
    if not len(moved):
        return "no plane is near"
    interval = t_interval(moved)
    if interval.n == 1:
        return f"{100 * interval.mean:.2g} %"
    return f"{100 * interval.mean:.2g} % ({100 * interval.low:.2g} to {100 * interval.high:.2g})"
