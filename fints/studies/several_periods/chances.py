"""How likely a draw leaves a period without a plane that turns once in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.encodings.clock import ClockConfig
from fints.encodings.kernels import PeriodicGaussianKernel
from fints.errors import ConfigError
from fints.studies.several_periods.arms import FEATURE, HEAD, MIXTURE, SHARE

if TYPE_CHECKING:
    from fints.transformer import NetworkConfig


@dataclass(frozen=True, slots=True)
class Chances:
    """The planes that one layer has for its cycles.

    Parameters
    ----------
    heads : int
    planes : int
        Of each head, for the cycles.
    periods : int
        Equally strong.
    """

    heads: int
    planes: int
    periods: int

    @classmethod
    def of(cls, network: NetworkConfig, periods: int) -> Chances:
        """Return those of a layer of a network."""
        return cls(network.n_heads, round(SHARE * (network.dim // network.n_heads // 2)), periods)

    def without(self, way: str) -> float:
        """Return the probability that no plane of a layer turns once in a given period.

        A mixture chooses period and harmonic for each plane; the splits choose the harmonic alone. Where a split does
        not come out even, it is the period with the fewest planes. Harmonics of other periods do not count.

        Parameters
        ----------
        way : str
            One of `WAYS`.

        Raises
        ------
        ConfigError
            If it is another arm.
        """
        once = fundamental()
        every = self.heads * self.planes
        match way:
            case _ if way == MIXTURE:
                return (1 - once / self.periods) ** every
            case _ if way == FEATURE:
                return (1 - once) ** (self.heads * (self.planes // self.periods))
            case _ if way == HEAD:
                return (1 - once) ** (self.planes * (self.heads // self.periods))
            case _:
                raise ConfigError(f"{way!r} shares no planes out; choose one of {MIXTURE}, {FEATURE}, {HEAD}")


def fundamental() -> float:
    """Return the probability that the default law draws the fundamental of its period."""
    config = ClockConfig()
    kernel = PeriodicGaussianKernel(
        period=1.0, sigma=config.sigma_over_period, truncation=config.truncation, fold=config.law.endswith("fold")
    )
    return float(2 * kernel.pmf()[kernel.truncation + 1])
