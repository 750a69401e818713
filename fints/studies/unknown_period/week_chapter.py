"""The chapter on the week of real volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.blocks import FEWEST
from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.unknown_period.week import CYCLE, DAYS, HARMONICS, NONE, ROPE, WeekArm
from fints.studies.unknown_period.week_verdicts import week_remarks

if TYPE_CHECKING:
    from fints.studies.intervals import Interval
    from fints.studies.unknown_period.week import WeekBoard

DIGITS = 4


def week_chapter(board: WeekBoard, seeds: int) -> Chapter:
    """Return the chapter.

    Parameters
    ----------
    board : WeekBoard
    seeds : int
    """
    how, training = board.how, board.how.training
    text = f"""\
Log volume of the embedded sample (two indices, daily), the last {how.n_windows * how.step_size} sessions held out:
{how.n_windows} windows of {how.h} sessions, {how.step_size} apart. The model is fitted once on what is before them,
with {how.input_size} sessions of context, at most {training.max_steps} steps of {training.batch_size} windows and early
stopping, but without the calendar, companion series and the linear skip, so that only the
encoding knows of a week. All planes are on the plan, which holds one cycle on the calendar clock with the harmonics
{", ".join(map(str, HARMONICS))}, of {DAYS:g} days or as it is told; the period is all that differs. Errors are those of
the mean, over both series and all steps; intervals over {seeds} seeds, ratios paired by seed. p is that of a
Diebold–Mariano test over the windows, losses averaged over seeds: seeds say whether another training would tell the
same, windows whether another period would. Both have to say so before a difference is called one.
"""
    text += "\n" + "\n".join(f"- {sentence[0].upper()}{sentence[1:]}" for sentence in week_remarks(board))
    return Chapter("The week of real volume", text, [_table(board)], [_chart(board)])


def _table(board: WeekBoard) -> Table:
    rows, known = [], WeekArm(CYCLE)
    for arm in board.squared:
        rmse, times = board.rmse(arm), board.times(arm, known)
        row = {
            "encoding": arm.encoding,
            "week told": _told(board, arm) if arm.reads_plan else "",
            "RMSE": f"{rmse.mean:.{DIGITS}f}",
            "95 % interval": _span(rmse),
            "times known": "" if arm == known else f"{times.mean:.3f}",
            "its interval": "" if arm == known else _span(times, 3),
            "p over windows": "" if arm == known else f"{board.test(arm, known).p_value:.2g}",
        }
        rows.append(row)
    return Table("Errors at the hold-out, and as a multiple of that with the week known", pd.DataFrame(rows))


def _told(board: WeekBoard, arm: WeekArm) -> str:
    return f"{arm.telling.name}, {arm.telling.period(DAYS, board.detected):.5g} days"


def _span(interval: Interval, digits: int = DIGITS) -> str:
    if not np.isfinite(interval.low):
        return "one seed"
    return f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"


def _chart(board: WeekBoard) -> LineChart:
    told = sorted((a for a in board.squared if a.reads_plan and not a.telling.detected), key=lambda a: a.telling.off)
    days = np.array([DAYS * (1 + arm.telling.off) for arm in told])
    lines = [_line(board, CYCLE, told, days)]
    lines += [_line(board, name, [WeekArm(name)] * 2, days[[0, -1]]) for name in (ROPE, NONE)]
    return LineChart(
        slug="week",
        title="Log volume: error at the hold-out by the week that is told",
        x_label="week told, calendar days",
        y_label="RMSE",
        lines=lines,
    )


def _line(board: WeekBoard, name: str, arms: list[WeekArm], x: np.ndarray) -> Line:
    ends = [board.rmse(arm) for arm in arms]
    mean, low, high = (np.array([getattr(end, part) for end in ends]) for part in ("mean", "low", "high"))
    known = ends[0].n >= FEWEST
    return Line(name, x, mean, low if known else None, high if known else None)
