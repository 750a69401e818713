"""How much of the noise is left at each frequency where regressors have been taken out.

In units in which the noise is white, taking out regressors with the orthonormal basis Q projects it onto what is
orthogonal to them. A wave u of unit length then keeps the share 1 - |Qᴴu|² of its expected power; |Qᴴu|² is its
leverage. One-off effects come a few times a year, so they take much of a few frequencies and little of the others: a
level that is the mean of both would be too low for most, and its peaks would look higher than they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.samples import Clock, Samples

    FloatArray = NDArray[np.float64]

_LEAST = 0.05
_DEPENDENT = 1e-8
_NEGLIGIBLE = 1e-3
_INTRADAY_CELLS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Leverage:
    """Shares of the noise's power that are left, on both clocks.

    Parameters
    ----------
    session : numpy.ndarray, shape (K,)
        At 0, 1, … turns per `next_fast_len(size)` slots.
    calendar : numpy.ndarray, shape (J,)
        At 0, 1, … turns per `span` days.
    span : float
        Days.
    """

    session: FloatArray
    calendar: FloatArray
    span: float

    @classmethod
    def of(cls, samples: Samples, columns: FloatArray, beside: FloatArray) -> Leverage | None:
        """Leverage of some regressors.

        Parameters
        ----------
        samples : Samples
            Where they stand.
        columns : numpy.ndarray, shape (n, m)
            What is taken out, in units in which the noise is white.
        beside : numpy.ndarray, shape (n, k)
            What is fitted along with it and stays in, in the same units.

        Returns
        -------
        Leverage or None
            None where they take less than a thousandth.
        """
        from scipy.fft import next_fast_len

        if columns.shape[1] <= _NEGLIGIBLE * len(columns):
            return None
        own = columns - beside @ np.linalg.lstsq(beside.T @ beside, beside.T @ columns, rcond=_DEPENDENT)[0]
        scale = np.maximum(np.sqrt(np.sum(own**2, axis=0)), np.finfo(np.float64).tiny)
        size, axes = np.linalg.eigh((own / scale).T @ (own / scale))
        kept = size > _DEPENDENT * size[-1]
        turn = axes[:, kept] / np.sqrt(size[kept]) / scale[:, None]
        weighted = own * samples.taper[samples.slot, None]
        energy = float(np.sum(samples.taper[samples.slot] ** 2))
        cells = 1 if samples.step == 1 else _INTRADAY_CELLS
        days = np.rint((samples.calendar - samples.calendar[0]) * cells).astype(np.int64)
        session = _left(weighted, turn, samples.slot, next_fast_len(samples.size, real=True)) / energy
        length = next_fast_len(int(days[-1]) + 1, real=True)
        calendar = _left(weighted, turn, days, length) / energy
        return cls(np.maximum(1 - session, _LEAST), np.maximum(1 - calendar, _LEAST), length / cells)

    def surviving(self, clock: Clock, lowest: float, exceedance: float) -> float:
        """Share of the peaks over a given exceedance that are left in the band from a frequency on.

        Parameters
        ----------
        clock : {"session", "calendar"}
            The clock.
        lowest : float
            In turns per length of the series.
        exceedance : float
            Of a peak that has lost nothing.
        """
        kept = self.session if clock == "session" else self.calendar
        if clock == "calendar":
            kept = kept[: int(self.span / 2) + 1]
        band = kept[int(np.ceil(lowest)) :]
        return float(np.mean(np.exp(exceedance * (1 - 1 / band)))) if len(band) else 1.0


def _left(columns: FloatArray, turn: FloatArray, place: NDArray[np.int64], length: int) -> FloatArray:
    """Sum of squared transforms of the basis, shape (length // 2 + 1,)."""
    from scipy.fft import rfft

    rows = np.zeros((columns.shape[1], length))
    rows[:, place] = columns.T
    waves = rfft(rows, axis=1)
    return np.asarray(np.sum(np.abs(turn.T @ waves) ** 2, axis=0))
