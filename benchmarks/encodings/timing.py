"""How things are timed here: processor time of one thread, in turns, over a floor timed in the same turns."""

from __future__ import annotations

import os
import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Run = Callable[[], object]

ROUNDS = 15
TURN_SECONDS = 0.01
FIXED = {
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "OMP_NUM_THREADS": "1",
}
"""Without the first two, glibc maps every large tensor afresh, and the copy alone takes 3 to 5 times as long."""


def start_again_with_fixed_allocator() -> None:
    """Start this process again with `FIXED` in its environment, unless it is there."""
    if any(os.environ.get(name) != value for name, value in FIXED.items()):
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **FIXED})


@dataclass(frozen=True)
class Race:
    """Seconds of every run in every round.

    Parameters
    ----------
    seconds : mapping of str to list of float
    """

    seconds: Mapping[str, list[float]]

    def ratio(self, name: str, floor: str) -> float:
        """Return the median over the rounds of one run over another."""
        pairs = zip(self.seconds[name], self.seconds[floor], strict=True)
        return statistics.median(own / other for own, other in pairs)

    def spread(self, name: str, floor: str) -> float:
        """Return half of the range between the quartiles of that ratio."""
        pairs = zip(self.seconds[name], self.seconds[floor], strict=True)
        low, _, high = statistics.quantiles([own / other for own, other in pairs])
        return (high - low) / 2


def race(runs: Mapping[str, Run], rounds: int = ROUNDS) -> Race:
    """Let the runs take turns, so that a busy moment of the machine hits all of them."""
    repeats = {}
    for name, run in runs.items():
        run()
        repeats[name] = max(1, round(TURN_SECONDS / max(1e-6, _seconds(run, 2))))
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seconds[name].append(_seconds(run, repeats[name]))
    return Race(seconds)


def _seconds(run: Run, repeats: int) -> float:
    # Processor time, which other processes on the machine do not add to.
    began = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - began) / repeats
