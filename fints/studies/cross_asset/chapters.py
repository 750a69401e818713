"""The chapter on the interaction, and on cycle and residual apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.comparison.wording import needed, p_value, ruled, times
from fints.studies.cross_asset.gains import interactions, said, split
from fints.studies.cross_asset.panels import Led
from fints.studies.cross_asset.tasks import LED
from fints.studies.cross_asset.verdicts import MAIN
from fints.studies.findings import Chapter, Forest, ForestRow, Line, LineChart, Table
from fints.studies.intervals import t_interval

if TYPE_CHECKING:
    from fints.studies.comparison import Results
    from fints.studies.intervals import Interval

TEXT = """\
The gain of attending to the other series is the ratio of errors with it and without it, up to the trained horizon. The
interaction is that ratio with the cycle over that with another encoding, seed by seed: below 1, the cycle makes the
other series worth more. Its p-values are corrected after Holm among themselves.

Since the truth of a planted panel is known, a forecast of a follower can be taken apart: how much of its cycle it says
(the slope of the forecast less the residual on the cycle), and how much of what remains after the cycle (the slope of
the forecast less the cycle on the residual); 1 is all and 0 nothing. No forecast can say all of a residual: what is
shown of it after the lag comes of shocks that have not been.
"""


def panel_chapters(results: Results) -> list[Chapter]:
    """Show interactions, and what forecasts say of cycle and residual."""
    found = interactions(results)
    tables = []
    charts: list[Forest | LineChart] = []
    if found:
        rows = [
            {
                "task": c.place.task,
                "mode": c.place.mode,
                "gain with / gain with": f"{c.first} / {c.second}",
                "ratio": times(c),
                "p": p_value(c),
                "d_z": f"{c.effect:.2f}",
                "reads": ruled(c),
                "seeds needed": needed(c),
            }
            for c in found
        ]
        tables.append(Table("Interaction of the cycle with attention across series", pd.DataFrame(rows)))
        forest = []
        for c in found:
            ends, group = c.times, f"{c.place.task}, {c.place.mode}"
            forest.append(ForestRow(f"{c.first} / {c.second}", group, ends.mean, ends.low, ends.high, stands=c.differs))
        charts.append(
            Forest(
                slug="interaction",
                title="What attending to the others leaves of the error, with the cycle over without it",
                x_label="ratio of ratios (below 1: the cycle makes the others worth more), 95 % interval over seeds",
                rows=forest,
                margin=results.margin,
            )
        )
    parts = [row for task in results.tasks for mode in results.modes for row in _parts(results, task, mode)]
    if parts:
        tables.append(Table("How much of cycle and residual forecasts of followers say", pd.DataFrame(parts)))
    if arms := split(results, LED.name, MAIN) if LED.name in results.tasks else []:
        charts.append(_by_step(results, arms))
    return [Chapter("Does the cycle make the others worth more?", TEXT, tables, charts)]


def _parts(results: Results, task: str, mode: str) -> list[dict[str, str]]:
    return [
        {
            "task": task,
            "mode": mode,
            "arm": arm,
            "of the cycle": _share(t_interval(said(results, arm, task, mode, "cycle"))),
            "of the residual": _share(t_interval(said(results, arm, task, mode, "residual"))),
        }
        for arm in split(results, task, mode)
    ]


def _share(interval: Interval) -> str:
    if interval.n == 1:
        return f"{100 * interval.mean:.0f} %"
    return f"{100 * interval.mean:.0f} % ({100 * interval.low:.0f} to {100 * interval.high:.0f})"


def _by_step(results: Results, arms: list[str]) -> LineChart:
    lines = []
    for arm in arms:
        shares = np.array([unit["residual"] for unit in results.units[LED.name, MAIN, arm]])
        ahead = np.arange(1.0, shares.shape[1] + 1)
        lines.append(Line(arm, ahead, shares.mean(axis=0)))
    source = results.tasks[LED.name].source
    if isinstance(source, Led):
        ahead = lines[0].x
        best = source.memory ** (2 * np.maximum(0, ahead - source.lag))
        lines.append(Line("at best, the leader's residual known", ahead, best, reference=True))
    return LineChart(
        slug="led-residual",
        title="How much of what remains after the cycle forecasts of followers say",
        x_label="bars ahead",
        y_label="slope of the forecast on the residual",
        lines=lines,
    )
