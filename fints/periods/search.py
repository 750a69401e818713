"""What to look for in a series, and the highest peak of what is left of it on either clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from fints.errors import ConfigError, UnknownNameError
from fints.periods.lines import Tone
from fints.periods.significance import exceedance, search_p_value, search_threshold
from fints.periods.spectrum import METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.noise import Noise
    from fints.periods.samples import Samples
    from fints.periods.scan import Scan

    FloatArray = NDArray[np.float64]

Clocks = Literal["both", "session", "calendar"]
Estimator = Literal["linear", "robust"]

TIE = 3.0
_SEPARATION = 1.25
_SKIRT = 5.0
_WEAK = 0.1
_AS_HIGH = 0.5
_SAME = 3.0


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
    clock : {"both", "session", "calendar"}
        Where lines are looked for.
    method : str
        A name of :data:`fints.periods.spectrum.METHODS`.
    longest : float, optional
        Longest period wanted, in sessions.
    estimator : {"linear", "robust"}
        A name of :data:`fints.periods.peeling.ESTIMATORS`.

    Raises
    ------
    ConfigError, UnknownNameError
        If one is out of range.
    """

    alpha: float = 0.05
    max_lines: int = 12
    min_cycles: float = 3.0
    clock: Clocks = "both"
    method: str = "fft"
    longest: float | None = None
    estimator: Estimator = "linear"

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ConfigError(f"alpha is {self.alpha}; give a probability between 0 and 1")
        if self.max_lines < 1:
            raise ConfigError(f"max_lines is {self.max_lines}; give at least 1")
        if self.min_cycles < 1:
            raise ConfigError(f"min_cycles is {self.min_cycles}; a period needs at least one whole cycle to be seen")
        if self.longest is not None and not self.longest > 0:
            raise ConfigError(f"longest is {self.longest}; give a period in sessions")
        if self.method not in METHODS:
            raise UnknownNameError("periodogram method", self.method, METHODS)
        if self.clock not in get_args(Clocks):
            raise UnknownNameError("clock", self.clock, get_args(Clocks))
        if self.estimator not in get_args(Estimator):
            raise UnknownNameError("estimator", self.estimator, get_args(Estimator))

    def reports(self, tone: Tone, samples: Samples) -> bool:
        """Whether a line repeats often enough, and fast enough, to be reported."""
        if self.longest is not None and 1 / tone.on("session", samples.rate) > self.longest:
            return False
        return tone.frequency * samples.duration(tone.clock) >= self.min_cycles


@dataclass(frozen=True, slots=True)
class Peak:
    """The most significant peak of a series.

    Parameters
    ----------
    tone : Tone
        Where it is.
    ratio : float
        Power over the null level.
    p_value : float
        Search-wide, over both clocks if both are searched.
    rival : Tone, optional
        The same cycle on the other clock.
    lead : float
        By how much the rival explains less: difference of log-likelihood; infinite without a rival.
    aliases : tuple of Tone
        Peaks about as high that may be the same wave of the calendar seen through the weekends, or the other way round.
    """

    tone: Tone
    ratio: float
    p_value: float
    rival: Tone | None = None
    lead: float = np.inf
    aliases: tuple[Tone, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether the series cannot tell on which clock the cycle lives: odds of less than 20 to 1."""
        return self.rival is not None and self.lead < TIE


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """What is left of a series, seen on the clocks that are searched.

    Parameters
    ----------
    noise : Noise
        Its null level.
    scans : tuple of Scan
        One per clock.
    """

    noise: Noise
    scans: tuple[Scan, ...]

    @property
    def background(self) -> Background:
        """Level that the scans are compared with."""
        return self.noise.background

    def highest_peak(self, search: Search, samples: Samples, known: Sequence[Peak]) -> Peak | None:
        """Highest peak that is not a part of a line already known; None if there is none.

        Of the significant ones it is that which explains most, so that a line comes before what the weekends make of
        it where the level is known better; if none is significant, it is the most significant.

        Everything of at least one cycle is looked at: what is too slow to be reported must not leave its skirt in the
        band. A real cycle drifts, so it leaves power beside its line. Within 1.25 / duration of a line nothing can be
        told apart from it, and a peak of less than a tenth of its ratio within 5 / duration, falling with the square of
        the distance beyond, is its skirt: that of a size that wanders.
        """
        needed = search_threshold(search.alpha, sum(one.peaks for one in self.scans))
        tops = [(scan, *scan.top(_free(scan, samples.rate, known), needed)) for scan in self.scans]
        scan, row, _ = max(tops, key=lambda top: top[2])
        if row < 0:
            return None
        tone = Tone(scan.clock, float(scan.frequency[row]))
        # a peak is judged by a level that it has no part in
        place, others = self.noise.without(tone)
        bar = np.array([place])
        ratio = scan.ratio[[row]] * self.background.level(bar) / others.level(bar)
        judged = float(exceedance(ratio, others.log_variance(bar))[0])
        p_value = search_p_value(judged, sum(one.peaks for one in self.scans))
        rival, lead = None, np.inf
        for other in self.scans:
            if other is not scan:
                rival, lead = _rival(other, tone, samples)
                lead = float(scan.ratio[row]) - lead
        return Peak(tone, float(ratio[0]), p_value, rival, lead, _aliases(scan, row))


def _free(scan: Scan, rate: float, known: Sequence[Peak]) -> NDArray[np.bool_]:
    """Summits of a scan that are not parts of known lines."""
    free = scan.summits.copy()
    for line in known:
        distance = np.abs(scan.frequency - line.tone.on(scan.clock, rate)) * scan.duration
        skirt = _WEAK * line.ratio * (_SKIRT / np.maximum(distance, _SKIRT)) ** 2
        free &= (distance > _SEPARATION) & (scan.ratio >= skirt)
    return free


def _aliases(scan: Scan, row: int) -> tuple[Tone, ...]:
    """Summits of the calendar at multiples of 1 / 7 per day from a given one, at least half as high."""
    if scan.clock == "session":
        return ()
    weeks = np.mod(np.stack([scan.frequency - scan.frequency[row], scan.frequency + scan.frequency[row]]) * 7, 1)
    off = np.minimum(weeks, 1 - weeks).min(axis=0) * (scan.duration / 7)
    high = scan.summits & (off <= 1) & (scan.ratio >= _AS_HIGH * scan.ratio[row])
    high[row] = False
    return tuple(Tone(scan.clock, float(frequency)) for frequency in scan.frequency[high])


def _rival(scan: Scan, tone: Tone, samples: Samples) -> tuple[Tone | None, float]:
    """Best match of a cycle on the other clock, and its ratio there."""
    expected = tone.on(scan.clock, samples.rate)
    near = np.abs(scan.frequency - expected) * scan.duration <= _SAME
    if not near.any():
        return None, -np.inf
    rows = np.flatnonzero(near)
    best = rows[scan.ratio[rows].argmax()]
    return Tone(scan.clock, float(scan.frequency[best])), float(scan.ratio[best])
