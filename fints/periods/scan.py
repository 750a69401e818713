"""One series seen on one clock: power against the level of its noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.calendar import calendar_sampling
from fints.periods.significance import exceedance, search_threshold
from fints.periods.spectrum import OVERSAMPLING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.calendar import CalendarSampling
    from fints.periods.samples import Clock, Samples
    from fints.periods.search import Search
    from fints.periods.spectrum import Periodogram

    FloatArray = NDArray[np.float64]

_COARSE = 400
_RARE = 0.05


@dataclass(frozen=True, eq=False)
class Scan:
    """Power by frequency, and what noise would give, over everything of at least one cycle.

    Parameters
    ----------
    clock : {"session", "calendar"}
        Unit of time.
    frequency : numpy.ndarray, shape (F,)
        Cycles per clock unit, increasing.
    power, null : numpy.ndarray, shape (F,)
        Power, and the level expected of noise alone, in the square of y's unit.
    log_variance : numpy.ndarray, shape (F,)
        Variance of the logarithm of that level.
    duration : float
        Length of the series in clock units.
    peaks : float
        How many independent peaks the part holds that is searched for lines.
    """

    clock: Clock
    frequency: FloatArray
    power: FloatArray
    null: FloatArray
    log_variance: FloatArray
    duration: float
    peaks: float

    @cached_property
    def ratio(self) -> FloatArray:
        """Power over the null level."""
        return self.power / self.null

    @cached_property
    def surprise(self) -> FloatArray:
        """Exceedance of each ratio: about the gain in log-likelihood by a line there."""
        return exceedance(self.ratio, self.log_variance)

    @cached_property
    def summits(self) -> NDArray[np.bool_]:
        """Local maxima; the ends are none, being slopes of what lies beyond."""
        if len(self.ratio) < 2:
            return np.zeros(len(self.ratio), dtype=bool)
        higher = self.ratio[1:] > self.ratio[:-1]
        return np.concatenate([[False], higher[:-1] & ~higher[1:], [False]])

    def top(self, free: NDArray[np.bool_], needed: float) -> tuple[int, tuple[bool, float]]:
        """Find the highest of some frequencies.

        Parameters
        ----------
        free : numpy.ndarray of bool, shape (F,)
            Those frequencies.
        needed : float
            Exceedance of a significant one.

        Returns
        -------
        row : int
            Of the significant one that explains most, or of the most significant; -1 if there are none.
        rank : tuple of bool and float
            To compare it with that of another clock: whether it is significant, and its ratio or its exceedance.
        """
        rows = np.flatnonzero(free)
        if not len(rows):
            return -1, (False, -np.inf)
        sure = rows[self.surprise[rows] >= needed]
        if len(sure):
            best = int(sure[self.ratio[sure].argmax()])
            return best, (True, float(self.ratio[best]))
        best = int(rows[self.surprise[rows].argmax()])
        return best, (False, float(self.surprise[best]))


def scans_of(
    samples: Samples, value: FloatArray, search: Search, against: tuple[Periodogram, Background]
) -> tuple[Scan, ...]:
    """See some values on the clocks that are searched, against a given null level."""
    periodogram, background = against
    scans: list[Scan] = []
    if search.clock != "calendar":
        scans.append(session_scan(samples, periodogram, background, search.min_cycles))
    if search.clock == "calendar" or (search.clock == "both" and not samples.same_clocks):
        kind = (search.min_cycles, search.clock == "both")
        scans.append(calendar_scan(calendar_sampling(samples), samples, value, background, kind))
    return tuple(scans)


def session_scan(samples: Samples, periodogram: Periodogram, background: Background, min_cycles: float) -> Scan:
    """See a series on the session clock."""
    band = slice(*_band(periodogram.frequency, 1 / periodogram.duration, periodogram.nyquist))
    frequency = periodogram.frequency[band]
    width = frequency[-1] - max(min_cycles / periodogram.duration, frequency[0]) if len(frequency) else 0.0
    length = OVERSAMPLING * periodogram.length
    return Scan(
        clock="session",
        frequency=frequency,
        power=periodogram.power[band],
        null=background.grid_level(length, len(periodogram.frequency))[band],
        log_variance=smooth_log_variance(background, frequency),
        duration=periodogram.duration,
        peaks=_surviving(samples, "session", min_cycles, max(0.0, float(width)) * periodogram.spread),
    )


def calendar_scan(
    sampling: CalendarSampling, samples: Samples, value: FloatArray, background: Background, search: tuple[float, bool]
) -> Scan:
    """See a series on the calendar clock.

    Parameters
    ----------
    sampling : CalendarSampling
        How its bars lie there.
    samples, value
        The series, or what is left of it.
    background : Background
        Null level on the session clock.
    search : tuple of float and bool
        Fewest cycles to be reported, and whether the session clock is searched too: a slow wave is the same on both
        clocks, and counts once.
    """
    duration = samples.duration("calendar")
    every = sampling.frequency
    band = slice(*_band(every, 1 / duration, 0.5))
    frequency = every[band]
    information = sampling.information(background)[band]
    nyquist = 0.5 / samples.step
    cycles = np.mod(frequency / samples.rate, 2 * nyquist)
    cycles = np.clip(np.minimum(cycles, 2 * nyquist - cycles), 1e-9, nyquist)
    return Scan(
        clock="calendar",
        frequency=frequency,
        power=sampling.waves(background, samples, value)[band] * (sampling.energy / information**2),
        null=sampling.energy / information,
        log_variance=smooth_log_variance(background, cycles),
        duration=duration,
        peaks=_surviving(samples, "calendar", search[0], sampling.peaks(search[0] / duration, apart=search[1])),
    )


def _surviving(samples: Samples, clock: Clock, lowest: float, peaks: float) -> float:
    """Take off the peaks that went with one-off effects; what is left of those that noise shows once in twenty."""
    if samples.leverage is None:
        return peaks
    return peaks * samples.leverage.surviving(clock, lowest, search_threshold(_RARE, peaks))


def smooth_log_variance(background: Background, frequency: FloatArray) -> FloatArray:
    """Variance of the log level, from a coarse grid in the logarithm of frequency."""
    if len(frequency) <= _COARSE:
        return background.log_variance(frequency)
    grid = np.geomspace(float(frequency.min()), float(frequency.max()), _COARSE)
    return np.interp(frequency, grid, background.log_variance(grid))


def _band(frequency: FloatArray, resolution: float, nyquist: float) -> tuple[int, int]:
    first = int(np.searchsorted(frequency, resolution))
    return first, max(first, int(np.searchsorted(frequency, nyquist - resolution, side="right")))
