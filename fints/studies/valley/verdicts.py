"""What the study says, in sentences that are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.valley.arms import DESCENT, GRADIENT, KNOWN, LONGER, RANDOM, STANDS, TUNED
from fints.studies.valley.boards import WITHIN
from fints.studies.valley.protocol import PRIOR, cramer_rao
from fints.studies.wording import error, number

if TYPE_CHECKING:
    from fints.studies.intervals import Interval
    from fints.studies.valley.boards import ValleyBoard


def verdicts(board: ValleyBoard) -> list[str]:
    """Return what matters most: whether tuning finds the period, and whether descent or blind search alone do.

    Parameters
    ----------
    board : ValleyBoard
    """
    alone = (_alone(board, arm) for arm in (DESCENT, GRADIENT, LONGER, RANDOM))
    return [_tuned(board), *alone, _confirmed(board)]


def remarks(board: ValleyBoard) -> list[str]:
    """Return what else the results say.

    Parameters
    ----------
    board : ValleyBoard
    """
    return [_bound(board), _valley(board), _stages(board)]


def percent(share: float) -> str:
    """Write a share in percent, without a sign."""
    return f"{number(abs(100 * share))} %"


def ratio(times: Interval) -> str:
    """Write a ratio near 1 with its interval."""
    if times.n == 1:
        return f"{times.mean:.2f} times"
    return f"{times.mean:.2f} times ({times.low:.2f} to {times.high:.2f})"


def _tuned(board: ValleyBoard) -> str:
    done = "Tuning does it" if board.holds else "Tuning does not do all of it"
    return (
        f"{done}: told {PRIOR:g} bars and no detection, in {board.how.trials} trials it comes within {percent(WITHIN)} "
        f"of the period for {board.recovered(TUNED)} of {board.seeds} seeds ({_off(board, TUNED)}), and its forecasts "
        f"beyond the trained horizon have {ratio(board.times(TUNED, 'observed'))} the RMSE that they have with the "
        f"period known; against the signal beneath the noise {ratio(board.times(TUNED))}."
    )


def _alone(board: ValleyBoard, arm: str) -> str:
    said = {
        DESCENT: f"Plain descent of least squares over all {board.how.known} bars from {PRIOR:g}",
        GRADIENT: f"Gradient alone, the period learned with the weights from {PRIOR:g} in the steps of a trial,",
        LONGER: f"With {board.how.longer} times as many steps that",
        RANDOM: f"Random search alone, {board.how.trials} periods drawn over the same band and kept,",
    }[arm]
    return (
        f"{said} comes within {percent(WITHIN)} for {board.recovered(arm)} of {board.seeds} seeds "
        f"({_off(board, arm)}); the RMSE is {ratio(board.times(arm, 'observed'))} that with the period known, against "
        f"the signal {ratio(board.times(arm))}."
    )


def _off(board: ValleyBoard, arm: str) -> str:
    offs = np.abs(board.offs(arm))
    if len(offs) == 1:
        return f"off by {percent(float(offs[0]))}"
    return (
        f"off by {percent(float(np.sqrt((offs**2).mean())))} in the mean square, at most {percent(float(offs.max()))}"
    )


def _confirmed(board: ValleyBoard) -> str:
    folds, results = board.how.folds, board.results[TUNED]
    accepted = sum(bool(result["accepted"]) for result in results)
    gains = [float(result["gain"][0]) for result in results]
    return (
        f"The {folds.confirm_windows} windows that the search never saw, side by side, confirm the gain over the "
        f"period as it stands for {accepted} of {board.seeds} seeds: {percent(float(np.mean(gains)))} of the RMSE "
        f"{board.how.trained_h + 1} to {folds.confirming} bars ahead in the mean."
    )


def _bound(board: ValleyBoard) -> str:
    n = board.how.known
    return (
        f"No unbiased estimate from {n} bars can have a standard error below {percent(cramer_rao(n))} (Cramér–Rao); "
        f"the search and its confirmation forecast {board.how.read} of them."
    )


def _valley(board: ValleyBoard) -> str:
    stands = board.times(STANDS, "observed")
    return (
        f"Kept at {PRIOR:g} bars, {percent(board.offs(STANDS)[0])} off, the RMSE is {ratio(stands)} that with the "
        f"period known, which is {error(board.rmse(KNOWN, 'observed'))}."
    )


def _stages(board: ValleyBoard) -> str:
    """Compare where the coarse stage ends with where the fine one does."""
    coarse, fine = [], []
    for seed in range(board.seeds):
        trials = board.trials(TUNED, seed)
        before = [each for each in trials if each[1] != "refined"]
        coarse.append(min(before, key=lambda each: each[-1])[3])
        fine.append(min(trials, key=lambda each: each[-1])[3])
    true = board.results[KNOWN][0]["period"]
    first, last = (float(np.sqrt(np.mean((np.array(ends) / true - 1) ** 2))) for ends in (coarse, fine))
    return (
        f"The best trial of the coarse stage, in which training moves the period, is off by {percent(first)} in the "
        f"mean square; the fine stage, which keeps periods as proposed and lets the error at long distances choose, "
        f"brings that to {percent(last)}."
    )
