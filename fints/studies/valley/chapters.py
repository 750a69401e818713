"""The parts of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.blocks import FEWEST, by_blocks
from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.intervals import t_interval
from fints.studies.valley.arms import ARMS, DESCENT, GRADIENT, KNOWN, KNOWN_LONGER, LONGER, RANDOM, STANDS, TUNED
from fints.studies.valley.boards import WITHIN
from fints.studies.valley.protocol import PERIOD, PRIOR, TASK
from fints.studies.valley.verdicts import percent, ratio, remarks

if TYPE_CHECKING:
    from fints.studies.intervals import Interval
    from fints.studies.valley.boards import ValleyBoard

_TRUE = (KNOWN, KNOWN_LONGER)
_TOLD = (*_TRUE, STANDS)

_FLOOR = 1e-5
"""Below it errors of the period are drawn as it: the axis is logarithmic."""


def results(board: ValleyBoard) -> Chapter:
    """Return the chapter on what every arm came to.

    Parameters
    ----------
    board : ValleyBoard
    """
    text = (
        f"Root mean square error over steps {board.how.trained_h + 1} to {board.how.folds.h} from "
        f"{board.how.folds.test_windows} origins after the {board.how.known} bars that were known; mean over "
        f"{board.seeds} seeds with its 95 % interval, ratios paired by seed.\n\n"
    )
    text += "\n".join(f"- {remark}" for remark in remarks(board))
    return Chapter("What each came to", text, [_table(board), _seeds(board)], [_horizon(board)])


def course(board: ValleyBoard) -> Chapter:
    """Return the chapter on how the searches went.

    Parameters
    ----------
    board : ValleyBoard
    """
    text = f"""\
The score of a trial over the period that it ended at: a valley that is some percent wide, in a plain that tells nothing
of where it lies, and on whose near rim forecasts are worse than far from it, because they keep their amplitude and lose
their phase. Coarse trials begin anywhere within ±{100 * 0.35:.0f} % of {PRIOR:g} bars and let training move the period,
fine ones keep the period around the best. The second chart shows the error of the period of the best trial so far,
geometric mean over seeds.
"""
    return Chapter("How the searches went", text, charts=[_valley(board), _history(board)])


def method(board: ValleyBoard) -> Chapter:
    """Say how it was done.

    Parameters
    ----------
    board : ValleyBoard
    """
    how, folds, net, training = board.how, board.how.folds, board.how.network, board.how.training
    text = f"""\
Planted: one sine of {PERIOD:g} bars and amplitude {TASK.amplitudes[0]:g} in white noise of standard deviation
{TASK.sigma:.3f}, so that A²/2σ² = 1 (0 dB); {how.known} bars are known, the test period follows. The plan holds the
prior of {PRIOR:g} bars; nothing is detected. The network has {net.n_layers} layer of {net.dim} channels and
{net.n_heads} heads, no covariates, no companion series, no linear start and no dropout; all planes turn with the cycle.
It reads {how.input_size} bars, is trained for {how.trained_h} ahead with {training.max_steps} steps of
{training.batch_size} windows, and forecasts {folds.h}.

`{TUNED}` is what `fints tune` does: {how.trials} trials on {folds.n_folds} inner folds of {folds.block} origins,
{folds.step_size} bars apart, judged by the mean over bands of distance beyond the trained horizon of the RMSE against
what is observed; half of them coarse, half fine; the best three again on all folds and on {folds.confirm_windows}
later windows of {folds.confirming} bars that lie side by side, as the {folds.test_windows} of the test do. `{RANDOM}`
draws as many periods at random over the same band and keeps them. `{DESCENT}` goes downhill from {PRIOR:g} in the sum
of squares that a mean and a sine of free amplitude and phase leave of all {how.known} bars. `{GRADIENT}` starts at
{PRIOR:g} and learns the period with the weights, on all {how.known} bars, with the steps of a trial and the same
rate; `{LONGER}` has {how.longer} times as many steps, and is compared with `{KNOWN_LONGER}`. `{STANDS}` and `{KNOWN}`
keep the prior and the true period. All but the two that learn are trained with their period kept, on all {how.known}
bars, with the same seed.

