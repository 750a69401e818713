"""What the scores on planted cycles say, in sentences that are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.scores import by_seed
from fints.studies.unknown_period.arms import CLOCK, CYCLE, LEARNED, T_ROPE, nearest_rope_period
from fints.studies.unknown_period.tellings import DETECTED, KNOWN
from fints.studies.wording import error, factor, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.intervals import Interval
    from fints.studies.scores import Score
    from fints.studies.unknown_period.arms import Arm
    from fints.studies.unknown_period.boards import Board

EXACT = 1e-6
"""Relative error of a period up to which it counts as the true one."""

NEAR = 0.02
"""Relative error up to which a plane of RoPE counts as one that has the period by chance."""


def verdicts(boards: Sequence[Board]) -> list[str]:
    """Return what matters most: how wrong T may be, what detection costs, whether learning repairs, what theory says.

    Parameters
    ----------
    boards : sequence of Board
    """
    limits = [_titled(board, _limit(board)) for board in boards]
    repairs = [_titled(board, _repair(board)) for board in boards if LEARNED in board.encodings]
    return [*limits, *_detections(boards), *repairs, *_law(boards), *_dates(boards)]


def remarks(board: Board) -> list[str]:
    """Return what else a board says.

    Parameters
    ----------
    board : Board
    """
    said = (_useless(board), _luck(board), _sides(board), _clock(board), _price(board))
    return [sentence for sentence in said if sentence]


def percent(share: float) -> str:
    """Write a share in percent, without a sign."""
    return f"{number(abs(100 * share))} %"


def _titled(board: Board, sentence: str) -> str:
    return f"{board.task.title}: {sentence}"


def _limit(board: Board) -> str:
    """Say how wrong T may be before cycle loses to rope."""
    rope, crossing = board.rope, board.crossing(CYCLE)
    if board.score(CYCLE).rmse.mean > rope.rmse.mean:
        return f"cycle is no better than rope ({error(rope.rmse)}) even with T known."
    worst = max((board.score(CYCLE, telling) for telling in board.wrong), key=lambda one: one.rmse.mean)
    if crossing == (None, None):
        off = _largest(board)
        return (
            f"cycle does not lose to rope ({error(rope.rmse)}) with T wrong by up to {off}; "
            f"at worst ({worst.arm.telling.name}) it has {factor(worst.times(rope))} its error."
        )
    sides = [
        f"{percent(side)} too {word}"
        for side, word in zip(crossing, ("short", "long"), strict=True)
        if side is not None
    ]
    sure = [telling for telling in board.wrong if board.score(CYCLE, telling).times(rope).above(1)]
    least = min((abs(telling.off) for telling in sure), default=None)
    beyond = "never by more than chance" if least is None else f"by more than chance at {percent(least)}"
    lucky = f" ({_lucky(board)})" if _lucky(board) else ""
    return (
        f"cycle loses to rope, whose error is {error(rope.rmse)}{lucky}, once T is {' or '.join(sides)}, "
        f"interpolated between what was tried; {beyond}."
    )


def _largest(board: Board) -> str:
    return percent(max(abs(telling.off) for telling in board.wrong))


def _lucky(board: Board) -> str:
    """Say so where a plane of rope has the period by chance."""
    nearest = _nearest(board)
    if abs(nearest / board.period - 1) > NEAR:
        return ""
    alone = float(np.sqrt((board.wave(nearest / board.period - 1) ** 2).mean()))
    return (
        f"one of its planes turns in {nearest:.4g} bars, a T wrong by {percent(nearest / board.period - 1)}, "
        f"from which theory expects {number(alone)}"
    )


def _nearest(board: Board) -> float:
    return nearest_rope_period(board.period, board.how.network.dim // board.how.network.n_heads)


def _luck(board: Board) -> str:
    if _lucky(board):
        return ""
    nearest = _nearest(board)
    return (
        f"No plane of rope has the period by chance: the nearest turns in {nearest:.3g} bars, "
        f"{percent(nearest / board.period - 1)} off."
    )


def _detections(boards: Sequence[Board]) -> list[str]:
    """Say how far off detection is and what that costs."""
    exact = [board.task.title for board in boards if np.abs(board.offsets(DETECTED)).max() < EXACT]
    said = [f"{'; '.join(exact)}: detection finds T exactly, so it costs nothing."] if exact else []
    return said + [_titled(board, _detection(board)) for board in boards if board.task.title not in exact]


def _detection(board: Board) -> str:
    offs = np.abs(board.offsets(DETECTED))
    costs = []
    for encoding in board.encodings:
        times = board.against_known(encoding, DETECTED)
        costs.append(f"{factor(times)} for {encoding}{_chance(times)}")
    return (
        f"detection is off by {percent(float(np.sqrt((offs**2).mean())))} (root mean square over seeds; at most "
        f"{percent(float(offs.max()))}); the error, as a multiple of that with T known, is {'; '.join(costs)}."
    )


def _chance(times: Interval) -> str:
    return "" if times.excludes(1) else ", not distinguishable from 1"


def _repair(board: Board) -> str:
    """Say what learning the frequency makes of wrong starts."""
    known = board.score(CYCLE).rmse.mean
    helped = [t for t in board.wrong if board.score(CYCLE, t).times(board.score(LEARNED, t)).above(1)]
    costly = [t for t in board.wrong if board.against_known(CYCLE, t).above(1)]
    removed = [
        1 - (board.score(LEARNED, t).rmse.mean - known) / (board.score(CYCLE, t).rmse.mean - known) for t in costly
    ]
    worst = max((board.score(LEARNED, telling) for telling in board.wrong), key=lambda one: one.rmse.mean)
    fixed = board.score(CYCLE, worst.arm.telling)
    left = max(np.abs(board.left(telling)).max() for telling in board.wrong)
    share = f"removes {_range(removed)} of what they cost and " if removed else ""
    return (
        f"learning the frequency lowers the error by more than chance from {len(helped)} of {len(board.wrong)} wrong "
        f"starts; it {share}leaves a T that is off by at most {percent(left)}, from {_largest(board)}. Its worst start "
        f"is {worst.arm.telling.name}: {error(worst.rmse)}, without learning {number(fixed.rmse.mean)}."
    )


def _range(shares: Sequence[float]) -> str:
    low, high = (f"{100 * end:.0f}" for end in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _law(boards: Sequence[Board]) -> list[str]:
    """Compare what a wrong period costs with the error of the phase."""
    clean = [board for board in boards if not board.task.sigma]
    ratios = [
        board.score(encoding, telling).rmse.mean / board.expected(telling)
        for board in clean
        for encoding in (CYCLE, CLOCK)
        for telling in board.wrong_of(encoding)
    ]
    if not ratios:
        return []
    means = ", ".join(f"{percent(board.useful())} ({board.period:g} bars)" for board in clean)
    sentence = (
        "What a wrong T costs is the phase alone, 2π·Δf·distance from the middle of the trained horizon: without noise "
        f"cycle and clock have {min(ratios):.2f} to {max(ratios):.2f} times the error that it makes. By that they are "
        f"worse than a forecast of the signal's mean once T is too long by {means}."
    )
    return [sentence]


def _dates(boards: Sequence[Board]) -> list[str]:
    """Say what T-RoPE makes of the smallest wrong period."""
    clean = [board for board in boards if not board.task.sigma and T_ROPE in board.encodings]
    if not clean:
        return []
    telling = min(clean[0].wrong_of(T_ROPE), key=lambda wrong: (abs(wrong.off), -wrong.off))
    pairs = [(board.score(T_ROPE, telling), board.score(CYCLE, telling), board) for board in clean]
    within = [_within(one, board) / _within(other, board) for one, other, board in pairs]
    times = " and ".join(factor(one.times(other)) for one, other, _ in pairs)
    sentence = (
        f"t_rope, whose phases count from a date, pays more: told {telling.name} it has {times} the error of cycle "
        f"without noise, and {number(min(within))} to {number(max(within))} times within the trained horizon. Its "
        f"frequencies are learned too, but none moves by more than {percent(max(board.moved() for board in clean))}."
    )
    return [sentence]


def _within(one: Score[Arm], board: Board) -> float:
    return float(by_seed(one.beyond, slice(board.how.h)).mean())


def _useless(board: Board) -> str:
    """Say from which error on the mean of the signal is the better forecast."""
    worse = [t for t in board.wrong if by_seed(board.score(CYCLE, t).beyond).min() > board.scale]
    if not worse:
        return ""
    return (
        f"With T told {', '.join(telling.name for telling in worse)}, cycle is worse for every seed than a forecast of "
        f"the signal's mean, whose error is {number(board.scale)}."
    )


def _sides(board: Board) -> str:
    """Compare too short with too long."""
    pairs = []
    for telling in board.wrong:
        if telling.off > 0:
            mirror = next((t for t in board.wrong if t.off == -telling.off), None)
            if mirror is not None:
                times = board.score(CYCLE, mirror).times(board.score(CYCLE, telling))
                pairs.append((abs(telling.off), times))
    differ = [f"{factor(times)} at {percent(off)}" for off, times in pairs if times.excludes(1)]
    if not differ:
        return "Too short and too long cost cycle the same within chance."
    return f"Too short costs cycle as a multiple of too long: {', '.join(differ)}; elsewhere the same within chance."


def _clock(board: Board) -> str:
    if CLOCK not in board.encodings:
        return ""
    times = [board.score(CLOCK, telling).times(board.score(CYCLE, telling)) for telling in board.wrong_of(CLOCK)]
    differ = [one for one in times if one.excludes(1)]
    means = f"{number(min(one.mean for one in times))} to {number(max(one.mean for one in times))} times"
    return (
        f"clock told a wrong T has {means} the error of cycle told the same; the difference is more than chance in "
        f"{len(differ)} of {len(times)} cases."
    )


def _price(board: Board) -> str:
    if LEARNED not in board.encodings:
        return ""
    times = board.score(LEARNED, KNOWN).times(board.score(CYCLE, KNOWN))
    return f"Learning a frequency that was right from the start costs {factor(times)} the error{_chance(times)}."
