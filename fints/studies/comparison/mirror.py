"""Two encodings trained from mirrored first weights: where mirroring is exact, so are the losses.

A plane turns the pair (x₀, x₁) of a query and of a key by R(θ). With F = diag(1, −1), R(−θ) = F R(θ) F: the plane that
turns the other way gives the logits that the first one gives to the mirrored pair (x₀, −x₁). The projections make that
pair if the second of their two rows changes its sign. AdamW, its decay, clipping by the norm of the gradient and the
average of the weights all commute with the change of a sign, so two networks that start as mirror images stay mirror
images, step by step. That needs projections of queries and keys without a bias or a nonlinearity behind them, as in
`fints.transformer.layers.CausalAttention`; the HSTU block has a SiLU there, and no mirror image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import torch
    from numpy.typing import NDArray

    from fints.encodings import Encoding
    from fints.transformer import CycleTransformer
    from fints.transformer.model import CycleNetwork


@dataclass(frozen=True, slots=True, eq=False)
class MirroredLosses:
    """Losses of two networks that started as mirror images, step by step.

    Parameters
    ----------
    first, second : ndarray, shape (steps,)
        Before each step, on the same windows.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]

    @property
    def apart(self) -> float:
        """The largest difference of any step, relative to the first's loss."""
        return float(np.max(np.abs(self.second - self.first) / np.abs(self.first)))


def mirrored_losses(
    model: CycleTransformer,
    panel: pd.DataFrame,
    mirrored: NDArray[np.bool_],
    change: Callable[[Encoding], Encoding],
) -> MirroredLosses:
    """Train a network, and its mirror image with another encoding, on the same windows in the same order.

    Parameters
    ----------
    model : CycleTransformer
        Unfitted, without covariates and linear start; its encoding is the first one.
    panel : pandas.DataFrame
        Schema ``panel``: what training sees.
    mirrored : ndarray of bool, shape (layers, heads, planes)
        Planes whose queries and keys are mirrored in the second network. All False leaves the weights alone, as where
        the second encoding is another spelling of the first.
    change : callable
        Makes the second encoding of a copy of the first one.

    Returns
    -------
    MirroredLosses

    Raises
    ------
    ConfigError
        If the mask does not fit the network, or its blocks do not project queries and keys linearly.
    SeriesError
        If no window can be cut.
    """
    from copy import deepcopy

    first = model.design.network_for(0, 0)
    second = deepcopy(first)
    mirror_weights(second, mirrored)
    second.encoding = change(second.encoding)
    return MirroredLosses(*(_losses(model, network, panel) for network in (first, second)))


def mirror_weights(network: CycleNetwork, mirrored: NDArray[np.bool_]) -> None:
    """Change the sign of the second row of each plane of queries and keys where the mask says so, in place.

    Parameters
    ----------
    network : CycleNetwork
    mirrored : ndarray of bool, shape (layers, heads, planes)

    Raises
    ------
    ConfigError
        If the mask does not fit the network, or a block does not project queries and keys linearly.
    """
    import torch

    from fints.transformer.layers import Block

    blocks = list(network.blocks)
    if not all(isinstance(block, Block) for block in blocks):
        raise ConfigError(
            "queries and keys of this block pass through more than a linear projection, so it has no mirror image; "
            "take block='softmax'"
        )
    attentions = [block.attention for block in blocks if isinstance(block, Block)]
    width, heads = attentions[0].to_q.out_features, attentions[0].n_heads
    if mirrored.shape != (len(blocks), heads, width // heads // 2):
        raise ConfigError(
            f"the mask has shape {mirrored.shape}; the network has {len(blocks)} layers of {heads} heads with "
            f"{width // heads // 2} planes"
        )
    with torch.no_grad():
        for attention, mask in zip(attentions, mirrored, strict=True):
            signs = np.ones((heads, width // heads // 2, 2))
            signs[mask, 1] = -1.0
            rows: torch.Tensor = torch.from_numpy(signs.reshape(width, 1)).float()
            attention.to_q.weight.mul_(rows)
            attention.to_kv.weight[:width].mul_(rows)


def _losses(model: CycleTransformer, network: CycleNetwork, panel: pd.DataFrame) -> NDArray[np.float64]:
    import torch

    from fints.errors import SeriesError
    from fints.series import validate_panel
    from fints.series.windows import Tape
    from fints.transformer.training import Learner, TrainingWindows, batches

    design = model.design
    windows = TrainingWindows(Tape.from_panel(validate_panel(panel), (), ()), design.input_size, design.h)
    origins = windows.origins()
    if len(origins) == 0:
        raise SeriesError(f"{len(panel)} bars hold no window of {design.input_size} + {design.h}; give more bars")
    order = batches(origins, design.training, np.random.default_rng(design.random_seed))
    with torch.random.fork_rng(devices=[]):
        learner = Learner(network, design.training, design.random_seed)
        return np.array([learner.step(windows.batch(chosen)) for chosen in order])
