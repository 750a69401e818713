"""A directed routine: causes at random times, each with an echo a fixed time later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.plan import FrequencyPlan
from fints.studies.sources.drawn import GENERATORS, daily, generated

if TYPE_CHECKING:
    from fints.plan import Clock
    from fints.studies.sources.drawn import Drawn


BEFORE = 40
"""Lags before the first bar, by which echoes of what was before them have faded."""


@dataclass(frozen=True, slots=True)
class Directed:
    """Causes at random bars, each with a fading echo `lag` bars later, and again as much later.

    ``y_t = echo · y_{t − lag} + u_t + noise``, with causes ``u_t`` between ½ and 1½ with probability `rate`, else 0.
    Causes are independent of everything before them, so what stands one lag *ahead* of a bar, or at the mirrored phase
    of the period, adds nothing to the look *back* by one lag, which tells all that can be told. Run backwards, echoes
    would grow towards their cause: the law is not its own mirror image. The truth is the best forecast,
    ``echo · y_{t − lag}`` and the mean of new causes; it is known from origins up to `lag` bars before, so ask for no
    more.

    Parameters
    ----------
    period : int
        What the plan says, in bars.
    lag : int
        From cause to echo, in bars: the period, or something that is no multiple of half of it.
    echo : float
        Part of a bar that its echo has, below 1.
    rate : float
        Causes per bar.
    sigma : float
        Standard deviation of the noise.
    """

    period: int
    lag: int
    echo: float = 0.9
    rate: float = 0.15
    sigma: float = 0.1

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return generated("directed")

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["directed", GENERATORS],
            "period": self.period,
            "lag": self.lag,
            "echo": self.echo,
            "rate": self.rate,
            "sigma": self.sigma,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.period], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`; the first bars have echoes of causes before them."""
        from scipy.signal import lfilter

        before = BEFORE * self.lag
        happens, size, noise = np.random.default_rng(seed).random((before + n, 3)).T
        new = np.where(happens < self.rate, 0.5 + size, 0.0) + self.sigma * np.sqrt(12) * (noise - 0.5)
        values = np.asarray(lfilter([1.0], [1.0, *[0.0] * (self.lag - 1), -self.echo], new))
        truth = self.echo * values[before - self.lag : before - self.lag + n] + self.rate
        return daily(values[before:], truth)
