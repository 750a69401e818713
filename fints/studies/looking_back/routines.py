"""Routines with a day and a week, in bars: one of echoes, which has a direction, and one of phases, which has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.plan import FrequencyPlan
from fints.studies.sources import Undirected
from fints.studies.sources.drawn import daily

if TYPE_CHECKING:
    from fints.plan import Clock
    from fints.studies.sources import Drawn

VERSION = 1
"""Raise it when a change of the code changes what is drawn."""

BEFORE = 40
"""Weeks before the first bar, by which echoes of what was before them have faded."""


@dataclass(frozen=True, slots=True)
class Echoes:
    """Causes at random bars, each heard again one day and one week later, and so on.

    ``y_t = echo · (y_{t − day} + y_{t − week}) + u_t + noise``, with causes ``u_t`` between ½ and 1½ with probability
    `rate`, else 0. Two looks back tell all that can be told of a bar: one day and one week; every other bar adds
    nothing to them, whatever its phase. The truth is the best forecast up to one day ahead, so ask for no more.

    Parameters
    ----------
    day, week : int
        In bars.
    echo : float
        Below ½.
    rate : float
        Causes per bar.
    sigma : float
        Standard deviation of the noise.
    """

    day: int
    week: int
    echo: float = 0.47
    rate: float = 0.15
    sigma: float = 0.1

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return f"generator echoes of a day and a week, version {VERSION}"

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        laws = [self.echo, self.rate, self.sigma]
        return {"source": ["echoes of a day and a week", VERSION], "periods": [self.day, self.week], "laws": laws}

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.day, self.week], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        from scipy.signal import lfilter

        before = BEFORE * self.week
        happens, size, noise = np.random.default_rng(seed).random((before + n, 3)).T
        new = np.where(happens < self.rate, 0.5 + size, 0.0) + self.sigma * np.sqrt(12) * (noise - 0.5)
        recursion = np.zeros(self.week + 1)
        recursion[[0, self.day, self.week]] = 1.0, -self.echo, -self.echo
        values = np.asarray(lfilter([1.0], recursion, new))
        heard = values[before - self.day : before - self.day + n] + values[before - self.week : before - self.week + n]
        return daily(values[before:], self.echo * heard + self.rate)


@dataclass(frozen=True, slots=True)
class Rhythms:
    """A profile over the day and another over the week, in white noise; it runs the same backwards.

    Every bar at the same phase of the week tells all, and of the same phase of the day a half. The truth is the sum of
    both profiles, which are drawn anew for each seed.

    Parameters
    ----------
    day, week : int
        In bars.
    sigma : float
        Standard deviation of the noise; each profile's own is about 1.
    """

    day: int
    week: int
    sigma: float = 0.5

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return f"generator rhythms of a day and a week, version {VERSION}"

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["rhythms of a day and a week", VERSION],
            "periods": [self.day, self.week],
            "sigma": self.sigma,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods([self.day, self.week], clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        rng, t = np.random.default_rng(seed), np.arange(n)
        truth = sum(Undirected(period, width=1.0).profile(rng)[t % period] for period in (self.day, self.week))
        return daily(truth + self.sigma * rng.standard_normal(n), np.asarray(truth))
