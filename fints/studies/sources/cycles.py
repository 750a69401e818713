"""Sums of sines in white noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.studies.planted import PlantedCycles
from fints.studies.sources.drawn import GENERATORS, daily, generated

if TYPE_CHECKING:
    from fints.plan import Clock, FrequencyPlan
    from fints.studies.sources.drawn import Drawn


@dataclass(frozen=True, slots=True)
class Cycles:
    """A sum of sines of known periods; see `PlantedCycles`. The truth is the sum without its noise.

    Parameters
    ----------
    periods, amplitudes : tuple of float
        In bars, and in units of the series; as many of one as of the other.
    sigma : float
        Standard deviation of the noise.
    """

    periods: tuple[float, ...]
    amplitudes: tuple[float, ...]
    sigma: float = 0.0

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return generated("cycles")

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["cycles", GENERATORS],
            "periods": list(self.periods),
            "amplitudes": list(self.amplitudes),
            "sigma": self.sigma,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return self._planted.plan(clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        return daily(self._planted.observed(n, seed), self._planted.clean(n))

    @property
    def _planted(self) -> PlantedCycles:
        return PlantedCycles("cycles", "", self.periods, self.amplitudes, self.sigma)
