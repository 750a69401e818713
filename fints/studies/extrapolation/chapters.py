"""The parts of the report: how it was done, and one chapter per task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.blocks import BLOCK, by_blocks
from fints.studies.extrapolation.arms import (
    ALIBI,
    CLOCK,
    CYCLE,
    CYCLE_HALF,
    FOURIER,
    NONE,
    ROPE,
    SINUSOIDAL,
)
from fints.studies.extrapolation.verdicts import remarks
from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.scores import by_seed
from fints.studies.wording import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.studies.extrapolation.scores import Board
    from fints.studies.protocol import Protocol

DRAWN = (NONE, ALIBI, SINUSOIDAL, ROPE, CYCLE_HALF, CYCLE, CLOCK, FOURIER)
"""Encodings in the charts of errors."""

SHOWN = (NONE, ROPE, CYCLE)
"""Encodings in the charts of forecasts."""

PICTURED = 120
"""Steps ahead that the charts of forecasts show."""


def chapters(boards: Sequence[Board], how: Protocol, seeds: int) -> list[Chapter]:
    """Return the parts of the report."""
    return [*(_chapter(board, how) for board in boards), _method(how, seeds)]


def _method(how: Protocol, seeds: int) -> Chapter:
    last_seen = how.trained - how.input_size
    text = f"""\
{how.data_in_words.rstrip()}
The period of 23.7 bars divides neither a window nor the sample.

{how.training_in_words.rstrip()} These settings were chosen, on other
seeds, by the error at steps {how.h + 1} to {last_seen} from the first context: bars that training saw, at horizons
that it did not (column "seen bars" of the tables).

Intervals are Student's at 95 % over {seeds} seeds; ratios are geometric means over seeds, with the interval of their
logarithm. A seed decides the first weights, the order of the windows, the frequencies of encodings that draw them, and
the noise. "Told" encodings get the true periods through the frequency plan. `clock` draws from the mixture of all
periods; `clock by period` gives each period planes of its own; half the planes means that the others keep the RoPE
schedule; `t_rope from the plan` starts its learned frequencies at the periods. `calendar_features` know the hour and
the weekday only, which say nothing about these periods. A point in a chart of errors is the root mean square over
{BLOCK} steps, averaged over seeds, with the interval of its logarithm.
"""
    return Chapter("How it was done", text)


def _chapter(board: Board, how: Protocol) -> Chapter:
    text = (
        f"Root mean square error over the {how.beyond} bars after those that training saw"
        f"{', against the signal beneath the noise' if board.task.sigma else ''}; the smallest first."
    )
    text += "\n\n" + "\n".join(f"- {remark}" for remark in remarks(board, how.h))
    charts = [_errors(board), _forecasts(board, how)]
    return Chapter(board.task.title, text, [_table(board, how)], [chart for chart in charts if chart.lines])


def _table(board: Board, how: Protocol) -> Table:
    rows = []
    for score in board.scores:
        rmse = score.rmse
        row = {
            "encoding": score.arm.name,
            "told": "yes" if score.arm.told else "no",
            "RMSE": number(rmse.mean),
            "95 % interval": _span(max(rmse.low, 0.0), rmse.high),
            f"steps 1–{how.h}": _mean(score.beyond, slice(how.h)),
            f"steps {how.h + 1}–{how.beyond}": _mean(score.beyond, slice(how.h, None)),
            f"seen bars, steps {how.h + 1}–{how.trained - how.input_size}": _mean(score.inside, slice(how.h, None)),
        }
        if board.task.sigma:
            row["against observations"] = _mean(score.observed, slice(None))
        rows.append(row)
    return Table(f"Errors on: {board.task.title}", pd.DataFrame(rows))


def _mean(errors: NDArray[np.float64], steps: slice) -> str:
    return number(float(by_seed(errors, steps).mean()))


def _span(low: float, high: float) -> str:
    return f"{number(low)} to {number(high)}" if np.isfinite(low + high) else "one seed"


def _errors(board: Board) -> LineChart:
    drawn = [score for score in board.scores if score.arm.name in {*DRAWN, board.best.arm.name}]
    return LineChart(
        slug=f"{board.task.name}-errors",
        title=f"{board.task.title}: error by horizon",
        x_label="bars ahead",
        y_label="RMSE",
        lines=[by_blocks(score.arm.name, score.beyond) for score in drawn],
        log_y=True,
    )


def _forecasts(board: Board, how: Protocol) -> LineChart:
    start, stop = how.trained - how.h // 2, min(how.trained + PICTURED, how.total)
    t = np.arange(start, stop, dtype=np.float64)
    ahead = np.arange(how.trained, stop, dtype=np.float64)
    shown = [score for score in board.scores if score.arm.name in SHOWN]
    return LineChart(
        slug=f"{board.task.name}-forecasts",
        title=f"{board.task.title}: forecasts of the first seed",
        x_label="bar",
        y_label="value",
        lines=[
            Line("signal", t, board.task.clean(stop)[start:], reference=True),
            *(Line(score.arm.name, ahead, score.forecast[0, : len(ahead)]) for score in shown),
        ],
    )
