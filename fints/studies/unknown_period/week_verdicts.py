"""What the week of real volume says, in sentences that are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.unknown_period.tellings import DETECTED, WRONG
from fints.studies.unknown_period.verdicts import percent
from fints.studies.unknown_period.week import CYCLE, DAYS, NONE, ROPE, WeekArm
from fints.studies.wording import number

if TYPE_CHECKING:
    from fints.studies.intervals import Interval
    from fints.studies.unknown_period.week import WeekBoard

SIGNIFICANT = 0.05


def week_verdict(board: WeekBoard) -> str:
    """Return the one sentence that matters.

    Parameters
    ----------
    board : WeekBoard
    """
    wrong = [arm for arm in board.squared if arm.telling in WRONG]
    times = [board.times(arm, WeekArm(CYCLE)).mean for arm in wrong]
    differ = [arm.telling.name for arm in wrong if _differs(board, arm)]
    named = f"more than chance for {', '.join(differ)}" if differ else "for none of them more than chance"
    size = percent(max(abs(arm.telling.off) for arm in wrong))
    none = _factor(board.times(WeekArm(NONE), WeekArm(CYCLE)))
    return (
        f"Real volume, the week on the calendar clock: told a week that is wrong by up to {size}, cycle has "
        f"{min(times):.3f} to {max(times):.3f} times the error that it has with the week known, {named}, over "
        f"{board.how.n_windows} windows of the hold-out; no position at all has {none} that error."
    )


def week_remarks(board: WeekBoard) -> list[str]:
    """Return what else the week says.

    Parameters
    ----------
    board : WeekBoard
    """
    return [_detected(board), *_references(board), _worth(board)]


def _differs(board: WeekBoard, arm: WeekArm) -> bool:
    """Tell whether an arm differs from the known week over seeds and over windows."""
    times, test = board.times(arm, WeekArm(CYCLE)), board.test(arm, WeekArm(CYCLE))
    return times.excludes(1) and test.p_value < SIGNIFICANT


def _said(board: WeekBoard, arm: WeekArm) -> str:
    times, test = board.times(arm, WeekArm(CYCLE)), board.test(arm, WeekArm(CYCLE))
    p = f"p = {test.p_value:.2g} over windows" if np.isfinite(test.p_value) else "too few windows for a test"
    verdict = "" if _differs(board, arm) else ", not distinguishable"
    return f"{_factor(times)} the error of cycle with the week known{verdict} ({p})"


def _factor(times: Interval) -> str:
    """Write a ratio near 1."""
    return f"{times.mean:.3f} times" + ("" if times.n == 1 else f" ({times.low:.3f} to {times.high:.3f})")


def _detected(board: WeekBoard) -> str:
    off = percent(board.detected / DAYS - 1)
    return (
        f"Before the hold-out the week is detected at {board.detected:.5g} days, {off} off; cycle told so has "
        f"{_said(board, WeekArm(CYCLE, DETECTED))}."
    )


def _references(board: WeekBoard) -> list[str]:
    return [f"{name} has {_said(board, WeekArm(name))}." for name in (ROPE, NONE)]


def _worth(board: WeekBoard) -> str:
    rmse = board.rmse(WeekArm(CYCLE)).mean
    loss = np.hypot(rmse, board.pattern) / rmse - 1
    return (
        f"There is little to lose: the mean week has a standard deviation of {number(board.pattern)} in log volume. A "
        f"forecast of {number(rmse)} that knew all of it and lost it would have a {percent(float(loss))} larger error."
    )
