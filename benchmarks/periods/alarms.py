"""How often noise alone shows a line, at the 5 % level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.periods.days import CLOCKS, GARCH, Days, noise
from fints.periods.search import Search

if TYPE_CHECKING:
    from benchmarks.periods.cells import Cells, Values

NOISES = ("0", "0.7", "0.95", "0.99", GARCH)
SEARCHED = (*CLOCKS, "both")
N = 1000
LEVEL = 0.05


def measure(trials: int, cells: Cells) -> dict[str, Values]:
    """Measure the share of series with any line at p < 0.05, by noise and by clocks searched; effects are taken out."""
    days = Days.of(N)
    return {kind: cells.of(f"alarms {kind}, {trials}", lambda k=kind: _share(k, days, trials)) for kind in NOISES}  # type: ignore[misc]


def _share(kind: str, days: Days, trials: int) -> Values:
    rng = np.random.default_rng(20240105)
    hits = dict.fromkeys(SEARCHED, 0)
    for _ in range(trials):
        y = noise(kind, N, rng)
        for clock in hits:
            search = Search(clock=clock, max_lines=1)  # type: ignore[arg-type]
            hits[clock] += days.peel(y, search).p_value < LEVEL
    return {clock: count / trials for clock, count in hits.items()}
