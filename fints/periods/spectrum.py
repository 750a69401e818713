"""Power by frequency on the session clock.

Power is scaled so that white noise of variance s² has the expected power s² at every frequency, whatever the taper;
a line of amplitude A over n samples then peaks near A² n / 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.samples import TAPERED_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

OVERSAMPLING = 8
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Periodogram:
    """Power of one series on a fine grid of frequencies, from zero to the highest that the sampling can tell.

    Parameters
    ----------
    frequency : numpy.ndarray, shape (F,)
        Cycles per session, evenly spaced; `OVERSAMPLING` of them per 1 / duration.
    power : numpy.ndarray, shape (F,)
        Power; exponentially distributed about the spectrum under noise.
    duration : float
        Length of the series in sessions.
    step : float
        Sessions between samples.
    spread : float
        √(4π · variance of the squared taper in time), in sessions: how many independent peaks a unit of frequency
        holds (Baluev 2008, MNRAS 385, eq. 9).
    correlation : float
        n Σ w⁴ / (Σ w²)² ≥ 1: by how much tapering and gaps correlate neighbouring ordinates.
    length : int
        Samples that the spacing of the independent frequencies stands for: those of the series, or a few more.
    kept : numpy.ndarray, shape (length // 2 + 1,), optional
        Share of the noise's power that is left at the independent frequencies where regressors were taken out.
    """

    frequency: FloatArray
    power: FloatArray
    duration: float
    step: float
    spread: float
    correlation: float
    length: int
    kept: FloatArray | None = None

    @property
    def nyquist(self) -> float:
        """Highest frequency, cycles per session."""
        return 0.5 / self.step

    def ordinates(self) -> tuple[FloatArray, FloatArray]:
        """Frequency and power at nearly independent frequencies 1 / duration apart, without zero and Nyquist.

        The power is what it would be if nothing had been taken out.
        """
        frequency, power = self.frequency[::OVERSAMPLING], self.power[::OVERSAMPLING]
        if self.kept is not None:
            power = power / self.kept
        inside = (frequency > 0) & (frequency < self.nyquist - 0.5 / self.duration)
        return frequency[inside], power[inside]


def fft_periodogram(samples: Samples, value: FloatArray) -> Periodogram:
    """Periodogram by fast Fourier transform: linear trend removed, tenth of each end tapered by a cosine.

    Parameters
    ----------
    samples : Samples
        Where the values stand; missing slots are interpolated linearly, long gaps have no weight.
    value : numpy.ndarray, shape (n,)
        The samples' values, or what is left of them.

    Returns
    -------
    Periodogram
        At `OVERSAMPLING` frequencies per 1 / duration.

    Notes
    -----
    The taper keeps the strong slow part of a series from leaking over the rest (Percival and Walden 1993, ch. 6).
    """
    return _tapered(samples, without_trend(samples, samples.regular(value)), samples.taper)


def lomb_scargle(samples: Samples, value: FloatArray) -> Periodogram:
    """Periodogram of the observed values alone: missing slots have no weight instead of a made-up value.

    Parameters
    ----------
    samples : Samples
        Where the values stand.
    value : numpy.ndarray, shape (n,)
        The samples' values, or what is left of them.

    Returns
    -------
    Periodogram
        As of :func:`fft_periodogram`, trend and taper included.

    Notes
    -----
    Bars lie on a regular grid of slots, so that the sums of Lomb (1976, Astrophys. Space Sci. 39, 447-462) and Scargle
    (1982, ApJ 263, 835-853) are Fourier transforms of the values with zeros in the gaps (Press and Rybicki 1989, ApJ
    338, 277-280, without their interpolation). It suits white noise with many gaps; noise with memory is better off
    interpolated, as holes in it look like noise of their own.
    """
    observed = np.zeros(samples.size)
    observed[samples.slot] = 1.0
    flat = without_trend(samples, samples.regular(value))
    return _tapered(samples, flat, samples.taper * observed)


def _tapered(samples: Samples, flat: FloatArray, taper: FloatArray) -> Periodogram:
    from scipy.fft import next_fast_len, rfft

    n = samples.size
    energy = float(np.sum(taper**2))
    length = next_fast_len(n, real=True)
    power = np.abs(rfft(taper * flat, OVERSAMPLING * length)) ** 2 / energy
    # what is left of a series that is all lines and trend is rounding, which is not to be searched for lines
    power += (_ROUNDING * np.abs(samples.value).max()) ** 2
    weight, time = taper**2 / energy, np.arange(n)
    variance = float(weight @ time**2 - (weight @ time) ** 2)
    return Periodogram(
        frequency=np.arange(len(power)) / (OVERSAMPLING * length * samples.step),
        power=power,
        duration=samples.duration("session"),
        step=samples.step,
        spread=float(np.sqrt(4 * np.pi * variance) * samples.step),
        correlation=float(length * np.sum(taper**4) / energy**2),
        length=length,
        kept=None if samples.leverage is None else samples.leverage.session,
    )


def without_trend(samples: Samples, regular: FloatArray) -> FloatArray:
    """Values on the grid less their least-squares line; zero in long gaps, shape (size,)."""
    inside = np.zeros(samples.size, dtype=bool)
    for part in samples.stretches:
        inside[part] = True
    time = np.flatnonzero(inside).astype(np.float64)
    values = regular[inside]
    centred = time - time.mean()
    slope = float(centred @ values / (centred @ centred))
    flat = np.zeros(samples.size)
    flat[inside] = values - values.mean() - slope * centred
    return flat


METHODS: Mapping[str, Callable[[Samples, FloatArray], Periodogram]] = MappingProxyType(
    {"fft": fft_periodogram, "lomb_scargle": lomb_scargle}
)
"""Ways to compute a periodogram, by name."""

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "fft": f"FFT periodogram, linear detrend, {TAPERED_SHARE:.0%} cosine taper",
        "lomb_scargle": f"Lomb-Scargle periodogram, linear detrend, {TAPERED_SHARE:.0%} cosine taper",
    }
)
"""The same in words, for tables."""
