"""The chapter on attention: a table of heights, and attention by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.comparison.figures import FEWEST
from fints.studies.comparison.wording import p_value, ruled, times
from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.intervals import t_interval
from fints.studies.looking_back.readings import LEAST, attention, read
from fints.studies.looking_back.tasks import ruler
from fints.studies.looking_back.verdicts import BOTH_FOLD, CLOCK_FOLD, CYCLE, DIFFERENCES, ROPE, own

if TYPE_CHECKING:
    from fints.studies.comparison import Results
    from fints.studies.looking_back.readings import Height

LINES = (ROPE, BOTH_FOLD, CLOCK_FOLD, CYCLE)
"""Arms that are drawn; symmetric laws lie on the folded ones."""

FLOOR = 0.01
"""Attention per bar below which a figure ends."""


def attention_chapters(results: Results) -> list[Chapter]:
    """Show where attention looks."""
    found = read(results, DIFFERENCES)
    heights, others = own(found), [h for h in found if h.contrast.second != h.peak.name]
    text = f"""\
Attention of the tokens of bars asked for to the bars of the context, averaged over layers, heads, bars ahead and
windows of the test, as a multiple of an even spread. A *height* is that at one distance over the mean of that at others
around it; 1 is no peak. Intervals are Student's at 95 % of the logarithm over seeds; p is that of the t-test against 1,
corrected after Holm for all {len(found)} readings of both tables. Before training heights are near 1 for every
encoding: what stands out is learned, not put there by the planes. The strongest head is the largest height of a single
head of any layer.
"""
    tables = [Table("Heights in trained models", pd.DataFrame([_row(h, results) for h in heights]))]
    if others:
        tables.append(Table("Heights with one encoding over those with another", pd.DataFrame(map(_compared, others))))
    return [Chapter("Where attention looks", text, tables, _charts(results))]


def _row(height: Height, results: Results) -> dict[str, str]:
    c, peak = height.contrast, height.peak
    cell = (c.first, c.place.task, c.place.mode)
    before = attention(results, *cell, "before").mean(axis=(1, 2))
    heads = attention(results, *cell)
    strongest = [max(peak.height(head) for layer in seed for head in layer) for seed in heads]
    return {
        "task": c.place.task,
        "mode": c.place.mode,
        "encoding": c.first,
        "distance": f"{peak.name}, over {peak.beside}",
        "height": times(c),
        "before training": f"{np.mean([peak.height(profile) for profile in before]):.2f}",
        "strongest head": f"{np.exp(np.mean(np.log(strongest))):.3g}",
        "p": p_value(c),
        "reads": {"higher": "looked at", "lower": "avoided"}.get(c.ruling, ruled(c)),
    }


def _compared(height: Height) -> dict[str, str]:
    c = height.contrast
    return {
        "task": c.place.task,
        "mode": c.place.mode,
        "encodings": f"{c.first} / {c.second}",
        "distance": height.peak.name,
        "ratio of heights": times(c),
        "p": p_value(c),
        "reads": ruled(c),
    }


def _charts(results: Results) -> list[LineChart]:
    """Draw attention by distance for every task, without covariates."""
    charts = []
    for task in results.tasks.values():
        arms = [arm for arm in LINES if results.has(arm, task.name, "bare")]
        if not arms:
            continue
        by = ruler(task)
        lines = [_line(results, arm, task.name) for arm in arms]
        top = 1.3 * max(float(line.y.max()) for line in lines)
        marks = list(dict.fromkeys((peak.at, peak.name) for peak in by.peaks if "against" not in peak.name))
        unit = "bars" if by.clock == "index" else "days"
        lines += [
            Line(f"{name} ({at} {unit})", np.array([at, at], float), np.array([FLOOR, top]), reference=True)
            for at, name in marks
        ]
        charts.append(
            LineChart(
                slug=f"{task.name}-attention",
                title=f"Where attention looks on {task.title}",
                x_label="bars back from the bar asked for" if by.clock == "index" else "calendar days back",
                y_label="attention per bar, multiple of an even spread",
                lines=lines,
                log_y=True,
            )
        )
    return charts


def _line(results: Results, arm: str, task: str) -> Line:
    profiles = attention(results, arm, task, "bare").mean(axis=(1, 2))
    known = np.flatnonzero(np.isfinite(profiles).all(axis=0))
    ends = [t_interval(np.log(np.maximum(profiles[:, at], LEAST))) for at in known]
    mean, low, high = (
        np.maximum(FLOOR, np.exp([getattr(end, key) for end in ends])) for key in ("mean", "low", "high")
    )
    banded = len(profiles) >= FEWEST
    return Line(arm, known.astype(float), mean, low if banded else None, high if banded else None)
