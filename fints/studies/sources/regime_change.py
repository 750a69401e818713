"""A cycle whose period changes once."""

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
class RegimeChange:
    """A sine of amplitude 1 whose period changes at one bar without a jump, in white noise.

    The plan says the first period: that of somebody who has not noticed. The truth is the sine.

    Parameters
    ----------
    before, after : float
        Periods, in bars.
    at : int
        The first bar of the second regime.
    sigma : float
        Standard deviation of the noise.
    """

    before: float
    after: float
    at: int
    sigma: float = 0.3

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return generated("regime_change")

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["regime_change", GENERATORS],
            "periods": [self.before, self.after],
            "at": self.at,
            "sigma": self.sigma,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.before], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        t = np.arange(n)
        turns = np.minimum(t, self.at) / self.before + np.maximum(t - self.at, 0) / self.after
        truth = np.sin(2 * np.pi * turns)
        return daily(truth + self.sigma * np.random.default_rng(seed).standard_normal(n), truth)
