"""From windows of raw series to what the network reads, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import TimeAxis
from fints.series.scaling import standard_scaling
from fints.transformer.model import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.series.scaling import Scaling
    from fints.series.windows import Windows

_WILDEST = 12.0


def network_inputs(windows: Windows, scale: Scaling) -> Inputs:
    """Scale the series of each window by its own context and put everything into tensors.

    Companions are centred and scaled on their own; where one is unknown it stands at its mean. Values are clamped at
    `_WILDEST` spreads, so that one broken bar cannot drown a window.

    Parameters
    ----------
    windows : Windows
    scale : Scaling
        Of the targets of the same windows' contexts, shape (B, 1).
    """
    y = scale.apply(windows.values[..., 0])[..., None]
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
    """Scale each companion of shape (B, L, n_past) by its own context; an unknown value stands at the mean, 0."""
    series = past.swapaxes(1, 2)
    known = np.where(np.isfinite(series), series, np.nan)
    return np.nan_to_num(standard_scaling(known).apply(known)).swapaxes(1, 2)
