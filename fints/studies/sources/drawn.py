"""What a source gives: a panel, and the truth that forecasts of it are held against."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.plan import Clock, FrequencyPlan

GENERATORS = 1
"""Version of the generators. Raise it when a change of one changes what it draws: older results are then done again."""

EXCHANGE = "24/7"
"""A session every day, so the index, session and calendar clocks run alike and seconds run evenly."""

FIRST_DAY = "2020-01-01"


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Series, and what a forecast of each bar is held against.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``, daily, without covariates and companions.
    truth : ndarray, shape (len(panel),)
        What can be foreseen of each row: the signal beneath the noise, or the row itself where that is unknown.
    """

    panel: pd.DataFrame
    truth: NDArray[np.float64]

    @property
    def digest(self) -> str:
        """Short hash of dates, values and truth."""
        parts = (self.panel["ds"].to_numpy("datetime64[ns]").astype(np.int64), self.panel["y"].to_numpy(), self.truth)
        joined = b"".join(np.ascontiguousarray(np.round(part, 9)).tobytes() for part in parts)
        return hashlib.sha256(joined).hexdigest()[:12]


class Source(Protocol):
    """A generator of series, as a value that can be sent to another process."""

    @property
    def version(self) -> str:
        """What the data come from, in words."""

    def settings(self) -> dict[str, object]:
        """Return everything that decides the data, as plain values."""

    def plan(self, clock: Clock) -> FrequencyPlan:
        """Return the plan of somebody who knows the periods."""

    def draw(self, n: int, seed: int) -> Drawn:
        """Draw the first `n` bars of every series; more bars of the same seed continue fewer."""


def generated(name: str) -> str:
    """Name a generator with its version."""
    return f"generator {name}, version {GENERATORS}"


def daily(values: NDArray[np.float64], truth: NDArray[np.float64]) -> Drawn:
    """Put one series of daily bars on an exchange that never closes."""
    ds = pd.date_range(FIRST_DAY, periods=len(values), unit="ns")
    frame = pd.DataFrame({"unique_id": "planted", "ds": ds, "y": values, "exchange": EXCHANGE, "interval": "1d"})
    return Drawn(frame, truth)
