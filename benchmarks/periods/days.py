"""Trading days, and the noise that runs over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.signal import lfilter

from fints.periods.cleaning import cleaned
from fints.periods.effects import effect_columns
from fints.periods.peeling import Peeled, peel
from fints.periods.samples import BarPlaces, make_samples
from fints.series import located, validate_panel
from fints.sessions import get_calendar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.search import Search

    FloatArray = NDArray[np.float64]

CLOCKS = ("session", "calendar")
GARCH = "GARCH"
_SETTLED = 2000


@dataclass(frozen=True)
class Days:
    """New York sessions.

    Parameters
    ----------
    dates : pandas.DatetimeIndex
    at : BarPlaces
        Their places on both clocks.
    effects : numpy.ndarray
        Columns of the one-off effects of the calendar.
    """

    dates: pd.DatetimeIndex
    at: BarPlaces
    effects: FloatArray

    @classmethod
    def of(cls, n: int) -> Days:
        """Take the first `n` sessions from 2000 on."""
        return cls.on(get_calendar("XNYS").next_sessions("1999-12-31", n))

    @classmethod
    def on(cls, dates: pd.DatetimeIndex) -> Days:
        """Take some dates."""
        (part,) = located(validate_panel(pd.DataFrame({"unique_id": "A", "ds": dates, "y": np.zeros(len(dates))})))
        return cls(dates, BarPlaces.of(part.bars, part.calendar), effect_columns(part.bars, part.calendar))

    @cached_property
    def rate(self) -> float:
        """Sessions per calendar day, on average."""
        return float(np.ptp(self.at.session) / np.ptp(self.at.calendar))

    def place(self, clock: str) -> FloatArray:
        """Places on a clock, shape (n,)."""
        return self.at.session if clock == "session" else self.at.calendar

    def panel(self, y: FloatArray, name: str = "A") -> pd.DataFrame:
        """Make a panel of one series."""
        return pd.DataFrame({"unique_id": name, "ds": self.dates, "y": y})

    def peel(self, y: FloatArray, search: Search, *, effects: bool = True) -> Peeled:
        """Search one series as `detect_periods` does, without the reading of the panel that all trials share."""
        samples, _ = make_samples("A", self.at, y)
        samples, beside = cleaned(samples, self.effects if effects else None)
        return peel(samples, search, beside)[0]


def noise(kind: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw AR(1) of a coefficient and innovations of variance 1, or GARCH(1, 1) with normal innovations."""
    shock = rng.standard_normal(n + _SETTLED)
    if kind != GARCH:
        return np.asarray(lfilter([1.0], [1.0, -float(kind)], shock)[_SETTLED:])
    variance, out = 1.0, np.empty_like(shock)
    for t, value in enumerate(shock):
        out[t] = np.sqrt(variance) * value
        variance = 0.05 + 0.1 * out[t] ** 2 + 0.85 * variance
    return out[_SETTLED:]


def density(coefficient: float, frequency: float) -> float:
    """Return the power spectrum of that AR(1) at a frequency in cycles per session; 1 for white noise."""
    return float(1 / np.abs(1 - coefficient * np.exp(-2j * np.pi * frequency)) ** 2)
