"""What to look for in a series, and what looking at its noise alone gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError, UnknownNameError
from fints.periods.significance import exceedance, fit_background, ratio_of, search_p_value, search_threshold
from fints.periods.spectrum import METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.samples import Clock, Samples
    from fints.periods.significance import Background
    from fints.periods.spectrum import Periodogram

_SEPARATION = 1.25
_SKIRT = 5.0
_WEAK = 0.1


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for.

    Parameters
    ----------
    alpha : float
        Search-wide level of a line.
    max_lines : int
        Most lines per series, harmonics included.
    min_cycles : float
        Fewest cycles that the series has to hold.
    method : str
        A name of :data:`fints.periods.spectrum.METHODS`.

    Raises
    ------
    ConfigError, UnknownNameError
        If one is out of range.
    """

    alpha: float = 0.05
    max_lines: int = 8
    min_cycles: float = 3.0
    method: str = "fft"

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ConfigError(f"alpha is {self.alpha}; give a probability between 0 and 1")
        if self.max_lines < 1:
            raise ConfigError(f"max_lines is {self.max_lines}; give at least 1")
        if self.min_cycles < 1:
            raise ConfigError(f"min_cycles is {self.min_cycles}; a period needs at least one whole cycle to be seen")
        if self.method not in METHODS:
            raise UnknownNameError("periodogram method", self.method, METHODS)

    def band(self, periodogram: Periodogram, cycles: float | None = None) -> NDArray[np.bool_]:
        """Which frequencies hold at least `cycles` (by default `min_cycles`) and lie below Nyquist, shape (F,)."""
        low = (self.min_cycles if cycles is None else cycles) / periodogram.duration
        high = periodogram.nyquist - 1 / periodogram.duration
        return (periodogram.frequency >= low) & (periodogram.frequency <= high)

    def reports(self, frequency: float, duration: float) -> bool:
        """Whether a line of that frequency repeats often enough to be reported."""
        return frequency * duration >= self.min_cycles

    def peaks(self, periodogram: Periodogram) -> float:
        """How many independent peaks the band holds, for :func:`search_p_value`."""
        band = periodogram.frequency[self.band(periodogram)]
        return float(np.ptp(band) * periodogram.spread) if len(band) else 0.0


@dataclass(frozen=True, slots=True)
class Peak:
    """The most significant peak of a band.

    Parameters
    ----------
    frequency : float
        Cycles per clock unit.
    ratio : float
        Power over the null level.
    p_value : float
        Search-wide.
    """

    frequency: float
    ratio: float
    p_value: float


def highest_peak(
    periodogram: Periodogram, background: Background, search: Search, known: Sequence[Peak]
) -> Peak | None:
    """Most significant peak that is not a part of a line already known; None if there is none.

    Everything of at least one cycle is looked at: what is too slow to be reported must not leave its skirt in the band.
    A real cycle drifts, so it leaves power beside its line. Within 1.25 / duration of a line nothing can be told apart
    from it, and within 5 / duration a peak of less than a tenth of its ratio is its skirt.
    """
    band = search.band(periodogram, cycles=1.0)
    frequency = periodogram.frequency[band]
    ratio = periodogram.power[band] / background.level(frequency)
    free = _summits(ratio)
    for line in known:
        distance = np.abs(frequency - line.frequency) * periodogram.duration
        free &= (distance > _SEPARATION) & ((distance > _SKIRT) | (ratio >= _WEAK * line.ratio))
    if not free.any():
        return None
    frequency, ratio = frequency[free], ratio[free]
    top = exceedance(ratio, background.log_variance(frequency)).argmax()
    peak = frequency[[top]]
    others = fit_background(periodogram, like=background, without=float(peak[0]))
    against = ratio[[top]] * background.level(peak) / others.level(peak)
    surprise = exceedance(against, others.log_variance(peak))
    p_value = search_p_value(float(surprise[0]), search.peaks(periodogram))
    return Peak(float(peak[0]), float(against[0]), p_value)


def _summits(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Local maxima; the ends are none, being slopes of what lies beyond."""
    higher = values[1:] > values[:-1]
    return (
        np.concatenate([[False], higher[:-1] & ~higher[1:], [False]])
        if len(values) > 1
        else np.zeros(len(values), bool)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The periodogram of one series, with what noise would give.

    Parameters
    ----------
    unique_id : str
        The series.
    clock : {"session", "calendar"}
        Unit of time.
    frequency : numpy.ndarray, shape (F,)
        Cycles per clock unit, increasing, over the band searched.
    power : numpy.ndarray, shape (F,)
        Power of the series, in the square of y's unit.
    null : numpy.ndarray, shape (F,)
        Level expected of noise alone.
    threshold : numpy.ndarray, shape (F,)
        Power that noise reaches anywhere in the band with probability `alpha`.
    alpha : float
        That probability.
    """

    unique_id: str
    clock: Clock
    frequency: NDArray[np.float64]
    power: NDArray[np.float64]
    null: NDArray[np.float64]
    threshold: NDArray[np.float64]
    alpha: float


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """One series after its search: enough to draw its spectrum, small enough to keep for every series of a panel.

    Parameters
    ----------
    samples : Samples
        The series.
    background : Background
        Null level, lines taken out.
    search : Search
        What was looked for.
    """

    samples: Samples
    background: Background
    search: Search

    def spectrum(self) -> Spectrum:
        """Periodogram of the series with its lines, the null level and the threshold of significance."""
        periodogram = METHODS[self.search.method](self.samples, self.samples.value)
        band = self.search.band(periodogram)
        frequency = periodogram.frequency[band]
        null = self.background.level(frequency)
        needed = search_threshold(self.search.alpha, self.search.peaks(periodogram))
        return Spectrum(
            unique_id=self.samples.unique_id,
            clock=self.samples.clock,
            frequency=frequency,
            power=periodogram.power[band],
            null=null,
            threshold=null * ratio_of(needed, self.background.log_variance(frequency)),
            alpha=self.search.alpha,
        )