Intervals are Student's at 95 % over seeds; ratios are geometric means, paired by seed. A seed decides the noise, the
first weights, the order of the windows and what is drawn.
"""
    return Chapter("How it was done", text)


def _table(board: ValleyBoard) -> Table:
    rows = []
    for arm in ARMS:
        offs = board.offs(arm)
        row = {
            "arm": arm,
            f"within {percent(WITHIN)}": "" if arm in _TOLD else f"{board.recovered(arm)} of {board.seeds}",
            "error of the period": percent(float(np.sqrt((offs**2).mean()))),
            "RMSE, observed": _cell(board.rmse(arm, "observed")),
            "times known": "" if arm in _TRUE else ratio(board.times(arm, "observed")),
            "RMSE, signal": _cell(board.rmse(arm)),
            "times known, signal": "" if arm in _TRUE else ratio(board.times(arm)),
        }
        rows.append(row)
    return Table("Error of the period (root mean square over seeds) and of the forecasts", pd.DataFrame(rows))


def _seeds(board: ValleyBoard) -> Table:
    rows = [
        {"arm": arm, **{f"seed {seed}": f"{100 * off:+.3f} %" for seed, off in enumerate(board.offs(arm))}}
        for arm in ARMS
        if arm not in _TOLD
    ]
    return Table("Error of the period, seed by seed", pd.DataFrame(rows))


def _cell(interval: Interval) -> str:
    if interval.n == 1:
        return f"{interval.mean:.3f}"
    return f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _horizon(board: ValleyBoard) -> LineChart:
    return LineChart(
        slug="horizon",
        title="Error against the signal by horizon",
        x_label="bars ahead",
        y_label="RMSE",
        lines=[by_blocks(arm, board.errors(arm)) for arm in ARMS if arm not in (KNOWN_LONGER, LONGER)],
        log_y=True,
    )


def _valley(board: ValleyBoard) -> LineChart:
    """Draw every trial of the first seed where it ended."""
    trials = board.trials(TUNED, 0)
    lines = []
    for name, of in (
        ("coarse", [t for t in trials if t[1] != "refined"]),
        ("fine", [t for t in trials if t[1] == "refined"]),
    ):
        if of:
            ends, values = np.array([t[3] for t in of]), np.array([t[4] for t in of])
            lines.append(Line(name, ends, values, marks=True))
    drawn = board.trials(RANDOM, 0)
    lines.append(Line(RANDOM, np.array([t[3] for t in drawn]), np.array([t[4] for t in drawn]), marks=True))
    heights = np.concatenate([line.y for line in lines])
    ends = np.array([heights.min(), heights.max()])
    lines.insert(0, Line(f"true period, {PERIOD:g}", np.full(2, PERIOD), ends, reference=True))
    return LineChart("valley", "Score of the trials by their period, first seed", "period, bars", "score", lines)


def _history(board: ValleyBoard) -> LineChart:
    lines = []
    for arm in board.searches:
        offs = np.maximum(board.course(arm), _FLOOR)
        ends = [t_interval(np.log(column)) for column in offs.T]
        mean, low, high = (np.exp([getattr(end, part) for end in ends]) for part in ("mean", "low", "high"))
        known = board.seeds >= FEWEST
        x = np.arange(1.0, len(mean) + 1)
        lines.append(Line(arm, x, 100 * mean, 100 * low if known else None, 100 * high if known else None))
    x = np.array([1.0, max(line.x[-1] for line in lines)])
    lines.insert(0, Line(f"recovered: {percent(WITHIN)}", x, np.full(2, 100 * WITHIN), reference=True))
    return LineChart(
        slug="history",
        title="Error of the best trial's period",
        x_label="trials",
        y_label="error of the period, %",
        lines=lines,
        log_y=True,
    )
