"""The spectrum of a series over time, for a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.spectrum import without_trend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

_WINDOWS = 8
_COLUMNS = 64
_SHORTEST = 32


@dataclass(frozen=True, slots=True, eq=False)
class ShortTime:
    """Power over the null level by frequency and time, on the session clock.

    Parameters
    ----------
    unique_id : str
        The series.
    frequency : numpy.ndarray, shape (F,)
        Cycles per session, increasing from zero.
    session, calendar : numpy.ndarray, shape (W,)
        Middle of each window on the two clocks.
    ratio : numpy.ndarray, shape (F, W)
        Power over that of noise; exponential with mean 1 where there is nothing else.
    width : float
        Length of a window in sessions.
    """

    unique_id: str
    frequency: FloatArray
    session: FloatArray
    calendar: FloatArray
    ratio: FloatArray
    width: float


def short_time(samples: Samples, noise: Background) -> ShortTime:
    """Short-time Fourier transform, by Hann windows of an eighth of a series, in units in which its noise is white.

    Whitening first keeps the strong slow part of a series, and its trend, from leaking over the rest of a short window.

    Parameters
    ----------
    samples : Samples
        The series; it has no power in a long gap.
    noise : Background
        Spectrum of its noise.
    """
    from scipy.signal import ShortTimeFFT, windows

    flat = without_trend(samples, samples.regular(samples.value))
    plain = np.zeros(samples.size)
    for part in samples.stretches:
        plain[part] = noise.whitened(flat[None, part])[0]
    length = min(samples.size, max(_SHORTEST, samples.size // _WINDOWS))
    window = windows.hann(length, sym=False)
    transform = ShortTimeFFT(window / np.sqrt(np.sum(window**2)), max(1, samples.size // _COLUMNS), fs=1 / samples.step)
    first, last = transform.lower_border_end[1], max(transform.upper_border_begin(samples.size)[1], 1)
    last = max(last, first + 1)
    middle = transform.t(samples.size, first, last) / samples.step
    return ShortTime(
        unique_id=samples.unique_id,
        frequency=np.asarray(transform.f, dtype=np.float64),
        session=np.interp(middle, samples.slot, samples.session),
        calendar=np.interp(middle, samples.slot, samples.calendar),
        ratio=np.abs(transform.stft(plain, first, last)) ** 2,
        width=length * samples.step,
    )
