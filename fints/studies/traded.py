"""Series on real exchanges, where the order of bars and their times are not the same clock."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import ConfigError
from fints.plan import Cycle, FrequencyPlan
from fints.sessions import bar_grid, get_calendar
from fints.studies.sources.drawn import GENERATORS, Drawn, generated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.plan import Clock

FIRST = pd.Timestamp("2008-01-02")

HOUR, DAY_HOURS = 3600.0, 24.0

LONGEST = pd.Timedelta(days=366 * 60)


@dataclass(frozen=True, slots=True)
class Traded:
    """Cycles in the order of bars or in time, at the closes of an exchange's bars, in white noise.

    Weekends, holidays and half-days are those of the exchange. Every cycle has amplitude 1. The truth is their sum.

    Parameters
    ----------
    by_order : tuple of float
        Periods of cycles that run with the bars, in bars, whatever the time between them.
    by_time : tuple of float
        Periods of cycles that run with the time of the closes, in hours, bars or not.
    exchange, interval : str
    every : int
        Bars of the exchange per observed one, on average: above 1, those between are missing at random.
    sigma : float
        Standard deviation of the noise.

    Raises
    ------
    ConfigError
        If there is no cycle.
    """

    by_order: tuple[float, ...] = ()
    by_time: tuple[float, ...] = ()
    exchange: str = "XNYS"
    interval: str = "1d"
    every: int = 1
    sigma: float = 0.3

    def __post_init__(self) -> None:
        if not (self.by_order or self.by_time) or self.every < 1:
            raise ConfigError("a traded series needs a cycle by order or by time, and every ≥ 1; give a period")

    @property
    def version(self) -> str:
        """See `Source.version`."""
        return f"{generated('traded')}, bars of {self.interval} on {self.exchange} from {FIRST.date()}"

    def settings(self) -> dict[str, object]:
        """See `Source.settings`."""
        return {
            "source": ["traded", GENERATORS],
            "periods": [list(self.by_order), list(self.by_time)],
            "bars_of": [self.exchange, self.interval, self.every],
            "sigma": self.sigma,
        }

    def plan(self, clock: Clock) -> FrequencyPlan:  # noqa: ARG002 — each cycle has a clock of its own
        """Return the cycles, those by order on the session clock (daily bars) and those by time on the calendar."""
        order = [Cycle(period, "session") for period in self.by_order]
        return FrequencyPlan.from_periods([*order, *(Cycle(hours / DAY_HOURS, "calendar") for hours in self.by_time)])

    def draw(self, n: int, seed: int) -> Drawn:
        """See `Source.draw`."""
        luck = np.random.default_rng(seed)
        # one row of numbers per bar, so that more bars continue fewer
        noise, gaps = luck.standard_normal((n, 2)).T
        steps = np.ones(n, np.int64) if self.every == 1 else 1 + _geometric(gaps, 1 / self.every)
        rows = np.cumsum(steps) - steps[0]
        ds, seconds = bars(self.exchange, self.interval, int(rows[-1]) + 1)
        hours = (seconds[rows] - seconds[0]) / HOUR
        waves = [np.sin(2 * np.pi * np.arange(n) / period) for period in self.by_order]
        waves += [np.sin(2 * np.pi * hours / period) for period in self.by_time]
        truth: NDArray[np.float64] = np.sum(waves, axis=0)
        frame = pd.DataFrame({"unique_id": "planted", "ds": ds[rows], "y": truth + self.sigma * noise})
        return Drawn(frame.assign(exchange=self.exchange, interval=self.interval), truth)


def _geometric(normal: NDArray[np.float64], rate: float) -> NDArray[np.int64]:
    """Turn normal numbers into how many bars are missing before one is seen, with probability `rate` each."""
    from scipy.special import log_ndtr

    missing: NDArray[np.int64] = np.floor(log_ndtr(normal) / np.log1p(-rate)).astype(np.int64)
    return missing


@lru_cache(maxsize=16)
def bars(exchange: str, interval: str, n: int) -> tuple[NDArray[np.datetime64], NDArray[np.float64]]:
    """Return the stamps of the first `n` bars of an exchange since `FIRST`, and the Unix seconds of their closes.

    Raises
    ------
    ConfigError
        If they do not end within 60 years.
    """
    span, calendar = pd.Timedelta(days=8), get_calendar(exchange)
    while span < LONGEST:
        grid = bar_grid(calendar, FIRST, FIRST + span, interval)
        if len(grid) >= n:
            ends = grid["end"].dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[ns]")
            seconds = ends.astype(np.int64)[:n] / 1e9
            return grid["ds"].to_numpy("datetime64[ns]")[:n], seconds
        span *= 2
    raise ConfigError(f"{n} bars of {interval} on {exchange} take more than 60 years; ask for fewer")
