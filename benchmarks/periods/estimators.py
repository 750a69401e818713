"""One line in white noise: estimators of its frequency over the Cramér-Rao bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import periodogram

from benchmarks.periods.accuracy import bound
from benchmarks.periods.days import Days
from benchmarks.periods.peers import PYRIODICITY
from fints.periods.search import Search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmarks.periods.cells import Cells, Values

    FloatArray = NDArray[np.float64]

PERIOD = 20.37
PADDED = 16
ROUNDED = f"{PYRIODICITY} FFTPeriodicityDetector, a whole number"


def measure(sizes: Sequence[int], trials: int, cells: Cells) -> dict[int, Values]:
    """Measure a line of amplitude 1 and of period `PERIOD` in noise of variance 1, by length of the series."""
    return {n: cells.of(f"estimators {n}, {trials}", lambda n=n: _race(n, trials)) for n in sorted(sizes)}  # type: ignore[misc]


def _race(n: int, trials: int) -> Values:
    days, rng = Days.of(n), np.random.default_rng([n, 1])
    estimators: dict[str, Callable[[FloatArray], float]] = {
        ROUNDED: _rounded,
        "highest bin of the FFT": lambda y: _highest_bin(y, n),
        f"the same, padded with zeros to {PADDED} times the length": lambda y: _highest_bin(y, PADDED * n),
        "fints": lambda y: _fitted(y, days),
    }
    errors: dict[str, list[float]] = {name: [] for name in estimators}
    bounds = []
    place = days.place("session")
    for _ in range(trials):
        phase = rng.uniform(-np.pi, np.pi)
        y = np.cos(2 * np.pi * place / PERIOD + phase) + rng.standard_normal(n)
        bounds.append(bound(place, PERIOD, 1.0, phase))
        for name, estimate in estimators.items():
            errors[name].append(estimate(y) - 1 / PERIOD)
    return {name: float(np.sqrt(np.mean(np.square(own)) / np.mean(bounds))) for name, own in errors.items()}


def _rounded(y: FloatArray) -> float:
    from pyriodicity import FFTPeriodicityDetector

    return 1 / float(FFTPeriodicityDetector.detect(y, max_period_count=1)[0])


def _highest_bin(y: FloatArray, length: int) -> float:
    frequency, power = periodogram(y, nfft=length)
    return float(frequency[power.argmax()])


def _fitted(y: FloatArray, days: Days) -> float:
    found = days.peel(y, Search(clock="session", max_lines=1), effects=False)
    return found.fit.tones[0].frequency
