"""What a search for periods found: values that hold numbers and print nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import UnknownNameError
from fints.periods.scan import scans_of
from fints.periods.shorttime import short_time
from fints.periods.significance import ratio_of, search_threshold
from fints.periods.spectrum import METHODS
from fints.periods.stability import rolling_amplitudes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fints.periods.peeling import Peeled
    from fints.periods.samples import Clock
    from fints.periods.shorttime import ShortTime
    from fints.periods.stability import Amplitudes
    from fints.series import SeriesProblem

COLUMNS = (
    "unique_id",
    "period",
    "clock",
    "harmonics",
    "strength",
    "amplitude",
    "phase",
    "period_se",
    "p_value",
    "q_value",
    "stable",
    "method",
    "other_period",
    "also_on",
    "note",
)
_SAME_LINE = 1.0
_NUMBERS = ("period", "strength", "amplitude", "phase", "period_se", "p_value", "q_value", "other_period")
_TEXTS = ("unique_id", "clock", "harmonics", "method", "also_on", "note")


@dataclass(frozen=True, slots=True)
class Line:
    """One cycle found in one series, with its harmonics.

    Parameters
    ----------
    unique_id : str
        The series.
    period : float
        Of the fundamental, in units of `clock`.
    clock : {"session", "calendar"}
        Trading sessions, or calendar days: the one on which the cycle explains more.
    harmonics : tuple of int
        Which multiples of the fundamental frequency were found; 1 is the fundamental itself, which may be missing.
    strength : float
        Power of the strongest harmonic over the null level where it was found (1 is no line at all).
    amplitude : float
        Half the swing of the lowest line found by itself, in units of y; of a cycle that lives in a part of the
        series, there.
    phase : float
        φ of ``amplitude · cos(2π · harmonic · place / period + φ)``, `harmonic` being that line's and the place
        counted on `clock` from 1970-01-01; radians.
    period_se : float
        Standard error of the period: the Cramér-Rao bound at the fitted amplitude and noise level.
    p_value : float
        Chance that noise shows so high a peak anywhere on the clocks searched, for the strongest harmonic.
    q_value : float
        The same over all series of the panel (Benjamini-Hochberg).
    stable : bool
        Whether the strongest harmonic runs through the whole series; the note says where it lives if only in a part.
    method : str
        How it was found, in words.
    other_period : float
        The same cycle in units of the other clock, at the mean rate of sessions; NaN if it is too fast to have one.
    also_on : str
        The other clock, if the series cannot tell on which of them the cycle lives; empty if it can.
    note : str
        What else is to be known, in words; empty if nothing is.
    """

    unique_id: str
    period: float
    clock: Clock
    harmonics: tuple[int, ...]
    strength: float
    amplitude: float
    phase: float
    period_se: float
    p_value: float
    q_value: float
    stable: bool
    method: str
    other_period: float = np.nan
    also_on: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The periodogram of one series on one clock, with what noise would give.

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
        Power that noise reaches anywhere on the clocks searched with probability `alpha`.
    alpha : float
        That probability.
    rate : float
        Sessions per calendar day.
    """

    unique_id: str
    clock: Clock
    frequency: NDArray[np.float64]
    power: NDArray[np.float64]
    null: NDArray[np.float64]
    threshold: NDArray[np.float64]
    alpha: float
    rate: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Periods:
    """Every line found in a panel.

    Parameters
    ----------
    lines : tuple of Line
        By series in the panel's order, the strongest first.
    searched : mapping of str to Peeled
        One per series searched.
    problems : tuple of SeriesProblem
        Series that could not be searched, or not for everything asked, and why.
    """

    lines: tuple[Line, ...]
    searched: Mapping[str, Peeled]
    problems: tuple[SeriesProblem, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __getitem__(self, unique_id: str) -> Periods:
        """Lines of one series; empty if nothing was found in it.

        Raises
        ------
        UnknownNameError
            If the series was not searched.
        """
        searched = self._find(unique_id)
        own = tuple(line for line in self.lines if line.unique_id == unique_id)
        problems = tuple(problem for problem in self.problems if problem.unique_id == unique_id)
        return Periods(own, {unique_id: searched}, problems)

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series searched."""
        return tuple(self.searched)

    def clocks(self, unique_id: str) -> tuple[Clock, ...]:
        """Clocks on which a series was searched, that of its strongest line first."""
        clocks = self._find(unique_id).clocks
        first = next((line.clock for line in self.lines if line.unique_id == unique_id), None)
        return tuple(sorted(clocks, key=lambda clock: clock != first))

    def longest(self, clock: Clock) -> float:
        """Longest period that any of the series is long enough to show, in units of a clock."""
        return max(peeled.samples.duration(clock) / peeled.search.min_cycles for peeled in self.searched.values())

    def spectrum(self, unique_id: str, clock: Clock | None = None) -> Spectrum:
        """Periodogram of one series, one-off effects taken out, for a figure.

        Parameters
        ----------
        unique_id : str
            The series.
        clock : {"session", "calendar"}, optional
            The clock; that of its strongest line by default.

        Raises
        ------
        UnknownNameError
            If the series, or the clock, was not searched.
        """
        peeled, clocks = self._find(unique_id), self.clocks(unique_id)
        if clock is not None and clock not in clocks:
            raise UnknownNameError("clock", clock, clocks)
        samples, search = peeled.samples, peeled.search
        periodogram = METHODS[search.method](samples, samples.value)
        scans = scans_of(samples, samples.value, search, (periodogram, peeled.background))
        scan = next(one for one in scans if one.clock == (clock or clocks[0]))
        needed = search_threshold(search.alpha, sum(one.peaks for one in scans))
        band = scan.frequency * scan.duration >= search.min_cycles
        return Spectrum(
            unique_id=unique_id,
            clock=scan.clock,
            frequency=scan.frequency[band],
            power=scan.power[band],
            null=scan.null[band],
            threshold=(scan.null * ratio_of(needed, scan.log_variance))[band],
            alpha=search.alpha,
            rate=samples.rate,
        )

    def stability(self, line: Line, windows: int = 40) -> Amplitudes:
        """Amplitude of a line in rolling windows, for a figure.

        Raises
        ------
        UnknownNameError
            If the line's series was not searched.
        """
        peeled = self._find(line.unique_id)
        frequencies = np.array([tone.on(line.clock, peeled.samples.rate) for tone in peeled.fit.tones])
        wanted = np.array(sorted(line.harmonics))[:, None] / line.period
        off = np.abs(frequencies - wanted) * peeled.samples.duration(line.clock)
        # the lowest harmonic may be one that is there without having been fitted
        near = np.flatnonzero(off.min(axis=1) < _SAME_LINE)
        index = int(off[near[0] if len(near) else off.min(axis=1).argmin()].argmin())
        return rolling_amplitudes(peeled.samples, peeled.fit, index, peeled.background, windows)

    def short_time(self, unique_id: str) -> ShortTime:
        """Spectrum of one series over time on the session clock, one-off effects taken out, for a figure.

        Raises
        ------
        UnknownNameError
            If the series was not searched.
        """
        peeled = self._find(unique_id)
        return short_time(peeled.samples, peeled.background)

    def _find(self, unique_id: str) -> Peeled:
        if unique_id not in self.searched:
            raise UnknownNameError("series", unique_id, self.searched)
        return self.searched[unique_id]

    def to_frame(self) -> pd.DataFrame:
        """Table of the lines.

        Returns
        -------
        pandas.DataFrame
            Columns ``unique_id, period, clock, harmonics`` (text such as ``"1,2,3"``), ``strength, amplitude, phase,
            period_se, p_value, q_value, stable, method, other_period, also_on, note``; typed also when empty.
        """
        rows = [{name: getattr(line, name) for name in COLUMNS} for line in self.lines]
        frame = pd.DataFrame(rows, columns=list(COLUMNS))
        frame["harmonics"] = [",".join(map(str, line.harmonics)) for line in self.lines]
        types = {**dict.fromkeys(_NUMBERS, "float64"), **dict.fromkeys(_TEXTS, "str"), "stable": "bool"}
        return frame.astype(types)
