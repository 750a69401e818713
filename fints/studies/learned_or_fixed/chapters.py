"""The chapters on what was reported, and on where learning moves frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.learned_or_fixed.arms import BANK_FAST, FAST, RANDOM_FAST, ZERO_FAST
from fints.studies.learned_or_fixed.moves import moves
from fints.studies.learned_or_fixed.reported import reported_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.comparison import Results
    from fints.studies.learned_or_fixed.moves import Moves

REPORTED = """\
ClockRoPE's appendix learns frequencies together with the weights, and gives the mean average precision over the
production model's: −1.44 % learned from zero, +2.01 % learned from the cosine law (fixed: +1.96 %) and +3.23 % learned
from the Gaussian law (fixed: +3.61 %), on private data, without intervals. T-RoPE's authors learn all coefficients, and
hold them against neither fixed ones nor ClockRoPE. A smaller error here stands for a larger precision there; sizes do
not compare, signs do.
"""

MOVED = """\
Every learned plane has a frequency where it starts and one where training leaves it, compared to the nearest true one.
Bars are a day apart, so frequencies that differ by whole turns per bar, or in sign, are one. A plane that drifts by
little and at random comes nearer half of the time; one that starts on a true frequency can but leave it, and one that
starts at zero comes nearer whichever way it turns, so neither is counted among those that could come nearer. "Hit"
means less than half a turn off over a window of training, which windows hardly see. Of real bars the week and its
harmonics pass for true.
"""

DRAWN = (FAST, ZERO_FAST, RANDOM_FAST, BANK_FAST)
"""Arms in the figure."""


def chapters(results: Results) -> list[Chapter]:
    """Show signs reported and found, and where learning moves frequencies."""
    table, found = reported_table(results), moves(results)
    parts = [Chapter("What was reported", REPORTED, [table] if table else [])]
    if found:
        charts = [_chart(task, found) for task in dict.fromkeys(move.task for move in found if move.arm in DRAWN)][:2]
        parts.append(Chapter("Where learning moves frequencies", MOVED, [_table(found)], charts))
    return parts


def _table(found: Sequence[Moves]) -> Table:
    rows = []
    for move in found:
        share = move.nearer
        rows.append(
            {
                "task": move.task,
                "arm": move.arm,
                "planes": str(move.before.shape[1]),
                "start on a true one": f"{100 * move.on_line.mean():.0f} %",
                "moved": _turns(move.moved),
                "off at the start": _turns(move.distance(after=False)),
                "off at the end": _turns(move.distance(after=True)),
                "hit at the start": f"{100 * move.resolved(after=False):.0f} %",
                "hit at the end": f"{100 * move.resolved(after=True):.0f} %",
                "of those that could, come nearer": "–" if share is None else _share(share.mean, share.low, share.high),
            }
        )
    caption = "Medians over planes and seeds in turns per 100 bars; shares with Student's 95 % over seeds"
    return Table(caption, pd.DataFrame(rows))


def _chart(task: str, found: Sequence[Moves]) -> LineChart:
    chosen = [move for move in found if move.task == task and move.arm in DRAWN]
    span = np.array([0.0, 0.5])
    lines = [Line("not moved", span, span, reference=True)]
    lines += [
        Line("a true frequency" if i == 0 else f"a true frequency ({i + 1})", span, np.full(2, line))
        for i, line in enumerate(chosen[0].lines[:2])
    ]
    lines += [Line(move.arm, move.before.ravel(), move.after.ravel(), marks=True) for move in chosen]
    return LineChart(
        slug=f"{task}-moves",
        title=f"Frequencies before and after training on {task}, all planes and seeds",
        x_label="at the start, turns per bar",
        y_label="at the end, turns per bar",
        lines=lines,
    )


def _turns(value: float) -> str:
    return f"{100 * value:.2g}"


def _share(mean: float, low: float, high: float) -> str:
    if np.isnan(low):
        return f"{100 * mean:.0f} %"
    return f"{100 * mean:.0f} % ({100 * max(low, 0):.0f} to {100 * min(high, 1):.0f})"
