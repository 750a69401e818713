"""From windows of raw series to what the network reads, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import TimeAxis
from fints.transformer.model import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.series.windows import Windows

_SMALLEST_SCALE = 1e-6
_WILDEST = 12.0


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Level and spread of each window's own context.

    Parameters
    ----------
    mean, std : ndarray, shape (B, 1)
        In the unit of ``y``.
    """

    mean: NDArray[np.float64]
    std: NDArray[np.float64]

    @classmethod
    def of_context(cls, windows: Windows) -> Scale:
        """Measure the context of every window; nothing after its last bar is read."""
        y = windows.values[..., 0]
        return cls(y.mean(axis=1, keepdims=True), np.maximum(y.std(axis=1, keepdims=True), _SMALLEST_SCALE))

    def scale(self, y_bt: NDArray[np.float64]) -> NDArray[np.float64]:
        """Express values of shape (B, T) in units of the context."""
        scaled: NDArray[np.float64] = (y_bt - self.mean) / self.std
        return scaled

    def unscale(self, z_btq: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring forecasts of shape (B, T, Q) back to the unit of ``y``."""
        raw: NDArray[np.float64] = z_btq * self.std[..., None] + self.mean[..., None]
        return raw


def network_inputs(windows: Windows, scale: Scale) -> Inputs:
    """Scale the series of each window by its own context and put everything into tensors.

    Companions are centred and scaled on their own; where one is unknown it stands at its mean. Values are clamped at
    `_WILDEST` spreads, so that one broken bar cannot drown a window.

    Parameters
    ----------
    windows : Windows
    scale : Scale
        Of the same windows.
    """
    y = scale.scale(windows.values[..., 0])[..., None]
    values = np.concatenate((y, _standardised(windows.values[..., 1:])), axis=-1).clip(-_WILDEST, _WILDEST)
    return Inputs(
        values=torch.from_numpy(values).float(),
        calendar=torch.from_numpy(windows.calendar).float(),
        future_calendar=torch.from_numpy(windows.future_calendar).float(),
        at=time_axis(windows.places),
        future_at=time_axis(windows.future_places),
    )


def time_axis(places: Mapping[str, NDArray[np.float64]]) -> TimeAxis:
    """Put places into float64 tensors of shape (B, T)."""
    return TimeAxis(**{name: torch.from_numpy(values) for name, values in places.items()})


def _standardised(past: NDArray[np.float64]) -> NDArray[np.float64]:
    known = np.isfinite(past)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = np.where(known, past, 0.0).sum(axis=1, keepdims=True) / count
    centred = np.where(known, past - mean, 0.0)
    std = np.sqrt((centred**2).sum(axis=1, keepdims=True) / count)
    standardised: NDArray[np.float64] = centred / np.maximum(std, _SMALLEST_SCALE)
    return standardised
