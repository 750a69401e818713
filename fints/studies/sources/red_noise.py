"""Red noise: persistence without any cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.plan import FrequencyPlan
from fints.studies.sources.drawn import GENERATORS, daily, generated

if TYPE_CHECKING:
    from fints.plan import Clock
    from fints.studies.sources.drawn import Drawn


@dataclass(frozen=True, slots=True)
class RedNoise:
    """A stationary AR(1) of standard deviation 1. It has no cycle, whatever the plan says.

    The truth is what comes: how much of it can be foreseen depends on the origin.

    Parameters
    ----------
    memory : float
        Correlation of neighbouring bars.
    told : float
        The period that the plan says, in bars.
    """

    memory: float
    told: float

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return generated("red_noise")

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {"source": ["red_noise", GENERATORS], "memory": self.memory, "told": self.told}

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.told], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        from scipy.signal import lfilter

        shocks = np.random.default_rng(seed).standard_normal(n)
        shocks[1:] *= np.sqrt(1 - self.memory**2)
        values = np.asarray(lfilter([1.0], [1.0, -self.memory], shocks), dtype=np.float64)
        return daily(values, values)
