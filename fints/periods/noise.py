"""The noise of a series: its null level, and what that was fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.background import PLAIN_ORDERS, fit_background
from fints.periods.lines import Tone, fit_lines
from fints.periods.scan import scans_of
from fints.periods.spectrum import METHODS
from fints.periods.whitening import Whitening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Samples
    from fints.periods.search import Search
    from fints.periods.spectrum import Periodogram

    FloatArray = NDArray[np.float64]

_ALONE = 3
STRIKING = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """The null level of a series, or of what is left of it.

    Parameters
    ----------
    samples : Samples
        The series.
    method : str
        How the periodogram is computed.
    value : numpy.ndarray, shape (n,)
        Its values, the most striking lines, or all, taken out.
    periodogram : Periodogram
        Of them, on the session clock.
    background : Background
        The level fitted to it.
    """

    samples: Samples
    method: str
    value: FloatArray
    periodogram: Periodogram
    background: Background

    @classmethod
    def of(cls, samples: Samples, method: str, value: FloatArray, like: Background | None = None) -> Noise:
        """Fit the level of some values, of the order of another level if there is one."""
        periodogram = METHODS[method](samples, value)
        return cls(samples, method, value, periodogram, fit_background(periodogram, like=like))

    @classmethod
    def first(cls, samples: Samples, search: Search, most: int) -> Noise:
        """Fit the level of a series, its most striking lines taken out, `most` of them at most.

        A line that towers over the noise would lend its skirts to the level, which a rich model then follows.
        """
        value, frame = samples.value, Whitening(samples)
        for _ in range(most):
            periodogram = METHODS[search.method](samples, value)
            plain = fit_background(periodogram, orders=PLAIN_ORDERS)
            scans = scans_of(samples, value, search, (periodogram, plain))
            scan, row, _ = max(((scan, *scan.top(scan.summits, 0.0)) for scan in scans), key=lambda top: top[2])
            if row < 0 or scan.ratio[row] < STRIKING:
                break
            value = fit_lines(frame, value, [Tone(scan.clock, float(scan.frequency[row]))], steps=_ALONE).residual
        return cls.of(samples, search.method, value)

    def refitted(self, value: FloatArray) -> Noise:
        """Fit the level of other values, of the same order."""
        return Noise.of(self.samples, self.method, value, like=self.background)

    def without(self, tone: Tone) -> tuple[float, Background]:
        """Leave a peak out of the level that it is judged by.

        Returns
        -------
        frequency : float
            Of the peak on the session clock, below Nyquist.
        background : Background
            A level that it has no part in. On the session clock the ordinates about it are left out. A wave of the
            calendar clock is spread over many of them, so that it is taken out of the values, and with it two of their
            n degrees of freedom.
        """
        at = folded(tone.on("session", self.samples.rate), self.periodogram.nyquist)
        if tone.clock == "session":
            return at, fit_background(self.periodogram, like=self.background, without=at)
        frame = Whitening(self.samples, self.background)
        rest = fit_lines(frame, self.value, [tone], free=[False]).residual
        n = len(rest)
        return at, self.refitted(rest * np.sqrt(n / (n - 2))).background


def folded(frequency: float, nyquist: float) -> float:
    """Frequency below Nyquist that regular samples cannot tell from a given one."""
    below = frequency % (2 * nyquist)
    return float(np.clip(min(below, 2 * nyquist - below), 1e-12, nyquist))
