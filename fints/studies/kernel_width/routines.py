"""Routines of known width: many series, each with a smooth random profile of its own over every period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import ConfigError
from fints.plan import FrequencyPlan
from fints.studies.sources import Drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.plan import Clock

GENERATOR = 1
"""Version of the generator. Raise it when a change changes what it draws: older results are then done again."""

EXCHANGE = "24/7"
"""A session every day, so all clocks run alike."""

FIRST_DAY = "2020-01-01"

FADED = 4.0
"""Standard deviations of the law of harmonics beyond which they count as nothing."""


@dataclass(frozen=True, slots=True)
class Routines:
    """Series that repeat a profile over each period, in white noise.

    A profile is a Gaussian process around the clock: two phases are alike by their distance, ``exp(−d² / 2·width²)``,
    and every series draws its own, so that a forecaster has to read it from the context. The profiles of several
    periods add up. The truth is their sum.

    Parameters
    ----------
    periods, widths : tuple of float
        In bars; as many of one as of the other.
    sigma : float
        Standard deviation of the noise, in those of one profile.
    series : int

    Raises
    ------
    ConfigError
        If there is no period, or not a width for each.
    """

    periods: tuple[float, ...]
    widths: tuple[float, ...]
    sigma: float = 1.0
    series: int = 32

    def __post_init__(self) -> None:
        if not self.periods or len(self.periods) != len(self.widths):
            raise ConfigError(
                f"{len(self.periods)} periods and {len(self.widths)} widths make no routine; give one of each per cycle"
            )

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return f"generator routines, version {GENERATOR}"

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["routines", GENERATOR],
            "periods": list(self.periods),
            "widths": list(self.widths),
            "sigma": self.sigma,
            "series": self.series,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        return FrequencyPlan.from_periods(self.periods, clock)

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        ds = pd.date_range(FIRST_DAY, periods=n, unit="ns")
        frames, truths = [], []
        for number in range(self.series):
            profile, noise = np.random.default_rng((seed, number)).spawn(2)
            truth = sum((_wave(n, p, w, profile) for p, w in zip(self.periods, self.widths, strict=True)), np.zeros(n))
            y = truth + self.sigma * noise.standard_normal(n)
            frames.append(pd.DataFrame({"unique_id": f"routine-{number:03d}", "ds": ds, "y": y}))
            truths.append(truth)
        panel = pd.concat(frames, ignore_index=True).assign(exchange=EXCHANGE, interval="1d")
        return Drawn(panel, np.concatenate(truths))


def harmonic_law(period: float, width: float) -> NDArray[np.float64]:
    """Return the share of the variance that every harmonic 0, 1, 2 … of a profile has, summing to 1."""
    star = period / (2 * np.pi * width)
    k = np.arange(int(np.ceil(FADED * star)) + 1)
    weight = np.where(k == 0, 1.0, 2.0) * np.exp(-0.5 * (k / star) ** 2)
    law: NDArray[np.float64] = weight / weight.sum()
    return law


def _wave(n: int, period: float, width: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a profile of variance 1 and repeat it over `n` bars."""
    law = harmonic_law(period, width)
    angle = 2 * np.pi * np.outer(np.arange(n), np.arange(len(law))) / period
    cosine, sine = rng.standard_normal((2, len(law)))
    wave: NDArray[np.float64] = np.cos(angle) @ (np.sqrt(law) * cosine) + np.sin(angle) @ (np.sqrt(law) * sine)
    return wave
