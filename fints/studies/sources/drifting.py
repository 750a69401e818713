"""A cycle whose period drifts."""

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
class Drifting:
    """A sine of amplitude 1 whose period grows by a constant share per bar, in white noise.

    The plan says the period of the first bar. The truth is the sine.

    Parameters
    ----------
    period : float
        At the first bar, in bars.
    growth : float
        Share by which the period grows in 1,000 bars: 0.1 makes 22 of 20.
    sigma : float
        Standard deviation of the noise.
    """

    period: float
    growth: float
    sigma: float = 0.3

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return generated("drifting")

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["drifting", GENERATORS],
            "period": self.period,
            "growth": self.growth,
            "sigma": self.sigma,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.period], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        periods = self.period * (1 + self.growth) ** (np.arange(n) / 1000)
        turns = np.concatenate(([0.0], np.cumsum(1 / periods)[:-1]))
        truth = np.sin(2 * np.pi * turns)
        return daily(truth + self.sigma * np.random.default_rng(seed).standard_normal(n), truth)
