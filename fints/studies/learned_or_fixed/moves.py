"""Whether training moves frequencies towards the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings import effective_periods
from fints.studies.comparison import ArmTrial
from fints.studies.intervals import Interval, t_interval
from fints.studies.learned_or_fixed.arms import SECONDS_PER_DAY, clock_of
from fints.studies.sources import Undirected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.studies.comparison import Results, Task

HARMONICS = 6
"""Of a routine, that count as true: ClockRoPE draws no higher ones."""

ON_LINE = 1e-6
"""Turns per bar; a plane that starts so near a true frequency can but move away from it, and one that starts so near
zero comes nearer to one whichever way it turns."""

RESOLVED = 0.5
"""Turns over a window of training; windows hardly tell frequencies apart that differ by less."""


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Learned frequencies of one arm on one task, before and after training, in turns per bar.

    Parameters
    ----------
    task, arm : str
    before, after : ndarray, shape (seeds, planes)
        Between 0 and ½: bars are a day apart, so a frequency and it plus a turn per bar are one.
    lines : ndarray, shape (n,)
        The true frequencies.
    window : int
        Bars of a window of training, context and horizon.
    """

    task: str
    arm: str
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    lines: NDArray[np.float64]
    window: int

    @property
    def on_line(self) -> NDArray[np.bool_]:
        """Whether a plane starts at a true frequency, shape (seeds, planes)."""
        return self._missed(self.before) < ON_LINE

    @property
    def nearer(self) -> Interval | None:
        """Share of the planes that training brings nearer to a true frequency, with its interval.

        Of those that start neither on one nor at zero: such a plane, moving at random and by little, comes nearer half
        of the time. None where no seed has such planes.
        """
        off, closer = ~self.on_line & (self.before > ON_LINE), self._missed(self.after) < self._missed(self.before)
        shares = [closer[i][row].mean() for i, row in enumerate(off) if row.any()]
        return t_interval(shares) if shares else None

    @property
    def moved(self) -> float:
        """Median way that a plane goes."""
        return float(np.median(np.abs(self.after - self.before)))

    def distance(self, *, after: bool) -> float:
        """Return the median distance to the nearest true frequency."""
        return float(np.median(self._missed(self.after if after else self.before)))

    def resolved(self, *, after: bool) -> float:
        """Return the share of planes that are as good as on a true frequency within a window."""
        return float((self._missed(self.after if after else self.before) < RESOLVED / self.window).mean())

    def _missed(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        distances: NDArray[np.float64] = np.abs(frequencies[..., None] - self.lines).min(axis=-1)
        return distances


def moves(results: Results, mode: str = "bare") -> list[Moves]:
    """Hold the frequencies that training came to against those that it began with.

    Parameters
    ----------
    results : Results
    mode : str
        Only its units are looked at.
    """
    found = []
    for (task, how, arm), units in results.units.items():
        if how != mode or not units[0]["learned"]:
            continue
        kind = results.arms[arm].config(results.tasks[task]).kind
        after = np.array([np.concatenate([list(row) for row in unit["learned"].values()]) for unit in units])
        before = np.array([_start(results, arm, task, mode, seed) for seed in range(len(units))])
        per_bar = SECONDS_PER_DAY if kind == "t_rope" else 1.0
        shape, lines = results.tasks[task].shape, true_lines(results.tasks[task])
        window = shape.input_size + shape.h
        found.append(Moves(task, arm, folded(before * per_bar), folded(after * per_bar), lines, window))
    return found


def true_lines(task: Task) -> NDArray[np.float64]:
    """Return the frequencies that a task's series has, or, of real bars, is thought to have: turns per bar, sorted."""
    plan = task.source.plan(clock_of(task))
    if isinstance(task.source, Undirected):
        return folded(np.arange(1, HARMONICS + 1) / plan.cycles[0].period)
    return np.sort(folded(np.array([line.frequency for line in plan.lines])))


def folded(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take whole turns per bar off, and the sign: what bars a day apart can tell."""
    return np.abs(frequencies - np.round(frequencies))


def _start(results: Results, arm: str, task: str, mode: str, seed: int) -> NDArray[np.float64]:
    trial = ArmTrial.of(results.arms[arm], results.tasks[task], results.modes[mode], seed)
    encoding = trial.model().design.network_for(0, 0).encoding
    return np.concatenate([1 / np.array(periods) for periods in effective_periods(encoding).values()])
