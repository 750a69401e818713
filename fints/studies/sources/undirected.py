"""An undirected routine: what happens depends on the phase alone, and runs the same backwards."""

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
class Undirected:
    """A profile over the phases of a period, repeated for ever, in white noise.

    The profile is drawn anew for each seed, from a Gaussian law that is the same forwards and backwards: two phases are
    alike by their distance around the clock, ``exp(−d² / 2·width²)``. So neither direction tells more than the other.
    The truth is the profile.

    Parameters
    ----------
    period : int
        In bars.
    width : float
        In bars.
    sigma : float
        Standard deviation of the noise; the profile's own is about 1.
    """

    period: int
    width: float = 2.0
    sigma: float = 0.5

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return generated("undirected")

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["undirected", GENERATORS],
            "period": self.period,
            "width": self.width,
            "sigma": self.sigma,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.period], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        rng = np.random.default_rng(seed)
        profile = self.profile(rng)
        truth = profile[np.arange(n) % self.period]
        return daily(truth + self.sigma * rng.standard_normal(n), truth)

    def profile(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a value for each phase, shape (period,), as white noise that is blurred around the clock."""
        phase = np.arange(self.period)
        around = np.minimum(phase, self.period - phase)
        # The blur of white noise by a Gaussian of width/√2 has a Gaussian covariance of that width.
        blur = np.exp(-((around / self.width) ** 2))
        mixed = np.fft.ifft(np.fft.fft(blur) * np.fft.fft(rng.standard_normal(self.period))).real
        return np.asarray(mixed / np.sqrt(np.sum(blur**2)))
