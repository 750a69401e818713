"""How long searches take."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import fints
from benchmarks.periods.days import Days, noise
from benchmarks.periods.peers import answers_of, detectors
from fints.sessions import bar_grid, get_calendar

if TYPE_CHECKING:
    from collections.abc import Callable

DAILY = 5000
SERIES = 500
LENGTHS = (1000, 5000)
SEARCHES = 5


@dataclass(frozen=True)
class Took:
    """What one search took.

    Parameters
    ----------
    what : str
    wall, processor : float
        Seconds, the latter over all threads of this process.
    """

    what: str
    wall: float
    processor: float


def whole_panel(series: int = SERIES) -> Took:
    """Search a panel of daily series, with a week and AR(1) noise."""
    rng, days = np.random.default_rng(0), Days.of(DAILY)
    week = 0.5 * np.cos(2 * np.pi * days.place("calendar") / 7)
    frames = [days.panel(noise("0.7", DAILY, rng) + week, f"S{k:03d}") for k in range(series)]
    panel = pd.concat(frames, ignore_index=True)
    return _took(f"{series} daily series of {DAILY:,} sessions", lambda: fints.detect_periods(panel))


def hourly() -> Took:
    """Search one hourly series of 23 years, with a cycle of a session."""
    grid = bar_grid(get_calendar("XNYS"), "1998-01-02", "2021-03-31", "1h", "open")
    y = noise("0.7", len(grid), np.random.default_rng(0)) + np.cos(2 * np.pi * grid["bar"].to_numpy() / 7)
    panel = pd.DataFrame({"unique_id": "H", "ds": grid["ds"], "y": y, "exchange": "XNYS", "interval": "1h"})
    return _took(f"an hourly series of {len(grid):,} bars", lambda: fints.detect_periods(panel))


def per_series() -> dict[str, dict[int, float]]:
    """Processor seconds of every detector but the slow ones for one daily series, by length: the median of a few."""
    found: dict[str, dict[int, float]] = {}
    for n in LENGTHS:
        days, rng = Days.of(n), np.random.default_rng(n)
        week = 0.5 * np.cos(2 * np.pi * days.place("calendar") / 7)
        series = [noise("0.7", n, rng) + week for _ in range(SEARCHES)]
        for detector in detectors():
            if not detector.slow:
                answers_of(detector, series[0], days, 1)
                took = [_took("", lambda d=detector, y=y, at=days: answers_of(d, y, at, 1)).processor for y in series]  # type: ignore[misc]
                found.setdefault(detector.name, {})[n] = float(np.median(took))
    return found


def _took(what: str, search: Callable[[], object]) -> Took:
    wall, processor = time.perf_counter(), time.process_time()
    search()
    return Took(what, time.perf_counter() - wall, time.process_time() - processor)
