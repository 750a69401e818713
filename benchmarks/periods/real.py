"""What each detector names in real series; there is no truth to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

import fints
from benchmarks.periods.days import Days
from benchmarks.periods.peers import FINTS, N, answers_of, detectors

if TYPE_CHECKING:
    from benchmarks.periods.peers import Detector
    from fints.periods import Line

TARGET = "log_volume"
TOLD = 8
"""How many a detector without a threshold is asked for."""


@dataclass(frozen=True)
class Named:
    """The answers of one detector in one series.

    Parameters
    ----------
    detector, unique_id : str
    sessions : int
        How many it was shown.
    answers : tuple of str
        Periods in its order, in sessions unless they say days.
    """

    detector: str
    unique_id: str
    sessions: int
    answers: tuple[str, ...]


def measure() -> list[Named]:
    """Ask every detector about the log volume of the sample."""
    panel = fints.make_panel(fints.sample_bars(), target=TARGET, features=False, companions=False)
    whole = panel[panel["y"].notna()]
    return [_named(detector, own) for detector in detectors() for _, own in whole.groupby("unique_id", sort=True)]


def _named(detector: Detector, own: pd.DataFrame) -> Named:
    # a slow one would take a quarter of an hour for the whole
    shown = own.tail(N) if detector.slow else own
    if detector.name == FINTS:
        answers = tuple(_written(line) for line in fints.detect_periods(shown))
    else:
        days = Days.on(pd.DatetimeIndex(shown["ds"]))
        answers = tuple(f"{p:.4g}" for p in answers_of(detector, shown["y"].to_numpy(float), days, TOLD))
    return Named(detector.name, str(shown["unique_id"].iloc[0]), len(shown), answers)


def _written(line: Line) -> str:
    unit = " days" if line.clock == "calendar" else ""
    shown = ", ".join(f"{line.period / number:.4g}" for number in line.harmonics)
    return f"{line.period:.5g}{unit}" + ("" if line.harmonics == (1,) else f" (seen at {shown})")
