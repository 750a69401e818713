"""The parts of the report."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import pandas as pd

from fints.studies.comparison.power import POWER
from fints.studies.comparison.wording import percent, times
from fints.studies.cost import words
from fints.studies.cost.loads import CONTROL, ENCODINGS, LOADS
from fints.studies.cost.results import MARGIN
from fints.studies.cost.verdicts import measures
from fints.studies.cost.work import MEASURES
from fints.studies.findings import Chapter, Forest, ForestRow, Table

if TYPE_CHECKING:
    from fints.studies.cost.results import Timings
    from fints.studies.cost.work import Measure

DRAWN: tuple[Measure, ...] = ("forward and back", "step")


def chapters(timings: Timings, elapsed: float) -> list[Chapter]:
    """Return the parts of the report.

    Parameters
    ----------
    timings : Timings
    elapsed : float
        Seconds by the clock on the wall.
    """
    text = (
        "How many times RoPE's time an encoding takes: 1 is no difference. Processor time of one thread; the last "
        "columns say the same of a step by the clock on the wall, what the training throughput changes by, and the "
        "smallest number of repeats that would find 2 % in a step."
    )
    return [
        Chapter("Why it matters", words.WHY),
        Chapter("Design", f"{words.DESIGN}\n\n{_loads(timings)}\n\n{_statistics(timings)}"),
        Chapter("Results", text, [_table(timings, load) for load in timings.loads], _charts(timings)),
        Chapter("What fints does because of this", words.CONSEQUENCES),
        Chapter("Limits", words.LIMITS),
        Chapter("Data, command and time", _repeat(timings, elapsed)),
    ]


def _loads(timings: Timings) -> str:
    lines = []
    for name in timings.loads:
        load, net = LOADS[name], LOADS[name].network
        lines.append(
            f"- **{load.title}** (`{name}`): {net.n_layers} layers of {net.dim} channels and {net.n_heads} heads, "
            f"{load.batch} windows of {load.input_size} + {load.h} bars, {load.rounds} rounds a repeat."
        )
    lines += [f"- *{measure}*: {title}." for measure, title in MEASURES.items()]
    return "\n".join(lines)


def _statistics(timings: Timings) -> str:
    return f"""\
In a repeat the encoding and plain RoPE take turns in one process, and who begins alternates; a turn is at least 10 ms.
A repeat's ratio is the median over its rounds of ratios within a round. Repeats are spread over the whole run: all
encodings once, then all again. The ratio shown is the geometric mean over repeats with Student's 95 % interval of its
logarithm; p is that of the t-test against 1, corrected after Holm for all {len(timings.contrasts)} ratios of this page.
"Equal within {percent(MARGIN)}" means that the whole interval lies within that margin. Numbers of repeats are for a
power of {percent(POWER)}."""


def _table(timings: Timings, load: str) -> Table:
    every = measures(timings, load)
    rows = []
    for name in timings.names(load):
        row = {"encoding": f"`{name}`"}
        for measure in every:
            row[measure] = times(timings.contrast(load, name, measure)) if timings.has(load, name, measure) else ""
        step = timings.contrast(load, name, "step")
        wall = timings.wall(load, name, "step")
        needs = step.needs(step.smallest)
        row["step, wall"] = f"{wall.mean:.3f}"
        row["throughput"] = f"{100 * (1 / step.times.mean - 1):+.1f} %"
        row["repeats for 2 %"] = "" if needs is None else f"{needs:,}"
        rows.append(row)
    rope = {"encoding": "RoPE, in ms"} | {measure: f"{timings.rope(load, measure):.3g}" for measure in every}
    frame = pd.DataFrame([rope, *rows]).fillna("")
    return Table(f"Times of plain RoPE's processor time, {LOADS[load].title}", frame)


def _charts(timings: Timings) -> list[Forest]:
    charts = []
    for load in timings.loads:
        rows = []
        for measure in DRAWN:
            for name in sorted(timings.names(load), key=lambda n: float(timings.contrast(load, n, "step").logs.mean())):
                contrast = timings.contrast(load, name, measure)
                ends = contrast.times
                rows.append(
                    ForestRow(name, f"{load}: {measure}", ends.mean, ends.low, ends.high, stands=contrast.differs)
                )
        charts.append(
            Forest(
                slug=f"{load}-ratios",
                title=f"Processor time over plain RoPE's, {LOADS[load].title}",
                x_label="times of plain RoPE, 95 % interval over repeats",
                rows=rows,
                margin=MARGIN,
            )
        )
    return charts


def _repeat(timings: Timings, elapsed: float) -> str:
    import torch

    count = sum(len(units) for units in timings.units.values())
    return f"""\
`fints study cost --budget {timings.budget}` makes this page, one process at a time whatever `--workers` says; what is
finished is kept, and is done again on another kind of machine. {count} units took {timings.seconds:.0f} seconds of
processor time and {elapsed:.0f} by the clock on the wall.

- Machine: {platform.machine()}, {os.cpu_count()} cores; torch {torch.__version__}, one thread.
- Data: the embedded sample, whose values do not matter to the time; {len(ENCODINGS) - 1} encodings, and `{CONTROL}`."""
