"""What was found, arm by arm and seed by seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.studies.intervals import Interval, ratio_interval, t_interval
from fints.studies.valley.arms import KNOWN, KNOWN_LONGER, LONGER, RANDOM, TUNED
from fints.studies.valley.protocol import PERIOD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.studies.valley.protocol import ValleyProtocol

WITHIN = 0.002
"""Relative error of the period within which it counts as recovered."""

CLOSE = 1.05
"""Times the error of the known period within which a forecast counts as as good."""


@dataclass(frozen=True, slots=True, eq=False)
class ValleyBoard:
    """Results of all arms.

    Parameters
    ----------
    how : ValleyProtocol
    results : mapping
        By arm: what `ValleyUnit.run` returned, by seed.
    """

    how: ValleyProtocol
    results: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms, in the order of the tables."""
        return tuple(self.results)

    @property
    def seeds(self) -> int:
        """How many there are."""
        return len(self.results[KNOWN])

    def offs(self, arm: str) -> NDArray[np.float64]:
        """Return the relative error of the period that an arm came to, by seed."""
        return np.array([result["period"] for result in self.results[arm]]) / PERIOD - 1

    def recovered(self, arm: str) -> int:
        """Count the seeds for which an arm came within `WITHIN` of the period."""
        return int((np.abs(self.offs(arm)) <= WITHIN).sum())

    def errors(self, arm: str, against: str = "signal") -> NDArray[np.float64]:
        """Return the root mean square error at each step ahead over the test origins, shape (seeds, steps)."""
        root: NDArray[np.float64] = np.sqrt([result[against] for result in self.results[arm]])
        return root

    def beyond(self, arm: str, against: str = "signal") -> NDArray[np.float64]:
        """Return the root mean square error beyond the trained horizon, by seed."""
        squared = self.errors(arm, against)[:, self.how.trained_h :] ** 2
        root: NDArray[np.float64] = np.sqrt(squared.mean(axis=1))
        return root

    def rmse(self, arm: str, against: str = "signal") -> Interval:
        """Mean over seeds of the error beyond the trained horizon."""
        return t_interval(self.beyond(arm, against))

    def times(self, arm: str, against: str = "signal") -> Interval:
        """Return how many times the error with the period known this arm's is, seed by seed, both trained as long."""
        known = KNOWN_LONGER if arm == LONGER else KNOWN
        return ratio_interval(self.beyond(arm, against), self.beyond(known, against))

    def trials(self, arm: str, seed: int) -> list[tuple[int, str, float, float, float]]:
        """Return number, origin, start and end of the period in bars, and score of the trials of a search."""
        return [tuple(each) for each in self.results[arm][seed]["trials"]]

    def course(self, arm: str) -> NDArray[np.float64]:
        """Return the absolute relative error of the best trial's period after each trial, shape (seeds, trials)."""
        rows = []
        for seed in range(self.seeds):
            best, off = np.inf, np.nan
            row = []
            for *_, end, value in self.trials(arm, seed):
                if value < best:
                    best, off = value, abs(end / PERIOD - 1)
                row.append(off)
            rows.append(row)
        shortest = min(map(len, rows))
        return np.array([row[:shortest] for row in rows])

    @property
    def holds(self) -> bool:
        """Whether tuning does what it is built for: the period for every seed, and its error as good as known."""
        return self.recovered(TUNED) == self.seeds and self.times(TUNED, "observed").mean <= CLOSE

    @property
    def searches(self) -> tuple[str, ...]:
        """The arms that have trials."""
        return TUNED, RANDOM
