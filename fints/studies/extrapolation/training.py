"""Training to the last step on all windows: the product's task and data, without a validation tail.

`fints.transformer.training.train` keeps the latest bars for early stopping, with a purge between. The windows here
leave no room for that: two disjoint horizons of 40 bars after a context of 120 take all 200 bars. So nothing stops
early, and the averaged weights of the last step are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from fints.transformer import CycleTransformer
    from fints.transformer.training import Batch, TrainingTask

LAST = 50
"""Steps over which the loss at the end is averaged."""


def train_to_the_end(model: CycleTransformer, panel: pd.DataFrame) -> float:
    """Fit a model in place, on every window of a panel without covariates.

    Parameters
    ----------
    model : CycleTransformer
        Its settings say how; those of validation are not used.
    panel : pandas.DataFrame
        Schema ``panel``.

    Returns
    -------
    float
        Mean loss of the last `LAST` steps, in units of a window's spread.

    Raises
    ------
    SeriesError
        If no window can be cut.
    TrainingError
        If the loss is not a number.
    """
    import torch

    from fints.errors import SeriesError
    from fints.series import validate_panel
    from fints.series.windows import Tape
    from fints.transformer.design import Fitted
    from fints.transformer.training import TrainingTask, WindowDataset, batches

    design = model.design
    panel = validate_panel(panel)
    tape = Tape.from_panel(panel, (), ())
    origins = tape.origins(design.input_size, design.h)
    if len(origins) == 0:
        raise SeriesError(f"{len(panel)} bars hold no window of {design.input_size} + {design.h}; give more bars")
    network = design.network_for(0, 0)
    order = batches(origins, design.training, np.random.default_rng(design.random_seed))
    data = WindowDataset(tape, order, design.input_size, design.h)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(design.random_seed)
        losses = _minimise(TrainingTask(network, design.training), data)
    model.fitted = Fitted(network.eval(), (), (), str(panel["ds"].max().isoformat()))
    return float(np.mean(losses[-LAST:]))


def _minimise(task: TrainingTask, data: Iterable[Batch]) -> list[float]:
    """Take one step per batch, and leave the averaged weights in the network."""
    import torch
    from torch.nn.utils import clip_grad_norm_
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    network, config = task.network.train(), task.config
    chosen: dict[str, Any] = dict(task.configure_optimizers())
    optimizer, scheduler = chosen["optimizer"], chosen["lr_scheduler"]["scheduler"]
    average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(config.average))  # type: ignore[no-untyped-call]
    losses = []
    for index, batch in enumerate(data):
        loss = task.training_step(batch, index)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(network.parameters(), config.clip)
        optimizer.step()
        scheduler.step()
        average.update_parameters(network)
        losses.append(loss.item())
    with torch.no_grad():
        for weight, averaged in zip(network.parameters(), average.module.parameters(), strict=True):
            weight.copy_(averaged)
    return losses
