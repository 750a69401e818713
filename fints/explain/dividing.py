"""Measuring a gain, and dividing it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch

from fints.explain.coalition import Known
from fints.explain.gain import HAR, LEVEL, REST, ZERO, Gain, Part
from fints.explain.measured import BlockedLosses
from fints.explain.shapley import coalitions, shapley_weights
from fints.forecast import QUANTILES
from fints.series.scaling import Scaling
from fints.transformer.fitting import error_quantiles
from fints.transformer.forecaster import mean_of_quantiles
from fints.transformer.inputs import network_inputs
from fints.transformer.losses import window_losses
from fints.transformer.start.blocks import date_blocks
from fints.transformer.training import Split, TrainingWindows
from fints.transformer.training.windows import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fints.explain.coalition import Ablation
    from fints.explain.measured import Measured
    from fints.series.windows import Windows
    from fints.transformer.peers.attention import PeerTokens
    from fints.transformer.start import LinearStart

    FloatArray = NDArray[np.float64]
    Progress = Callable[[int, int], None]

_FOR_QUANTILES = 1024
"""Windows from which the reference's quantiles are taken."""


@dataclass(frozen=True, slots=True)
class Division:
    """Where the numbers of a gain come from.

    Parameters
    ----------
    players : int
        Groups.
    turning : tuple of int
        Those that have planes.
    """

    players: int
    turning: tuple[int, ...]

    def __call__(self, losses: FloatArray) -> FloatArray:
        """Divide the gain.

        Parameters
        ----------
        losses : ndarray, shape (1 + 2^players + turning,)
            Of the reference, of the model with each coalition of groups, and with the planes of each group still.

        Returns
        -------
        ndarray, shape (1 + 2 (players + 1) + players + turning,)
            Gain; Shapley values of the groups and the rest; their shares; what taking out each group costs; what
            holding still its planes does.
        """
        reference, games = losses[0], losses[1 : 1 + (1 << self.players)]
        none, whole, still = games[0], games[-1], losses[1 + len(games) :]
        gain = reference - whole
        values = np.append(-(shapley_weights(self.players) @ games), reference - none)
        out = np.array([games[(len(games) - 1) ^ (1 << i)] - whole for i in range(self.players)])
        shares = values / gain if gain else np.full(len(values), np.nan)
        parts = (np.array([gain]) / reference, values / reference, shares, out / whole, (still - whole) / whole)
        return np.concatenate(parts)

    def parts(self, numbers: list[Measured], names: list[str]) -> tuple[Part, ...]:
        """Name the numbers."""
        n = self.players
        values, shares = numbers[1 : n + 2], numbers[n + 2 : 2 * n + 3]
        out, still = numbers[2 * n + 3 : 3 * n + 3], dict(zip(self.turning, numbers[3 * n + 3 :], strict=True))
        groups = [Part(names[i], values[i], shares[i], out[i], still.get(i)) for i in range(n)]
        return (*groups, Part(REST, values[n], shares[n]))


def divide(ablation: Ablation, origins: NDArray[np.int64], most: int, progress: Progress | None = None) -> Gain:
    """Measure the gain on some windows, and divide it.

    Parameters
    ----------
    ablation : Ablation
        Its starts are estimated on windows that end before these begin.
    origins : ndarray of int64
        Windows; as many as `most` of them are taken, evenly.
    most : int
    progress : callable, optional
        Called with the number of models that were evaluated, and with that of all.
    """
    history, groups, chosen = ablation.history, ablation.groups, spread(origins, most)
    windows, peers = history.windows(chosen), history.peers(chosen)
    assert windows.target is not None
    division = Division(len(groups), tuple(i for i, group in enumerate(groups) if group.planes))
    count = 1 + (1 << len(groups)) + len(division.turning)
    squares, scores = np.empty((count, len(chosen))), np.empty((count, len(chosen)))
    for number, quantiles in enumerate(_forecasts(ablation, division, windows, peers)):
        squares[number] = squared_errors(quantiles, windows.target)
        scores[number] = crps(quantiles, windows.target)
        if progress is not None:
            progress(number + 1, count)
    blocks, names = date_blocks(history.tape, chosen, history.model.h), [group.name for group in groups]
    root = BlockedLosses(squares, blocks).measure(lambda means: division(np.sqrt(means)))
    score = BlockedLosses(scores, blocks).measure(division)
    ds = history.tape.ds
    first = ds[chosen + 1].min()
    return Gain(
        reference=reference_name(ablation.whole),
        groups=groups,
        total={"RMSE": root[0], "CRPS": score[0]},
        parts={"RMSE": division.parts(root, names), "CRPS": division.parts(score, names)},
        windows=len(chosen),
        blocks=int(blocks.max()) + 1,
        first=pd.Timestamp(first),
        last=pd.Timestamp(ds[chosen + history.model.h].max()),
        unseen=bool(first >= history.border()),
    )


def squared_errors(quantiles: FloatArray, target: FloatArray) -> FloatArray:
    """Mean squared error of the mean, by window; from shapes (B, H, Q) and (B, H)."""
    means = mean_of_quantiles(quantiles.reshape(-1, quantiles.shape[-1])).reshape(target.shape)
    errors: FloatArray = ((means - target) ** 2).mean(axis=1)
    return errors


def crps(quantiles: FloatArray, target: FloatArray) -> FloatArray:
    """Mean score of the quantiles, by window; see `fints.transformer.losses.window_losses`."""
    probabilities = torch.tensor(QUANTILES, dtype=torch.float64)
    return window_losses(torch.from_numpy(quantiles), torch.from_numpy(target), probabilities).numpy()


def reference_name(start: LinearStart) -> str:
    """Name what a gain is measured against."""
    if np.isinf(start.ridge):
        return LEVEL if start.anchor == "level" else ZERO
    return HAR


def _forecasts(
    ablation: Ablation, division: Division, windows: Windows, peers: PeerTokens | None
) -> Iterator[FloatArray]:
    """Forecast with every model that a division asks for, in its order; each of shape (B, H, Q)."""
    yield _reference(ablation, windows)
    for members in coalitions(division.players):
        known = Known(members)
        yield ablation.fitted(known).quantiles(ablation.seen(windows, known), peers)
    for number in division.turning:
        networks = ablation.networks(ablation.everything - {number})
        yield replace(ablation.history.fitted, start=ablation.whole, networks=networks).quantiles(windows, peers)


def _reference(ablation: Ablation, windows: Windows) -> FloatArray:
    """Forecast with a start that knows no calendar and no companions, with the quantiles of its errors."""
    known, design = Known(frozenset(), companions=False), ablation.history.model.design
    start, some = ablation.start(known), spread(ablation.origins, _FOR_QUANTILES)
    earlier = TrainingWindows(ablation.history.tape, design.input_size, design.h, start)
    inputs, scale = network_inputs(windows, start)
    quantiles = inputs.start.double()[..., None] + error_quantiles(earlier, Split(some, some[:0])).double()
    return Scaling(scale.center[..., None], scale.spread[..., None]).invert(quantiles.numpy())
