"""What the scores say, in sentences that are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.studies.extrapolation.arms import CLOCK, CLOCK_HALF, CYCLE, CYCLE_HALF, NONE
from fints.studies.extrapolation.tasks import ONE, THREE
from fints.studies.intervals import t_interval
from fints.studies.scores import by_seed
from fints.studies.wording import error, factor, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.studies.extrapolation.arms import Arm
    from fints.studies.extrapolation.scores import Board
    from fints.studies.scores import Score

FAMILIES: Mapping[str, tuple[str, str]] = {"cycle": (CYCLE, CYCLE_HALF), "clock": (CLOCK, CLOCK_HALF)}
"""The encodings that the study is about, on all planes and on half of them."""


FOLLOWS = 0.1
"""Error, in standard deviations of the signal, up to which a forecast is said to follow it."""


@dataclass(frozen=True, slots=True)
class Target:
    """An error that a family of encodings has to stay below, with the better of its shares.

    Parameters
    ----------
    task : str
    family : str
        Of `FAMILIES`.
    limit : float
        Largest mean RMSE over seeds.
    """

    task: str
    family: str
    limit: float

    def held(self, board: Board) -> bool:
        """Tell whether it holds."""
        return board.best_of(FAMILIES[self.family]).rmse.mean <= self.limit


TARGETS: tuple[Target, ...] = tuple(
    Target(task.name, family, limit) for task, limit in ((THREE, 0.01), (ONE, 0.003)) for family in FAMILIES
)


def held(boards: Sequence[Board]) -> bool:
    """Tell whether every target holds whose task was done."""
    return all(target.held(board) for board in boards for target in TARGETS if target.task == board.task.name)


def verdicts(boards: Sequence[Board], h: int) -> list[str]:
    """Return what matters most: who carries cycles on, the targets, who wins each task, how far behind the untold are.

    Parameters
    ----------
    boards : sequence of Board
    h : int
        Steps ahead that training asked for.
    """
    targets = [_target(target, board) for board in boards for target in TARGETS if target.task == board.task.name]
    titled = [f"{board.task.title}: {said}" for board in boards for said in (_winner(board), _untold(board)) if said]
    return [_carriers(boards, h), *targets, *titled]


def remarks(board: Board, h: int) -> list[str]:
    """Return what else a board says.

    Parameters
    ----------
    board : Board
    h : int
        Steps ahead that training asked for.
    """
    said = (_horizon(board, h), _halves(board), _noise(board), _none(board))
    return [sentence[0].upper() + sentence[1:] for sentence in said if sentence]


def _carriers(boards: Sequence[Board], h: int) -> str:
    """Name the encodings that follow every clean series that they were tried on, beyond the trained horizon."""
    clean = [board for board in boards if not board.task.sigma]
    tried = {score.arm.name: score.arm for board in clean for score in board.scores}
    carriers = [
        arm for name, arm in tried.items() if all(_follows(b[name], b, slice(h, None)) for b in clean if name in b)
    ]
    if not carriers:
        return f"No encoding follows every series without noise beyond the trained horizon of {h} steps."
    untold = [arm.name for arm in carriers if not arm.told]
    tail = f"; {', '.join(untold)} without being told the periods" if untold else "; all of them are told the periods"
    named = ", ".join(arm.name for arm in carriers)
    return (
        f"Beyond the trained horizon of {h} steps, {len(carriers)} of {len(tried)} encodings follow every series "
        f"without noise to {100 * FOLLOWS:.0f} % of its standard deviation: {named}{tail}."
    )


def _follows(score: Score[Arm], board: Board, steps: slice) -> bool:
    return float(by_seed(score.beyond, steps).mean()) < FOLLOWS * board.scale


def _horizon(board: Board, h: int) -> str:
    """Count who follows the signal, within the trained horizon and beyond it."""
    within, beyond = (
        sum(_follows(score, board, steps) for score in board.scores) for steps in (slice(h), slice(h, None))
    )
    return (
        f"{within} of {len(board.scores)} encodings have an error below {100 * FOLLOWS:.0f} % of the signal's standard "
        f"deviation ({number(board.scale)}) up to the trained horizon of {h} steps, and {beyond} have it after that."
    )


def _target(target: Target, board: Board) -> str:
    score = board.best_of(FAMILIES[target.family])
    answer = "holds" if target.held(board) else "does not hold"
    return (
        f"{board.task.title}: {score.arm.name} extrapolates with an RMSE of {error(score.rmse)}. "
        f"At most {target.limit:g} was asked of {target.family}; that {answer}."
    )


def _own(board: Board) -> Score[Arm]:
    return board.best_of([name for family in FAMILIES.values() for name in family])


def _winner(board: Board) -> str:
    own, best = _own(board), board.best
    if best is own:
        return f"{own.arm.name} is the best of {len(board.scores)} encodings{_next(board, own)}."
    choices = len(board.scores) - 1
    times = own.times(best, choices)
    what = "better than" if times.above(1) else "not distinguishable from"
    return (
        f"{best.arm.name} has the smallest error, {error(best.rmse)}; it is {what} "
        f"{own.arm.name}, which has {factor(times)} its error (interval widened for a choice among {choices})."
    )


def _next(board: Board, own: Score[Arm]) -> str:
    second = next((score for score in board.scores if score.arm.name not in sum(FAMILIES.values(), ())), None)
    if second is None:
        return ""
    times = second.times(own)
    if times.above(1):
        return f"; the next of another kind, {second.arm.name}, has {factor(times)} its error"
    return f"; the next of another kind, {second.arm.name}, is not distinguishable from it ({factor(times)})"


def _untold(board: Board) -> str:
    own = _own(board)
    untold = next((score for score in board.scores if not score.arm.told), None)
    if untold is None:
        return ""
    times, back = untold.times(own), own.times(untold)
    said = "has" if times.above(1) or back.above(1) else "is not distinguishable: it has"
    return (
        f"of the encodings that are not told the periods the best is {untold.arm.name}; "
        f"it {said} {factor(times)} the error of {own.arm.name}."
    )


def _halves(board: Board) -> str:
    parts = []
    for family, (full, half) in FAMILIES.items():
        if full in board and half in board:
            times = board[half].times(board[full])
            parts.append(f"{factor(times)} as large for {family}")
    if not parts:
        return ""
    return f"leaving half of the planes to RoPE makes the error {' and '.join(parts)}."


def _noise(board: Board) -> str:
    if not board.task.sigma:
        return ""
    own = _own(board)
    learnt = own.rmse.mean > 2 * board.least_squares.mean
    return (
        f"the error of {own.arm.name} is {error(own.rmse)} against the signal, and "
        f"{error(t_interval(by_seed(own.observed)))} against what is observed, of which the noise alone makes "
        f"{board.task.sigma:g}; least squares on sines of the known periods, fitted to the same bars, has "
        f"{error(board.least_squares)} against the signal"
        f"{': most of the error of the network is noise that it learnt' if learnt else ''}."
    )


def _none(board: Board) -> str:
    if NONE not in board:
        return ""
    none = board[NONE]
    useless = [s.arm.name for s in board.scores if s is not none and not none.times(s).above(1)]
    if not useless:
        return f"every encoding is better than no position at all ({error(none.rmse)})."
    return f"not better than no position at all ({error(none.rmse)}): {', '.join(sorted(useless))}."
