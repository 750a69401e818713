"""How much of what a network learned is kept: what its validation tail can tell from chance, and not all of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.forecast import QUANTILES
from fints.transformer.losses import window_losses
from fints.transformer.start.blocks import beats, date_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.transformer.model import CycleNetwork
    from fints.transformer.training import TrainingWindows

SHARE = 0.75
"""Part of a correction that is kept: the look that chose the weights has flattered them."""

_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Trust:
    """Parts of a network's correction that are kept.

    Parameters
    ----------
    location : float
        Of the median: `SHARE`, or 0 where the mean's squared error is not smaller than that of the start's forecast by
        a standard error, or where no regression on the same
        inputs beat a forecast of zero (returns). The mean is that forecast then.
    spread : float
        Of the distances of the other quantiles from it: `SHARE`, or 0 where the loss is not smaller by as much.
    """

    location: float
    spread: float


def settle(network: CycleNetwork, windows: TrainingWindows, origins: NDArray[np.int64]) -> Trust:
    """Judge a trained network on validation windows against its own start, and shrink what it adds to that.

    Parameters
    ----------
    network : CycleNetwork
        Changed in place.
    windows : TrainingWindows
    origins : ndarray of int64
        Of the validation tail.
    """
    blocks = date_blocks(windows.tape, origins, windows.h)
    start = _errors(network, windows, origins, Trust(0.0, 0.0))
    moved = _errors(network, windows, origins, Trust(SHARE, 0.0))
    located = beats(moved[0], start[0], blocks) and not _is_noise(windows)
    location, before = (SHARE, moved) if located else (0.0, start)
    after = _errors(network, windows, origins, Trust(location, SHARE))
    trust = Trust(location, SHARE if beats(after[1], before[1], blocks) else 0.0)
    network.shrink(trust.location, trust.spread)
    return trust


def _is_noise(windows: TrainingWindows) -> bool:
    """Whether a regression on what the network reads could not beat a forecast of zero."""
    start = windows.corrected
    return start.anchor == "zero" and bool(np.isinf(start.ridge)) and windows.peers is None


def _errors(
    network: CycleNetwork, windows: TrainingWindows, origins: NDArray[np.int64], trust: Trust
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Squared error of the mean and loss of each window, with so much of the correction; two of shape (n,)."""
    before = network.correction()
    network.shrink(trust.location, trust.spread)
    squares, losses = [], []
    with torch.inference_mode():
        for part in np.array_split(origins, max(1, len(origins) // _CHUNK)):
            batch = windows.batch(part)
            quantiles = network(batch.inputs)
            squares.append(((quantiles @ network.head.weights - batch.target) ** 2).mean(dim=1).double().numpy())
            losses.append(window_losses(quantiles, batch.target, torch.tensor(QUANTILES)).double().numpy())
    network.restore(before)
    return np.concatenate(squares), np.concatenate(losses)
