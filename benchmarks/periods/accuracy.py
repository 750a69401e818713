"""How near the frequency of a line comes to the Cramér-Rao bound, over signal-to-noise ratio, length and clock."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.periods.days import CLOCKS, Days
from fints.periods.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.periods.cells import Cells, Values

    FloatArray = NDArray[np.float64]

PERIODS = (6.7, 7.3, 20.37, 61.9)
DECIBELS = (-10, -5, 0, 5, 10)
BATCH = 100
_NEAR = 0.1


@dataclass(frozen=True)
class Cell:
    """One line in white noise of variance 1.

    Parameters
    ----------
    n : int
        Sessions.
    clock : {"session", "calendar"}
    period : float
        In units of the clock.
    decibel : int
        Power of the line over the variance of the noise.
    """

    n: int
    clock: str
    period: float
    decibel: int

    def __str__(self) -> str:
        return f"{self.n} {self.clock} {self.period} {self.decibel} dB"

    def measure(self, days: Days, batch: int, trials: int) -> Values:
        """Search `trials` series, both clocks together, for their strongest line.

        Returns
        -------
        dict
            ``series``; ``here``, ``elsewhere``: how many lines were found within a tenth of the period on the clock
            that the line was planted on, and on the other; ``squares``: sum over the former of the squared error of
            the frequency over its bound; ``others``: over the latter, taken over at the mean rate of sessions.
        """
        rng = np.random.default_rng([self.n, int(100 * self.period), self.decibel + 100, batch])
        place, amplitude = days.place(self.clock), np.sqrt(2 * 10 ** (self.decibel / 10))
        squares: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(trials):
            phase = rng.uniform(-np.pi, np.pi)
            y = amplitude * np.cos(2 * np.pi * place / self.period + phase) + rng.standard_normal(self.n)
            found = days.peel(y, Search(max_lines=1), effects=False)
            on = [(t.on(self.clock, found.samples.rate), t.clock) for t in found.fit.tones]  # type: ignore[arg-type]
            near = [(f, clock) for f, clock in on if abs(f * self.period - 1) < _NEAR]
            for frequency, clock in near[:1]:
                over = (frequency - 1 / self.period) ** 2 / bound(place, self.period, amplitude, phase)
                squares[clock == self.clock].append(over)
        return {
            "series": trials,
            "here": len(squares[True]),
            "elsewhere": len(squares[False]),
            "squares": sum(squares[True]),
            "others": sum(squares[False]),
        }


def bound(place: FloatArray, period: float, amplitude: float, phase: float) -> float:
    """Cramér-Rao bound of the frequency's variance; amplitude, phase, mean and trend unknown, noise of variance 1.

    The inverse of Fisher's information at the sampled places. For n regular ones it nears
    ``6 / (π² · amplitude² · n³)`` (Rife and Boorstyn 1974, IEEE Trans. IT 20, 591-598).
    """
    time = place - place.mean()
    angle = 2 * np.pi * place / period + phase
    slope = -amplitude * 2 * np.pi * time * np.sin(angle)
    gradient = np.column_stack([slope, np.cos(angle), np.sin(angle), np.ones_like(time), time / time[-1]])
    return float(np.linalg.inv(gradient.T @ gradient)[0, 0])


def measure(sizes: Sequence[int], trials: int, cells: Cells) -> dict[Cell, Values]:
    """Measure every cell in batches: a first of all cells, the short series first, then a second, and so on."""
    found: dict[Cell, Values] = {}
    for batch, count in enumerate(_batches(trials)):
        for n in sorted(sizes):
            days = Days.of(n)
            for where in product(CLOCKS, PERIODS, DECIBELS):
                cell = Cell(n, *where)
                values = cells.of(
                    f"accuracy {cell}, {batch}: {count}",
                    lambda c=cell, at=days, b=batch, k=count: c.measure(at, b, k),  # type: ignore[misc]
                )
                found[cell] = {name: value + found.get(cell, {}).get(name, 0) for name, value in values.items()}
    return found


def ratio(values: Values) -> float:
    """Return the root mean square error over the bound, of lines found on their clock."""
    return float(np.sqrt(values["squares"] / values["here"])) if values["here"] else float("nan")


def _batches(trials: int) -> list[int]:
    whole, rest = divmod(trials, BATCH)
    return [BATCH] * whole + ([rest] if rest else [])
