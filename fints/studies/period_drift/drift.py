"""Periods of planes before and after training, and how far they went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings import effective_periods
from fints.encodings.bank import TimeBank
from fints.studies.comparison import ArmTrial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.studies.comparison import Results

DAY = 86_400.0

YEAR = 365.25

TURN = 2 * np.pi

BANDS: Mapping[str, tuple[float, float]] = {
    "below 2 hours": (0.0, 2 / 24),
    "2 hours to a day": (2 / 24, 1.0),
    "a day to a month": (1.0, YEAR / 12),
    "a month to a year": (YEAR / 12, YEAR),
    "above a year": (YEAR, np.inf),
}
"""Nominal bands: what 2πβ comes to, in days."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """Periods of all planes of an arm on a task, in days.

    Parameters
    ----------
    nominal : ndarray, shape (planes,)
        2πβ: the period at α = 1.
    start, after : ndarray, shape (seeds, planes)
        2πβ/|α| before and after training; of queries, then of keys, by layer.
    """

    nominal: NDArray[np.float64]
    start: NDArray[np.float64]
    after: NDArray[np.float64]

    @property
    def logs(self) -> NDArray[np.float64]:
        """Logarithm of how many times longer a period is after training, shape (seeds, planes)."""
        return np.log(self.after / self.start)

    @property
    def from_nominal(self) -> NDArray[np.float64]:
        """Logarithm of how many times longer than nominal it is after training, shape (seeds, planes)."""
        return np.log(self.after / self.nominal)

    def turns(self, days: float) -> NDArray[np.float64]:
        """Return by how many turns the phase of a plane moved against itself over so many days."""
        return np.abs(1 / self.after - 1 / self.start) * days

    def within(self, band: str) -> NDArray[np.bool_]:
        """Tell which planes lie in a nominal band."""
        low, high = BANDS[band]
        return (self.nominal >= low) & (self.nominal < high)


def drift(results: Results, arm: str, task: str, mode: str) -> Drift | None:
    """Return the periods of an arm, or None where it learns none."""
    if not results.has(arm, task, mode):
        return None
    learned = results.learned(arm, task, mode)
    if not learned:
        return None
    seeds = len(results.units[task, mode, arm])
    encodings = [
        ArmTrial.of(results.arms[arm], results.tasks[task], results.modes[mode], seed)
        .model()
        .design.network_for(0, 0)
        .encoding
        for seed in range(seeds)
    ]
    starts = [effective_periods(encoding) for encoding in encodings]
    banks = [module for module in encodings[0].modules() if isinstance(module, TimeBank)]
    nominal = np.concatenate([np.tile(np.array(bank.betas) * TURN, len(bank.starts)) for bank in banks])
    start = np.array([np.concatenate([one[name] for name in learned]) for one in starts])
    after = 1 / np.concatenate([learned[name] for name in learned], axis=1)
    return Drift(nominal / DAY, start / DAY, after / DAY)


def seen_period(days: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a period comes to at one bar a day: frequencies that differ by a turn per bar look the same."""
    turns = 1 / days
    return 1 / np.maximum(np.abs(turns - np.round(turns)), 1e-12)


@dataclass(frozen=True, slots=True, eq=False)
class Approach:
    """Whether planes move towards a planted period.

    Parameters
    ----------
    moved : ndarray, shape (seeds,)
        By how much the log-distance of planes within a factor of two shrank on average; NaN of a seed without one.
    before, after : ndarray, shape (seeds,)
        Log-distance of the nearest plane.
    """

    moved: NDArray[np.float64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]


def approach(periods: Drift, planted: float) -> Approach:
    """Measure the way to a planted period, as bars of a day show it.

    Parameters
    ----------
    periods : Drift
    planted : float
        In days.
    """
    before, after = (np.abs(np.log(seen_period(one) / planted)) for one in (periods.start, periods.after))
    near = before < np.log(2)
    closer = np.where(near, before - after, np.nan)
    count = near.sum(axis=1)
    moved = np.divide(np.nansum(closer, axis=1), count, out=np.full(len(count), np.nan), where=count > 0)
    return Approach(moved, before.min(axis=1), after.min(axis=1))
