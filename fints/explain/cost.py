"""What it costs a model to lose one cycle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import EncodingError, PlanError
from fints.explain.coalition import Known
from fints.explain.dividing import crps, squared_errors
from fints.explain.explanation import WINDOWS, groups_in, held_out
from fints.explain.families import FAMILIES
from fints.explain.groups import find_group
from fints.explain.history import History
from fints.explain.measured import BlockedLosses
from fints.transformer.start.blocks import date_blocks
from fints.transformer.training.windows import spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from fints.explain.groups import Group
    from fints.explain.measured import Measured
    from fints.transformer import CycleTransformer


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model's loss grows by, as a part of it, when it loses a cycle.

    Parameters
    ----------
    group : Group
        What is tied to the cycle.
    still : mapping of str to Measured
        By loss, ``RMSE`` and ``CRPS``: its planes stand still, everything else is as it was.
    without : mapping of str to Measured
        Everything that is tied to it is taken out.
    """

    group: Group
    still: Mapping[str, Measured]
    without: Mapping[str, Measured]


def ablate(
    model: CycleTransformer,
    panel: pd.DataFrame,
    cycle: str,
    *,
    since: str | pd.Timestamp | None = None,
    windows: int = WINDOWS,
) -> Cost:
    """Measure what a cycle is worth to a fitted model.

    Parameters
    ----------
    model : CycleTransformer
    panel, since, windows
        See `fints.explain.explain`.
    cycle : str
        ``"weekly cycle"``, ``"week"``, or its period as the plan writes it: ``"7 days"``, ``"20 sessions"``.

    Raises
    ------
    PlanError
        If the model knows no such cycle.
    EncodingError
        If no plane of its encoding turns with it.
    NotFittedError, SchemaError, SeriesError
        See `fints.explain.explain`.
    """
    history = History.of(model, panel)
    # one cycle is asked about: none is merged with others, and without coalitions their number costs nothing
    groups = groups_in(history, most=len(model.plan.cycles) + len(FAMILIES) + 1)
    number = find_group(groups, cycle)
    group = groups[number]
    if not group.cycles:
        listed = ", ".join(map(str, model.plan.cycles))
        raise PlanError(
            f"the model's plan has no {group.name}; it has: {listed}. Of it the model knows {group.tied}, whose "
            "part `fints.explain.explain` tells"
        )
    if not group.planes:
        raise EncodingError(
            f"no plane of the encoding {model.design.encoding.kind!r} turns with the {group.name}, so none can be held "
            f"still; tied to it are: {group.tied}. What attention learned of it by other means cannot be told apart"
        )
    ablation, after = held_out(history, groups, since)
    chosen = spread(after, windows)
    cut, peers = history.windows(chosen), history.peers(chosen)
    left = Known(ablation.everything - {number})
    whole = replace(history.fitted, start=ablation.whole)
    forecasts = (
        whole.quantiles(cut, peers),
        replace(whole, networks=ablation.networks(left.groups)).quantiles(cut, peers),
        ablation.fitted(left).quantiles(ablation.seen(cut, left), peers),
    )
    assert cut.target is not None
    blocks = date_blocks(history.tape, chosen, model.h)
    squares = np.stack([squared_errors(quantiles, cut.target) for quantiles in forecasts])
    scores = np.stack([crps(quantiles, cut.target) for quantiles in forecasts])
    root = BlockedLosses(squares, blocks).measure(lambda means: _growth(np.sqrt(means)))
    score = BlockedLosses(scores, blocks).measure(_growth)
    still, without = ({"RMSE": root[i], "CRPS": score[i]} for i in range(2))
    return Cost(group, still, without)


def _growth(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative growth of the losses after the first."""
    growth: NDArray[np.float64] = losses[1:] / losses[0] - 1
    return growth
