"""From windows of raw series to what the network reads, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import TimeAxis
from fints.series.scaling import Scaling, standard_scaling
from fints.transformer.model import Inputs
from fints.transformer.start.linear import standardised

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.series.windows import Windows
    from fints.transformer.start import LinearStart

WILDEST = 12.0
"""Spreads from the centre of its context beyond which a value is clamped."""


def network_inputs(windows: Windows, start: LinearStart) -> tuple[Inputs, Scaling]:
    """Take the calendar's effects out, scale each window by its own context, and put everything into tensors.

    Companions are centred and scaled on their own; where one is unknown it stands at its mean. Values are clamped at
    `WILDEST` spreads, so that one broken bar cannot drown a window.

    Parameters
    ----------
    windows : Windows
    start : LinearStart

    Returns
    -------
    inputs : Inputs
    scale : Scaling
        That puts forecasts back into the unit of each series, shape (B, 1).
    """
    located = start.locate(windows)
    scale = standard_scaling(located.adjusted)
    values = np.concatenate((scale.apply(located.adjusted)[..., None], standardised(windows.values[..., 1:])), axis=-1)
    inputs = Inputs(
        values=torch.from_numpy(values.clip(-WILDEST, WILDEST)).float(),
        calendar=torch.from_numpy(windows.calendar).float(),
        future_calendar=torch.from_numpy(windows.future_calendar).float(),
        start=torch.from_numpy(scale.apply(located.location)).float(),
        at=time_axis(windows.places),
        future_at=time_axis(windows.future_places),
    )
    return inputs, Scaling(scale.center * located.unit, scale.spread * located.unit)


def time_axis(places: Mapping[str, NDArray[np.float64]]) -> TimeAxis:
    """Put places into float64 tensors of shape (B, T)."""
    return TimeAxis(**{name: torch.from_numpy(values) for name, values in places.items()})
