"""Series whose cycles are known, because they were planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import ConfigError
from fints.plan import FrequencyPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.plan import Clock

EXCHANGE = "24/7"
"""A session every day, so the index, session and calendar clocks run alike and seconds run evenly."""

FIRST_DAY = "2020-01-01"


@dataclass(frozen=True, slots=True)
class PlantedCycles:
    """A sum of sines of known periods, with or without white noise.

    Parameters
    ----------
    name : str
    title : str
        In words.
    periods, amplitudes : tuple of float
        In bars, and in units of the series; as many of one as of the other.
    sigma : float
        Standard deviation of the noise.

    Raises
    ------
    ConfigError
        If there is no cycle, or not an amplitude for each.
    """

    name: str
    title: str
    periods: tuple[float, ...]
    amplitudes: tuple[float, ...]
    sigma: float = 0.0

    def __post_init__(self) -> None:
        if not self.periods or len(self.periods) != len(self.amplitudes):
            raise ConfigError(
                f"{len(self.periods)} periods and {len(self.amplitudes)} amplitudes do not make cycles; "
                "give one of each per cycle"
            )

    def clean(self, n: int) -> NDArray[np.float64]:
        """Return the first `n` values without noise, the first at phase 0."""
        t = np.arange(n)
        waves = [a * np.sin(2 * np.pi * t / p) for p, a in zip(self.periods, self.amplitudes, strict=True)]
        total: NDArray[np.float64] = np.sum(waves, axis=0)
        return total

    def observed(self, n: int, seed: int) -> NDArray[np.float64]:
        """Return the first `n` values as they are observed; more values of the same seed continue fewer."""
        return self.clean(n) + self.sigma * np.random.default_rng(seed).standard_normal(n)

    def panel(self, n: int, seed: int) -> pd.DataFrame:
        """Return the first `n` observed values as a panel of daily bars."""
        ds = pd.date_range(FIRST_DAY, periods=n, unit="ns")
        frame = pd.DataFrame({"unique_id": self.name, "ds": ds, "y": self.observed(n, seed)})
        return frame.assign(exchange=EXCHANGE, interval="1d")

    def least_squares(self, seen: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Fit a mean and a sine and a cosine of each period to the first values, and return the first `n` so fitted.

        What somebody can do who knows the periods and that there is nothing else.
        """
        t = np.arange(n)[:, None] / np.asarray(self.periods)
        basis = np.concatenate((np.ones((n, 1)), np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)), axis=1)
        weights = np.linalg.lstsq(basis[: len(seen)], seen, rcond=None)[0]
        fitted: NDArray[np.float64] = basis @ weights
        return fitted

    def plan(self, clock: Clock = "session") -> FrequencyPlan:
        """Return the plan of somebody who knows the periods."""
        return FrequencyPlan.from_periods(self.periods, clock)
