"""A series and its regressors in units in which its noise is white."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.lines import Tone
    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

_DEPENDENT = 1e-8


class Whitening:
    """Generalised least squares on one series, beside its mean, its trend and other regressors.

    Parameters
    ----------
    samples : Samples
        Where the values stand.
    noise : Background, optional
        Spectrum of the noise; white of variance 1 by default.
    beside : numpy.ndarray, shape (n, m), optional
        Regressors that are fitted too.
    """

    def __init__(self, samples: Samples, noise: Background | None = None, beside: FloatArray | None = None) -> None:
        self.samples = samples
        self.noise = noise
        self.beside = np.empty((len(samples.slot), 0)) if beside is None else beside
        self._waves: dict[Tone, FloatArray] = {}

    @cached_property
    def _level(self) -> tuple[FloatArray, FloatArray]:
        """Orthonormal basis of mean, trend and regressors, and their coordinates in it."""
        samples = self.samples
        time = (samples.session - samples.middle("session")) / samples.duration("session")
        level = np.column_stack([np.ones_like(time), time, self.beside])
        return _orthonormal(whitened(samples, level, self.noise))

    def plain(self, columns: FloatArray) -> FloatArray:
        """Columns in units of the noise, what the regressors explain of them taken out, shape (n, k)."""
        return self._without(whitened(self.samples, columns, self.noise))

    def waves(self, tone: Tone) -> FloatArray:
        """Return the plain cosine and sine of a line, remembered, shape (n, 2)."""
        if tone not in self._waves:
            self._waves[tone] = self.plain(wave_columns(self.samples, [tone]))
        return self._waves[tone]

    def forget(self) -> None:
        """Let go of what is remembered."""
        self._waves.clear()

    def without_regressors(self, value: FloatArray) -> FloatArray:
        """Values less what the regressors beside the lines explain of them; mean and trend stay in."""
        if not self.beside.shape[1]:
            return value
        own = whitened(self.samples, value[:, None], self.noise)[:, 0]
        basis, triangle = self._level
        coefficient = np.linalg.lstsq(triangle, basis.T @ own, rcond=_DEPENDENT)[0]
        return np.asarray(value - self.beside @ coefficient[2:])

    def _without(self, columns: FloatArray) -> FloatArray:
        basis = self._level[0]
        return np.asarray(columns - basis @ (basis.T @ columns))


def _orthonormal(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal basis Q of some columns X, which may depend on each other, and Qᵀ X."""
    left, size, right = np.linalg.svd(columns, full_matrices=False)
    kept = size > _DEPENDENT * size[0]
    return np.asarray(left[:, kept]), np.asarray(size[kept, None] * right[kept])


def whitened(samples: Samples, columns: FloatArray, noise: Background | None) -> FloatArray:
    """Columns at the samples, in units in which the noise is white of variance 1, shape (n, k)."""
    if noise is None or not columns.shape[1]:
        return columns
    regular = samples.regular(columns)
    whole = np.zeros(regular.T.shape)
    for part in samples.stretches:
        whole[:, part] = noise.whitened(np.ascontiguousarray(regular[part].T))
    return np.asarray(whole[:, samples.slot].T)


def wave_columns(samples: Samples, tones: Sequence[Tone]) -> FloatArray:
    """Cosine and sine of each line in turn, shape (n, 2K)."""
    waves = np.empty((len(samples.slot), 2 * len(tones)))
    for k, tone in enumerate(tones):
        angle = (2 * np.pi * tone.frequency) * (samples.place(tone.clock) - samples.middle(tone.clock))
        waves[:, 2 * k] = np.cos(angle)
        waves[:, 2 * k + 1] = np.sin(angle)
    return waves
