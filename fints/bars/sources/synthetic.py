"""Seeded synthetic bars: planted cycles, red noise, trend, breaks and an intraday profile on any exchange's grid.

A series asked up to an earlier date is a prefix of the same series asked up to a later one: every component draws from
a stream of its own, bar by bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.sources.base import BarRequest, Delivery, Origin, clip_sessions
from fints.errors import DateError, NoSuchRangeError, UnknownNameError
from fints.sessions.calendars import get_calendar
from fints.sessions.clock import places
from fints.sessions.grid import bar_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.bars.sources.config import SyntheticConfig
    from fints.sessions.calendars import ExchangeCalendar

_BASE_VOLUME: Final = 14.0  # log of about 1.2 million units a session
_SESSIONS_PER_YEAR: Final = 252.0
_SESSION_SECONDS: Final = 6.5 * 3600  # for which the volatility stands
_STEPS: Final = 32  # of the random walk within a bar that gives it a range


class SyntheticSource:
    """Bars made from a seed.

    Parameters
    ----------
    config : SyntheticConfig
        What to plant.
    """

    name = "synthetic"
    live = False

    def __init__(self, config: SyntheticConfig) -> None:
        self.config = config
        self.calendar = get_calendar(config.exchange)

    def symbols(self) -> list[str]:
        """Return the configured names."""
        return list(self.config.names)

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars of one symbol.

        Raises
        ------
        UnknownNameError
            No series has that name.
        NoSuchRangeError
            Another interval than the configured one was asked for.
        DateError
            The configured dates hold no session.
        """
        config = self.config
        if request.symbol not in config.names:
            raise UnknownNameError("symbol", request.symbol, config.names)
        if request.interval != config.interval:
            raise NoSuchRangeError(
                f"the synthetic source is set to {config.interval!r} bars; {request.interval!r} was asked for. "
                "Set its option `interval`"
            )
        grid = bar_grid(self.calendar, config.start, config.end, config.interval)
        if grid.empty:
            raise DateError(f"{config.exchange} has no session from {config.start} to {config.end}")
        seed = np.random.SeedSequence([config.seed, *request.symbol.encode()])
        volume_seed, price_seed = seed.spawn(2)
        log_volume = _log_volume(config, grid, self.calendar, np.random.default_rng(volume_seed))
        rows = grid[["session", "start", "end"]].assign(
            **_prices(config, grid, np.random.default_rng(price_seed)),
            volume=pd.array(np.maximum(np.rint(np.exp(log_volume)), 1).astype(np.int64), dtype="Int64"),
        )
        fetched_at = rows["end"].iloc[-1] + pd.Timedelta(days=1)
        origin = Origin(request.symbol, config.interval, self.calendar.mic, "USD", self.name, fetched_at)
        return Delivery(clip_sessions(origin.stamp(rows), request))


def _log_volume(
    config: SyntheticConfig, grid: pd.DataFrame, calendar: ExchangeCalendar, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Log volume of each bar, shape (bars,)."""
    clocks = places(grid, calendar)
    clock = {"session": clocks.session - clocks.session[0], "calendar": clocks.calendar - clocks.calendar[0]}
    per_session = grid.groupby("session")["bar"].transform("size").to_numpy(dtype=np.float64)
    level = _BASE_VOLUME - np.log(per_session) + config.trend * clock["session"] / _SESSIONS_PER_YEAR
    for cycle in config.cycles:
        turns = clock[cycle.clock] / cycle.period
        level += cycle.amplitude * np.cos(2 * np.pi * turns + cycle.phase)
    for step in config.breaks:
        level += step.step * (grid["session"] >= pd.Timestamp(step.session)).to_numpy(dtype=np.float64)
    middle = (per_session - 1) / 2
    away = np.where(middle > 0, (grid["bar"].to_numpy() - middle) / np.maximum(middle, 1.0), 0.0)
    return np.asarray(level + config.smile * away**2 * (per_session > 1) + _red(config, len(grid), rng))


def _red(config: SyntheticConfig, bars: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """First-order autoregressive noise of the configured standard deviation, stationary from the first bar on."""
    from scipy.signal import lfilter

    white = rng.standard_normal(bars)
    phi = config.persistence
    shocks = white * np.sqrt(1 - phi**2)
    shocks[0] = white[0]
    return np.asarray(config.noise * lfilter([1.0], [1.0, -phi], shocks))


def _prices(config: SyntheticConfig, grid: pd.DataFrame, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """Prices of a random walk, with the range of the walk within each bar, each of shape (bars,)."""
    seconds = (grid["end"] - grid["start"]).dt.total_seconds().to_numpy(dtype=np.float64)
    scale = config.volatility * np.sqrt(seconds / _SESSION_SECONDS / _STEPS)
    walk = np.cumsum(rng.standard_normal((len(grid), _STEPS)) * scale[:, None], axis=1)
    drift = np.concatenate([[0.0], np.cumsum(walk[:, -1])[:-1]])
    path = np.concatenate([np.zeros((len(grid), 1)), walk], axis=1) + drift[:, None] + np.log(100.0)
    closes = np.exp(path[:, -1])
    return {
        "open": np.exp(path[:, 0]),
        "high": np.exp(path.max(axis=1)),
        "low": np.exp(path.min(axis=1)),
        "close": closes,
        "adj_close": closes.copy(),
    }
