"""Detectors of periods side by side: fints, pyriodicity, astropy, statsmodels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import fints
from benchmarks.periods.days import Days
from benchmarks.periods.planted import Planted, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmarks.periods.cells import Cells, Values

    FloatArray = NDArray[np.float64]

PYRIODICITY = "pyriodicity"
FINTS = "fints"
ROBUST = f"{PYRIODICITY} RobustPeriod"
COEFFICIENTS = (0.7, 0.95)
DECIBELS: tuple[int | None, ...] = (-15, -10, -5, 0, None)
ALPHA = 0.05
N = 1000
MIN_CYCLES = 3
SLOWER = 25
_BINS = 3


@dataclass(frozen=True)
class Detector:
    """One way to name the periods of a series.

    Parameters
    ----------
    name : str
    answer : callable
        Takes values, their days, and how many cycles there are; gives periods in sessions.
    told : bool
        It has no threshold: it is told how many, and names as many.
    slow : bool
        It takes half a minute for a series, so it sees a few.
    """

    name: str
    answer: Callable[[FloatArray, Days, int], Sequence[float]]
    told: bool = False
    slow: bool = False


def detectors() -> tuple[Detector, ...]:
    """All of them."""
    import pyriodicity

    def seeded(kind: str) -> Callable[[FloatArray, Days, int], Sequence[float]]:
        return lambda y, days, count: getattr(pyriodicity, kind).detect(y, seed=0)  # noqa: ARG005

    def told(kind: str) -> Callable[[FloatArray, Days, int], Sequence[float]]:
        return lambda y, days, count: getattr(pyriodicity, kind).detect(y, max_period_count=count)  # noqa: ARG005

    return (
        Detector(FINTS, _fints),
        Detector("astropy LombScargle, days", lambda y, days, _: _astropy(y, days, "calendar")),
        Detector("astropy LombScargle, sessions", lambda y, days, _: _astropy(y, days, "session")),
        Detector("statsmodels AutoReg, then Fisher's test", _whitened),
        Detector(f"{PYRIODICITY} Autoperiod", seeded("Autoperiod")),
        Detector(f"{PYRIODICITY} CFDAutoperiod", seeded("CFDAutoperiod")),
        Detector(ROBUST, _robust, slow=True),
        Detector(f"{PYRIODICITY} SAZED", _sazed),
        Detector(f"{PYRIODICITY} FFTPeriodicityDetector", told("FFTPeriodicityDetector"), told=True),
        Detector(f"{PYRIODICITY} ACFPeriodicityDetector", told("ACFPeriodicityDetector"), told=True),
    )


def few(trials: int) -> int:
    """Take so many trials of a slow detector."""
    return max(1, trials // SLOWER)


def measure(trials: int, cells: Cells) -> dict[tuple[str, float, int | None], Values]:
    """Measure recall and precision of every detector on the same series.

    Returns
    -------
    dict
        By detector, coefficient of the noise and signal-to-noise ratio (None: noise alone): ``recall``, ``precision``,
        ``error`` (median of the matches, in Fourier bins), and ``answered``, the share of series with an answer.
    """
    days = Days.of(N)
    found = {}
    for detector in detectors():
        for coefficient in COEFFICIENTS:
            for decibel in DECIBELS:
                count = few(trials) if detector.slow else trials
                where = (coefficient, decibel)
                found[detector.name, *where] = cells.of(
                    f"peers {detector.name}, {coefficient}, {decibel}, {count}",
                    lambda d=detector, w=where, c=count: _values(d, days, w, c),  # type: ignore[misc]
                )
    return found


def _values(detector: Detector, days: Days, where: tuple[float, int | None], trials: int) -> Values:
    coefficient, decibel = where
    scores, answered = [], 0
    for trial in range(trials):
        rng = np.random.default_rng([trial, int(100 * coefficient), 1000 if decibel is None else decibel + 100])
        truth = Planted.draw(days, coefficient, decibel, rng)
        answers = answers_of(detector, truth.y, days, max(1, len(truth.periods)))
        scores.append(Score.of(truth, answers))
        answered += bool(answers)
    total = Score.total(scores)
    return {
        "recall": total.hit / total.planted if total.planted else np.nan,
        "precision": total.right / total.answers if total.answers else np.nan,
        "error": float(np.median(total.errors)) if total.errors else np.nan,
        "answered": answered / trials,
    }


def answers_of(detector: Detector, y: FloatArray, days: Days, count: int) -> list[float]:
    """Ask a detector; one that fails on a series has no answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [float(period) for period in detector.answer(y, days, count)]
        except (ValueError, IndexError, TypeError, AssertionError):  # what pyriodicity raises where it finds no hint
            return []


def _fints(y: FloatArray, days: Days, _: int) -> list[float]:
    found = fints.detect_periods(days.panel(y), alpha=ALPHA)
    rate = {"session": 1.0, "calendar": days.rate}
    return [line.period * rate[line.clock] / number for line in found for number in line.harmonics]


def _robust(y: FloatArray, *_: object) -> Sequence[float]:
    from pyriodicity import RobustPeriod

    # its filter asks for a frequency by name
    dated = pd.Series(y, index=pd.date_range("2000-01-03", periods=len(y), freq="D"))
    return RobustPeriod.detect(dated, max_worker_count=1)


def _sazed(y: FloatArray, *_: object) -> list[float]:
    from pyriodicity import SAZED

    answer = SAZED.detect(y)
    return [] if answer is None else [answer]


def _astropy(y: FloatArray, days: Days, clock: str) -> list[float]:
    """Peaks over the level that white noise crosses in 5 % of series."""
    from astropy.timeseries import LombScargle

    place, scale = days.place(clock), days.rate if clock == "calendar" else 1.0
    band = (scale * MIN_CYCLES / len(y), 0.5 * scale)
    scargle = LombScargle(place, y)
    frequency, power = scargle.autopower(minimum_frequency=band[0], maximum_frequency=band[1])
    level = scargle.false_alarm_level(ALPHA, minimum_frequency=band[0], maximum_frequency=band[1])
    return [scale / f for f in _separate(frequency, power, float(level), float(np.ptp(place)))]


def _whitened(y: FloatArray, *_: object) -> list[float]:
    """Peaks of what an AR(1) leaves, by Fisher's g test at 5 %: the highest, then the highest without it, and so on."""
    from scipy.signal import periodogram
    from statsmodels.tsa.ar_model import AutoReg

    frequency, power = periodogram(AutoReg(y, lags=1).fit().resid)
    frequency, power = frequency[1:], power[1:]
    kept: list[float] = []
    while True:
        top, count = int(power.argmax()), np.count_nonzero(power)
        # the first term of Fisher's series, which is exact to three digits at this level
        if count * (1 - power[top] / power.sum()) ** (count - 1) >= ALPHA:
            return [1 / f for f in kept if f * len(y) >= MIN_CYCLES]
        kept.append(float(frequency[top]))
        power[max(0, top - 1) : top + 2] = 0.0


def _separate(frequency: FloatArray, power: FloatArray, level: float, duration: float) -> list[float]:
    """Frequencies of peaks over a level, none within some bins of a higher one."""
    from scipy.signal import find_peaks

    peaks, _ = find_peaks(power, height=level)
    kept: list[float] = []
    for row in peaks[np.argsort(-power[peaks])]:
        if all(abs(frequency[row] - f) * duration > _BINS for f in kept):
            kept.append(float(frequency[row]))
    return kept
