"""A made-up market in a folder: many symbols with years of daily bars, delivered up to any session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.sessions import get_calendar, session_ordinals

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

EXCHANGE = "XNYS"
LAST = "2025-06-30"
RETRAINING = 20
"""Sessions from one lesson of a night to the next, in ``configs/nightly.yaml``."""

_DELIVERED = 6  # sessions in the file of an ordinary night: tonight's, and those asked for again
_LATE = 10  # one symbol in so many was listed a third of the way in


@dataclass(frozen=True, slots=True)
class Market:
    """Symbols, their sessions, and the folder that their bars come to.

    Parameters
    ----------
    folder : pathlib.Path
    count, years : int
        Symbols, and years of bars.
    """

    folder: Path
    count: int
    years: int

    @property
    def sessions(self) -> pd.DatetimeIndex:
        """All of them, up to the night in the middle between two fits: half of all nights have less to catch up on."""
        calendar = get_calendar(EXCHANGE)
        every = calendar.sessions(pd.Timestamp(LAST) - pd.DateOffset(years=self.years), LAST)
        age = session_ordinals(calendar, every) % RETRAINING
        return every[: int(np.flatnonzero(age == RETRAINING // 2)[-1]) + 1]

    def deliver_history(self, nights: int) -> pd.Timestamp:
        """Write one file with everything but the last sessions; return the instant an hour after its close."""
        return self._deliver(self._bars(slice(None, -nights)), self.sessions[-nights - 1])

    def deliver_night(self, left: int) -> pd.Timestamp:
        """Put a few sessions up to one of the last in the place of what was delivered; return the instant after it.

        Parameters
        ----------
        left : int
            Sessions that come after it.
        """
        return self._deliver(self._bars(slice(-left - _DELIVERED, -left or None)), self.sessions[-left - 1])

    def _deliver(self, bars: pd.DataFrame, session: pd.Timestamp) -> pd.Timestamp:
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.iterdir():
            old.unlink()
        bars.to_parquet(self.folder / f"{session:%Y-%m-%d}.parquet")
        return (session + pd.Timedelta(hours=17)).tz_localize("America/New_York").tz_convert("UTC")

    def _bars(self, chosen: slice) -> pd.DataFrame:
        sessions = self.sessions
        shared = _memory(np.random.default_rng(0).normal(0, 0.1, len(sessions)))
        parts = [_symbol(number, sessions, shared).iloc[chosen] for number in range(self.count)]
        return pd.concat(parts, ignore_index=True)


def _symbol(number: int, sessions: pd.DatetimeIndex, shared: NDArray[np.float64]) -> pd.DataFrame:
    """Bars whose volume and range remember, with a weekly and a monthly cycle in the volume."""
    random, n = np.random.default_rng(number + 1), len(sessions)
    own = _memory(random.normal(0, 0.15, n))
    week = 0.2 * np.cos(2 * np.pi * (sessions.dayofweek.to_numpy() - number % 5) / 5)
    month = 0.15 * np.cos(2 * np.pi * np.arange(n) / 21)
    volume = np.exp(14 + 0.002 * number + shared + own + week + month + random.normal(0, 0.2, n))
    size = 0.01 * np.exp(shared + 0.5 * own + random.normal(0, 0.2, n))
    close = 50 * np.exp(np.cumsum(size * random.normal(0, 0.5, n)))
    rows = pd.DataFrame(
        {
            "symbol": f"S{number:04d}",
            "date": sessions,
            "open": close.round(4),
            "high": (close * np.exp(size)).round(4),
            "low": (close * np.exp(-size)).round(4),
            "close": close.round(4),
            "volume": volume.round(),
        }
    )
    return rows.iloc[n // 3 :] if number % _LATE == _LATE - 1 else rows


def _memory(noise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let noise remember: each value is nine tenths of the one before, and something new."""
    from scipy.signal import lfilter

    return np.asarray(lfilter([1.0], [1.0, -0.9], noise), dtype=np.float64)
