"""The parts of the report on planted cycles: one chapter per task, and how it was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.blocks import BLOCK, by_blocks
from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.unknown_period.arms import CYCLE, LEARNED
from fints.studies.unknown_period.tellings import KNOWN
from fints.studies.unknown_period.verdicts import remarks
from fints.studies.wording import number

if TYPE_CHECKING:
    from fints.studies.intervals import Interval
    from fints.studies.protocol import Protocol
    from fints.studies.unknown_period.boards import Board
    from fints.studies.unknown_period.tellings import Telling

EXPECTED = "expected"

DRAWN = 0.05
"""Largest error of T in the charts by horizon; beyond it phases come round."""

POINTS = 401


def task_chapter(board: Board) -> Chapter:
    """Return the chapter of a task.

    Parameters
    ----------
    board : Board
    """
    noisy = ", against the signal beneath the noise" if board.task.sigma else ""
    text = (
        f"Root mean square error over the {board.how.beyond} bars after those that training saw{noisy}, mean over "
        f"seeds with its 95 % interval. `{EXPECTED}`: what cycle misses with T known, and the error of the phase."
    )
    text += "\n\n" + "\n".join(f"- {remark}" for remark in remarks(board))
    return Chapter(board.task.title, text, [_errors(board), _against_known(board)], [_valley(board), _horizon(board)])


def method(how: Protocol, seeds: int) -> Chapter:
    """Say how it was done.

    Parameters
    ----------
    how : Protocol
    seeds : int
    """
    text = f"""\
{how.data_in_words.rstrip()}

{how.training_in_words.rstrip()} They are the settings of the study
of extrapolation with fewer steps.

`known` tells the true period through the frequency plan, `+1 %` a period 1 % too long. `detected` tells the period of
the strongest line that `fints.detect_periods` finds in the bars that training sees, of each seed where there is noise,
and nothing else of it. `cycle` and `clock` (law gaussian-fold) have all planes on the plan; `cycle, learned` starts
there and learns the period with the weights (`learn: true`); `t_rope` starts all its frequencies there and learns them
(`plan_share: 1`). Periods that are too short are told to the first and the third only. `rope` is told nothing.

`{EXPECTED}`: an encoding that turns with T′ makes the forecast a function of the place modulo T′, whatever the network
learns. The best such function runs in phase with the signal in the middle of the {how.h} steps that training asks for,
and is off by φ = 2π·(1/T′ − 1/T)·distance from there. With amplitude A the root mean square error at a step is
√(½ (1 + A² − 2A cos φ)), |φ|/√2 for small φ and A = 1; A, chosen over the trained horizon, is the mean of cos φ there.
The error with T known is added as squares.

Intervals are Student's at 95 % over {seeds} seeds; ratios are geometric means over seeds, paired by seed, with the
interval of their logarithm. A seed decides the first weights, the order of the windows, the frequencies that clock
draws, and the noise. A point in a chart by horizon is the root mean square over {BLOCK} steps.
"""
    return Chapter("How it was done", text)


def _errors(board: Board) -> Table:
    rows = []
    for telling in board.tellings:
        row = {"T told": _told(board, telling), EXPECTED: number(board.expected(telling))}
        row |= {
            encoding: _cell(board.score(encoding, telling).rmse) if board.has(encoding, telling) else ""
            for encoding in board.encodings
        }
        if LEARNED in board.encodings:
            row["T learned"] = _span(board.period * (1 + board.left(telling)))
        rows.append(row)
    rope = f"rope, which is told nothing, has {_cell(board.rope.rmse)}"
    return Table(f"Errors on: {board.task.title}; {rope}", pd.DataFrame(rows))


def _against_known(board: Board) -> Table:
    rows = [
        {"T told": _told(board, telling)}
        | {
            encoding: _cell(board.against_known(encoding, telling)) if board.has(encoding, telling) else ""
            for encoding in board.encodings
        }
        for telling in board.tellings
        if telling != KNOWN
    ]
    return Table("The same as a multiple of the error with T known, paired by seed", pd.DataFrame(rows))


def _told(board: Board, telling: Telling) -> str:
    return f"{telling.name}, {_span(board.period * (1 + board.offsets(telling)))}"


def _span(periods: np.ndarray) -> str:
    """Write a period, or the least and the largest of those that seeds have."""
    ends = [f"{period:.4g}" for period in (periods.min(), periods.max())]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _cell(interval: Interval) -> str:
    if interval.n == 1:
        return number(interval.mean)
    return f"{number(interval.mean)} ({number(max(interval.low, 0.0))} to {number(interval.high)})"


def _valley(board: Board) -> LineChart:
    """Draw the error over that of T, upon what is expected."""
    ends = min(telling.off for telling in board.tellings), max(telling.off for telling in board.tellings)
    offs = np.unique(np.append(np.linspace(*ends, POINTS), 0.0))
    expected = np.array([board.expected_at(off) for off in offs])
    rope = board.rope.rmse
    lines = [Line(EXPECTED, 100 * offs, expected, reference=True)]
    lines += [_points(board, encoding) for encoding in board.encodings]
    lines += [
        Line(name, 100 * np.array(ends), np.full(2, level))
        for name, level in (("rope", rope.mean), ("mean of the signal", board.scale))
    ]
    return LineChart(
        slug=f"{board.task.name}-valley",
        title=f"{board.task.title}: error by the period that is told",
        x_label="error of T, %",
        y_label="RMSE",
        lines=lines,
        log_y=True,
    )


def _points(board: Board, encoding: str) -> Line:
    tellings = sorted((KNOWN, *board.wrong_of(encoding)), key=lambda telling: telling.off)
    x = np.array([100 * telling.off for telling in tellings])
    y = np.array([board.score(encoding, telling).rmse.mean for telling in tellings])
    return Line(encoding, x, y, marks=True)


def _horizon(board: Board) -> LineChart:
    """Draw the error of cycle by bars ahead, upon what is expected."""
    floor = board.score(CYCLE).rmse.mean
    shown = [t for t in board.wrong if 0 < t.off <= DRAWN]
    ahead = np.arange(1.0, board.how.beyond + 1)
    lines = [Line(f"{EXPECTED}, {t.name}", ahead, np.hypot(floor, board.wave(t.off)), reference=True) for t in shown]
    lines += [by_blocks(f"T {t.name}", board.score(CYCLE, t).beyond, marks=True) for t in (KNOWN, *shown)]
    lines.append(by_blocks("rope", board.rope.beyond))
    return LineChart(
        slug=f"{board.task.name}-horizon",
        title=f"{board.task.title}: error of cycle by horizon",
        x_label="bars ahead",
        y_label="RMSE",
        lines=lines,
        log_y=True,
    )
