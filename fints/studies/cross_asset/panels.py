"""Panels of series with a common cycle, in which one series leads the others, or none does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.plan import FrequencyPlan
from fints.studies.sources import Drawn
from fints.studies.sources.drawn import EXCHANGE, FIRST_DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.plan import Clock

    FloatArray = NDArray[np.float64]

VERSION = 1
"""Raise it when a change of the code changes what is drawn."""

LEADER = "a-leader"
"""Its name, and the order of names is that of the panel."""


@dataclass(frozen=True, slots=True)
class Led:
    """Series that are a cycle, a residual and noise; the residual of the first is seen in the others later.

    ``x_i,t = a_i sin(2π(t / period + φ_i)) + strength · r_i,t + noise``, with residuals ``r`` of memory `memory` and
    standard deviation 1. Amplitudes lie between ½ and 1½ and phases anywhere, drawn anew for each seed. If the panel
    is led, ``r_i,t = r_0,t − lag`` for every follower: it can be read from the leader `lag` bars before the follower
    shows it. If not, every series has a residual of its own, of the same law, so that each series by itself is of the
    same law in both panels. The truth is cycle and residual, without the noise.

    Parameters
    ----------
    led : bool
    period : float
        Of the cycle of all series, in bars.
    lag : int
        Bars by which the leader leads.
    memory : float
        Correlation of neighbouring residuals.
    strength, sigma : float
        Standard deviations of residual and noise.
    followers : int
    """

    led: bool
    period: float = 20.0
    lag: int = 2
    memory: float = 0.8
    strength: float = 0.7
    sigma: float = 0.4
    followers: int = 3

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return f"generator of panels that are led or not, version {VERSION}"

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        laws = [self.lag, self.memory, self.strength, self.sigma, self.followers]
        return {"source": ["led panel", VERSION, self.led], "period": self.period, "laws": laws}

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.period], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        cycles, residuals, noise = self.parts(n, seed)
        truth = cycles + residuals
        names = [LEADER, *(f"b-follower-{i}" for i in range(1, self.followers + 1))]
        frame = pd.DataFrame(
            {
                "unique_id": np.repeat(names, n),
                "ds": np.tile(pd.date_range(FIRST_DAY, periods=n, unit="ns"), len(names)),
                "y": (truth + noise).ravel(),
                "exchange": EXCHANGE,
                "interval": "1d",
            }
        )
        return Drawn(frame, truth.ravel())

    def parts(self, n: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return cycles, residuals and noise, each of shape (series, n); the leader is the first series."""
        from scipy.signal import lfilter

        rng, count = np.random.default_rng(seed), 1 + self.followers
        amplitudes, phases = 0.5 + rng.random(count), rng.random(count)
        # bars are drawn one after the other, so that more of them continue fewer
        shocks, noise = np.moveaxis(rng.standard_normal((self.lag + n, 2, count)), 0, -1)
        shocks[:, 1:] *= np.sqrt(1 - self.memory**2)
        walks = np.asarray(lfilter([1.0], [1.0, -self.memory], shocks, axis=-1))
        own = np.where(self.led, walks[:1], walks)
        late = np.broadcast_to(own, walks.shape)[:, :n]
        residuals = np.concatenate((walks[:1, self.lag :], late[1:])) * self.strength
        turns = np.arange(n) / self.period + phases[:, None]
        return amplitudes[:, None] * np.sin(2 * np.pi * turns), residuals, self.sigma * noise[:, self.lag :]

    def followed(self, n: int) -> NDArray[np.bool_]:
        """Tell which rows of a panel of `n` bars a series are followers'."""
        return np.repeat(np.arange(1 + self.followers) > 0, n)
