"""The calendar clock: lines that repeat in civil days, in noise that passes from one bar to the next.

Bars come at places t on the calendar, with weekends and holidays between them, and the noise is stationary over the
bars, not over the days. Its ordinary Lomb-Scargle periodogram therefore holds the noise's slow part again around every
multiple of 1/7 per day. Generalised least squares has no such folds: with the inverse Γ⁻¹ of the noise's covariance,

    z(f) = Σᵢ (Γ⁻¹ y)ᵢ e^(-2πi f tᵢ),    M(f) = Σᵢⱼ (Γ⁻¹)ᵢⱼ e^(2πi f (tᵢ - tⱼ)),

and the ratio |z|² / M is exponential with mean 1 under noise alone at every frequency (Delisle, Hara and Ségransan
2020, A&A 635, A83). Γ⁻¹ is that of the null spectrum S: its elements are the Fourier coefficients of 1 / S. The bars of
daily series lie on whole days, so z comes from one Fourier transform over the days, those without a bar having no
weight. M comes from the inverse covariances summed by their distance in days: pair by pair up to a lag, and beyond it,
where they are smooth, by a Taylor series in the departure from the mean rate of sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.periods.spectrum import OVERSAMPLING, without_trend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

_NEAR = 128
_INTRADAY_CELLS = 8
_JITTER_CELLS = 100
_MOST_REMEMBERED = 4
_REMEMBERED: dict[tuple[bytes, bytes, float], CalendarSampling] = {}


class CalendarSampling:
    """How the bars of a series lie on the calendar; shared by series that have the same bars.

    Parameters
    ----------
    samples : Samples
        Any of those series.
    """

    def __init__(self, samples: Samples) -> None:
        from scipy.fft import irfft, next_fast_len, rfft

        cells = 1 if samples.step == 1 else _INTRADAY_CELLS
        place = np.rint((samples.calendar - samples.calendar[0]) * cells).astype(np.int64)
        weight = samples.taper[samples.slot]
        self.cells = cells
        self.place = place
        self.slot = samples.slot
        self.weight = weight
        self.rate = samples.rate * (1 / samples.step)
        self.span = int(place[-1]) + 1
        self.length = next_fast_len(OVERSAMPLING * self.span, real=True)
        self.near = self._near_pairs(samples)
        departure = samples.slot - place * (self.rate / cells)
        length = next_fast_len(2 * self.span, real=True)
        parts = [rfft(np.bincount(place, weight * departure**power, minlength=self.span), length) for power in range(3)]
        products = (
            np.conj(parts[0]) * parts[0],
            np.conj(parts[0]) * parts[1] - np.conj(parts[1]) * parts[0],
            0.5 * (np.conj(parts[0]) * parts[2] + np.conj(parts[2]) * parts[0]) - np.conj(parts[1]) * parts[1],
        )
        self.far = tuple(irfft(product, length)[: self.span] for product in products)
        days = samples.calendar - samples.calendar[0]
        share = weight**2 / np.sum(weight**2)
        variance = float(share @ days**2 - (share @ days) ** 2)
        self.spread = float(np.sqrt(4 * np.pi * variance))
        self.energy = float(np.sum(weight**2))
        self.jitter = departure / self.rate
        self._information: tuple[Background, FloatArray] | None = None
        self._peaks: dict[tuple[float, bool], float] = {}

    def _near_pairs(self, samples: Samples) -> FloatArray:
        """Products of weights by short lag in slots and distance in cells, shape (lags, distances)."""
        size = samples.size
        weight = np.zeros(size)
        weight[samples.slot] = self.weight
        cell = np.rint(np.interp(np.arange(size), samples.slot, self.place)).astype(np.int64)
        lags = min(_NEAR, size - 1) + 1
        farthest = int(max((cell[lag:] - cell[: size - lag]).max() for lag in range(lags))) + 1
        pairs = np.empty((lags, farthest))
        for lag in range(lags):
            distance = cell[lag:] - cell[: size - lag]
            pairs[lag] = np.bincount(distance, weight[lag:] * weight[: size - lag], minlength=farthest)
        return pairs

    @property
    def frequency(self) -> FloatArray:
        """Cycles per day, from zero to one half."""
        return np.asarray(np.arange(self.length // 2 + 1) * (self.cells / self.length))[: self._kept]

    @property
    def _kept(self) -> int:
        return int(self.length * 0.5 / self.cells) + 1

    def information(self, background: Background) -> FloatArray:
        """M(f): how much the bars tell of a wave of each frequency; remembered for the last null level."""
        if self._information is None or self._information[0] is not background:
            self._information = (background, self._sum_information(background))
        return self._information[1]

    def _sum_information(self, background: Background) -> FloatArray:
        from scipy.fft import rfft
        from scipy.interpolate import CubicSpline

        size = int(self.slot[-1]) + 1
        covariance = background.inverse_covariance(size)
        lag = np.arange(size, dtype=np.float64)
        half = 0.5 * (len(self.near) - 1)
        beyond = np.clip(lag / half - 1, 0, 1)
        smooth = covariance * beyond**2 * (3 - 2 * beyond)
        total = np.zeros(self.span)
        lags, distances = self.near.shape
        total[:distances] = (covariance - smooth)[:lags] @ self.near
        distance = np.clip(np.arange(self.span) * (self.rate / self.cells), 0, size - 1)
        spline = CubicSpline(lag, smooth)
        for order, weights in enumerate(self.far):
            total += spline(distance, order) * weights
        padded = np.zeros(self.length)
        padded[: self.span] = total
        padded[self.length - self.span + 1 :] += total[:0:-1]
        return np.asarray(rfft(padded).real[: self._kept])

    def waves(self, background: Background, samples: Samples, value: FloatArray) -> FloatArray:
        """|z(f)|² of some values."""
        from scipy.fft import rfft

        flat = samples.taper * without_trend(samples, samples.regular(value))
        whitened = background.inverse_filtered(flat)[samples.slot]
        days = np.bincount(self.place, whitened, minlength=self.span)
        return np.abs(rfft(days, self.length)[: self._kept]) ** 2

    def peaks(self, lowest: float, *, apart: bool) -> float:
        """How many independent peaks lie between a frequency and one half per day.

        Parameters
        ----------
        lowest : float
            Cycles per day.
        apart : bool
            Leave out what the session clock sees as well.
        """
        if (lowest, apart) not in self._peaks:
            grid = np.linspace(lowest, 0.5, 200)
            own = 1 - self.coherence(grid) if apart else np.ones(len(grid))
            # what the weekends make of one frequency at another is too weak for both to stand out at once
            self._peaks[lowest, apart] = max(0.0, float(own.mean() * (0.5 - lowest) * self.spread))
        return self._peaks[lowest, apart]

    def coherence(self, frequency: FloatArray) -> FloatArray:
        """Share of a calendar wave's power that a session wave of the same speed holds, shape of `frequency`."""
        cell = np.rint(self.jitter * _JITTER_CELLS).astype(np.int64)
        share = np.bincount(cell - cell.min(), self.weight**2) / self.energy
        days = np.flatnonzero(share)
        angle = 2 * np.pi * frequency[:, None] * (days / _JITTER_CELLS)
        return np.asarray(np.abs(np.exp(1j * angle) @ share[days]) ** 2)


def calendar_sampling(samples: Samples) -> CalendarSampling:
    """How the bars of a series lie on the calendar, remembered for the next series with the same bars."""
    key = (samples.slot.tobytes(), samples.calendar.tobytes(), samples.step)
    if key not in _REMEMBERED:
        while len(_REMEMBERED) >= _MOST_REMEMBERED:
            _REMEMBERED.pop(next(iter(_REMEMBERED)))
        _REMEMBERED[key] = CalendarSampling(samples)
    return _REMEMBERED[key]
