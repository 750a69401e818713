"""Putting windows and series on a common scale, and exactly back.

A scaling is data (centre and spread); it is fitted on the values it is given and on nothing else, so fitting it on the
context of a window cannot see the future. NaN values are ignored. Where the values do not vary, the spread is 1: the
scaled values are 0 and the way back is still exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

_NORMAL_IQR = 1.3489795003921634
_FLAT = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True)
class Scaling:
    """An affine map per window: ``z = (y - center) / spread``.

    Parameters
    ----------
    center, spread : numpy.ndarray
        Broadcast against the values; shape (…, 1) for a window's scaling, (…, T) for an expanding one. The spread is
        positive.
    """

    center: FloatArray
    spread: FloatArray

    def apply(self, y: ArrayLike) -> FloatArray:
        """Scale values of shape (…, T)."""
        return (np.asarray(y, dtype=np.float64) - self.center) / self.spread

    def invert(self, z: ArrayLike) -> FloatArray:
        """Undo :meth:`apply`, to rounding."""
        return np.asarray(z, dtype=np.float64) * self.spread + self.center


def identity_scaling(y: ArrayLike) -> Scaling:
    """Leave windows of shape (…, T) as they are."""
    shape = (*np.shape(y)[:-1], 1)
    return Scaling(np.zeros(shape), np.ones(shape))


def standard_scaling(y: ArrayLike) -> Scaling:
    """Mean and standard deviation (divisor n) of each window.

    Parameters
    ----------
    y : array_like, shape (…, T)
        Windows along the last axis; NaN values are ignored.

    Returns
    -------
    Scaling
        ``center`` and ``spread`` of shape (…, 1); a window without any value has centre 0 and spread 1.
    """
    values = np.asarray(y, dtype=np.float64)
    present = ~np.isnan(values)
    count = np.maximum(present.sum(axis=-1, keepdims=True), 1)
    center = np.where(present, values, 0.0).sum(axis=-1, keepdims=True) / count
    deviation = np.where(present, values - center, 0.0)
    spread = np.sqrt((deviation**2).sum(axis=-1, keepdims=True) / count)
    return Scaling(center, _safe(spread, np.abs(center)))


def robust_scaling(y: ArrayLike) -> Scaling:
    """Median and normal-consistent interquartile range of each window.

    Where the middle half of a window is one value, its standard deviation takes the range's place.

    Parameters
    ----------
    y : array_like, shape (…, T)
        Windows along the last axis; NaN values are ignored.

    Returns
    -------
    Scaling
        ``center`` and ``spread`` of shape (…, 1).
    """
    values = np.asarray(y, dtype=np.float64)
    missing = np.isnan(values)
    filled = np.where(missing.all(axis=-1, keepdims=True), 0.0, values)
    # numpy's own NaN quantile goes slice by slice
    quantile = np.nanquantile if missing.any() else np.quantile
    low, center, high = quantile(filled, [0.25, 0.5, 0.75], axis=-1, keepdims=True)
    spread = (high - low) / _NORMAL_IQR
    size = np.nanmax(np.abs(filled), axis=-1, keepdims=True)
    deviation = np.sqrt(np.nanmean((filled - center) ** 2, axis=-1, keepdims=True))
    return Scaling(center, _safe(np.where(spread > _FLAT * size, spread, deviation), size))


def expanding_scaling(y: ArrayLike, min_count: int = 20) -> Scaling:
    """Mean and standard deviation of everything up to and including each value.

    Parameters
    ----------
    y : array_like, shape (…, T)
        Series along the last axis; NaN values are ignored.
    min_count : int
        Until a series has this many values, its spread is 1 and its centre the mean so far.

    Returns
    -------
    Scaling
        ``center`` and ``spread`` of shape (…, T); the entry at t depends on no value after t.
    """
    values = np.asarray(y, dtype=np.float64)
    present = ~np.isnan(values)
    count = np.cumsum(present, axis=-1)
    # sums of squares about the first value: a level far from zero would cancel the digits of the variance
    first = np.take_along_axis(values, np.argmax(present, axis=-1)[..., None], axis=-1)
    first = np.where(np.isnan(first), 0.0, first)
    shifted = np.where(present, values - first, 0.0)
    divisor = np.maximum(count, 1)
    mean = np.cumsum(shifted, axis=-1) / divisor
    variance = np.maximum(np.cumsum(shifted**2, axis=-1) / divisor - mean**2, 0.0)
    spread = np.where(count >= min_count, np.sqrt(variance), 1.0)
    return Scaling(mean + first, _safe(spread, np.abs(mean + first)))


def _safe(spread: FloatArray, size: FloatArray) -> FloatArray:
    """Replace a spread that is nothing but rounding of values of a given size."""
    return np.where(spread > _FLAT * size, spread, 1.0)


SCALERS: Mapping[str, Callable[[ArrayLike], Scaling]] = MappingProxyType(
    {"none": identity_scaling, "standard": standard_scaling, "robust": robust_scaling}
)
"""Scalings of a window, by name."""


def get_scaler(name: str) -> Callable[[ArrayLike], Scaling]:
    """Look a window's scaling up by name.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if name not in SCALERS:
        raise UnknownNameError("scaler", name, SCALERS)
    return SCALERS[name]
