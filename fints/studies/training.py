"""Training to the last step on all windows: the product's task and data, without a validation tail.

`fints.transformer.training.train` keeps the latest bars for early stopping, with a purge between. The windows here
leave no room for that: two disjoint horizons of 40 bars after a context of 120 take all 200 bars. So nothing stops
early, and the averaged weights of the last step are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from fints.transformer import CycleTransformer, NetworkConfig

LAST = 50
"""Steps over which the loss at the end is averaged."""


def require_no_peers(network: NetworkConfig) -> None:
    """Refuse a network that attends to other series: windows cut one by one hold none, so it would do without.

    Raises
    ------
    ConfigError
    """
    if network.cross_asset:
        raise ConfigError(
            "cross_asset: the windows of this study hold one series each, and attention to the others would be left out"
            " unsaid; switch it off, or use a unit of work that knows of them (fints.studies.cross_asset)"
        )


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
    ConfigError
        If the network attends to other series, which these windows do not hold.
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
    from fints.transformer.training import Learner, TrainingWindows, batches

    design = model.design
    require_no_peers(design.network)
    panel = validate_panel(panel)
    windows = TrainingWindows(Tape.from_panel(panel, (), ()), design.input_size, design.h)
    origins = windows.origins()
    if len(origins) == 0:
        raise SeriesError(f"{len(panel)} bars hold no window of {design.input_size} + {design.h}; give more bars")
    network = design.network_for(0, 0)
    order = batches(origins, design.training, np.random.default_rng(design.random_seed))
    learner = Learner(network, design.training, design.random_seed)
    with torch.random.fork_rng(devices=[]):
        losses = [learner.step(windows.batch(chosen)) for chosen in order]
    network.load_state_dict(learner.averaged.state_dict())
    model.fitted = Fitted((network.eval(),), windows.corrected, (), (), str(panel["ds"].max().isoformat()))
    return float(np.mean(losses[-LAST:]))
