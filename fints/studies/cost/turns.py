"""Timing in turns: processor time of one thread, and time by the clock on the wall."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Run = Callable[[], object]
    Clock = Callable[[], float]

TURN = 0.01
"""Seconds of the processor that a turn takes at least, by repeating what is timed."""

MOST = 1_000
"""Times that something is repeated within a turn at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Seconds of one thing and of another, in turns.

    Parameters
    ----------
    cpu, wall : ndarray, shape (rounds, 2)
        Of the first and of the second, of the processor and by the clock on the wall.
    """

    cpu: NDArray[np.float64]
    wall: NDArray[np.float64]

    def ratio(self, clock: str = "cpu") -> float:
        """Median over the rounds of the first over the second, each ratio taken within a round."""
        seconds = self.cpu if clock == "cpu" else self.wall
        return float(np.median(seconds[:, 0] / seconds[:, 1]))


def take_turns(first: Run, second: Run, rounds: int, clocks: tuple[Clock, Clock] | None = None) -> Turns:
    """Time two things in turns; who begins alternates, so that neither always finds the other's leavings.

    Parameters
    ----------
    first, second : callable
    rounds : int
    clocks : tuple of callable, optional
        Processor and wall; those of this machine by default.
    """
    read = clocks or (time.process_time, time.perf_counter)
    runs = (first, second)
    once = max(_spent(run, 1, read)[0] for run in runs)
    if once < TURN:  # the first time of something short is mostly that it is the first
        once = max(_spent(run, 2, read)[0] for run in runs)
    times = int(np.clip(round(TURN / max(once, TURN / MOST)), 1, MOST))
    seconds = np.empty((rounds, 2, 2))
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            seconds[number, which] = _spent(runs[which], times, read)
    return Turns(seconds[..., 0], seconds[..., 1])


def _spent(run: Run, times: int, clocks: tuple[Clock, Clock]) -> tuple[float, float]:
    """Return seconds of the processor and by the wall, for one time."""
    cpu, wall = clocks
    began_cpu, began_wall = cpu(), wall()
    for _ in range(times):
        run()
    return (cpu() - began_cpu) / times, (wall() - began_wall) / times
