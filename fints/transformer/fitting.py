"""Fitting: the linear start, then every member of the ensemble that corrects it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.forecast import QUANTILES
from fints.series.windows import Tape, feature_columns
from fints.transformer.checkpoint import states_of
from fints.transformer.design import Fitted
from fints.transformer.peers.table import learn_peers
from fints.transformer.start import fit_start, refit_start
from fints.transformer.training import Split, TrainingWindows, train
from fints.transformer.training.windows import spread
from fints.transformer.trust import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd
    from torch import Tensor

    from fints.transformer.design import Design

    Progress = Callable[[int, int], None]

_WINDOWS_FOR_QUANTILES = 4096


def fit(
    design: Design, panel: pd.DataFrame, progress: Progress | None = None, checkpoints: str | Path | None = None
) -> Fitted:
    """Fit a design to a valid panel; see `CycleTransformer.fit`.

    The start is estimated on the windows before the validation tail, which is where the members learn to correct it.
    What the tail cannot tell from chance of what they learned is dropped (see `fints.transformer.trust`); then the
    start is estimated once more, on all windows.
    """
    past, known = feature_columns(panel)
    past = past if design.network.companions else ()
    known = known if design.network.covariates else ()
    tape, size, h = Tape.from_panel(panel, past, known), design.input_size, design.h
    windows = TrainingWindows(tape, size, h)
    split = Split.by_time(windows, design.training.validation_share)
    quantiles = None
    if design.network.linear_skip:
        windows = replace(windows, start=fit_start(tape, size, h, split.train, split.validation))
        quantiles = error_quantiles(windows, split)
    if design.network.cross_asset:
        windows = replace(windows, peers=learn_peers(tape, windows.corrected, size, split.train))
    networks, records = [], []
    members = design.training.members
    for member in range(members):
        network = design.network_for(len(past), len(known), member)
        if quantiles is not None:
            network.head.start_at(quantiles)
        states = None if checkpoints is None else states_of(design, checkpoints)
        records.append(
            train(
                network,
                windows,
                design.training,
                seed=design.seed_of(member),
                progress=progress and shared_progress(progress, member, members),
                checkpoints=states and states.member(member),
            )
        )
        if design.network.linear_skip:
            settle(network, windows, spread(split.validation, design.training.validation_windows))
        networks.append(network)
    start = windows.corrected
    if design.network.linear_skip:
        start = refit_start(start, tape, size, h, windows.origins())
    if checkpoints is not None:
        states_of(design, checkpoints).clear()
    links = None if windows.peers is None else windows.peers.places.links
    until, interval = str(panel["ds"].max().isoformat()), str(panel["interval"].iloc[0])
    return Fitted(tuple(networks), start, past, known, until, tuple(records), links, interval)


def error_quantiles(windows: TrainingWindows, split: Split) -> Tensor:
    """Quantiles of the start's scaled errors on the training windows.

    Returns
    -------
    Tensor, shape (h, len(QUANTILES))
    """
    errors = []
    chosen = spread(split.train, _WINDOWS_FOR_QUANTILES)
    for part in np.array_split(chosen, max(1, len(chosen) // 256)):
        batch = windows.batch(part)
        errors.append((batch.target - batch.inputs.start).double().numpy())
    quantiles = np.quantile(np.concatenate(errors), QUANTILES, axis=0).T
    return torch.from_numpy(np.ascontiguousarray(quantiles)).float()


def shared_progress(progress: Progress, member: int, members: int) -> Progress:
    """Tell of one member's steps as a part of all members'."""

    def tell(step: int, most: int) -> None:
        progress(member * most + step, members * most)

    return tell
