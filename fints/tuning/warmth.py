"""Points of an earlier study, last week's say, that a new one tries first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fints.tuning.candidate import cycle_names
from fints.tuning.space import Point
from fints.tuning.summary import best_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.tuning.space import SearchSpace
    from fints.tuning.summary import TrialSummary

POINTS = 5

WARM = "warm start"


def warm_points(space: SearchSpace, earlier: Sequence[TrialSummary], most: int = POINTS) -> tuple[Point, ...]:
    """Carry the best trials of an earlier study over.

    Periods are carried over, not their distance from the anchor: this week's anchors may be others. Each cycle takes
    the nearest period of its clock that the trial came to, if that is within its search.

    Parameters
    ----------
    space : SearchSpace
        Of the new study.
    earlier : sequence of TrialSummary
    most : int

    Returns
    -------
    tuple of Point
    """
    points = []
    for rank, trial in enumerate(best_first(earlier)[:most], start=1):
        params = {name: value for name, value in trial.params.items() if not name.startswith("delta[")}
        if trial.candidate is not None and space.config.periods == "anchors":
            params |= _deltas(space, trial)
        points.append(Point(f"{WARM} {rank}", params, trial.fixed))
    return tuple(points)


def _deltas(space: SearchSpace, trial: TrialSummary) -> dict[str, object]:
    assert trial.candidate is not None
    deltas: dict[str, object] = {}
    for name, anchor in zip(cycle_names(space.plan), space.plan, strict=True):
        moved = [math.log(c.period / anchor.period) for c in trial.candidate.plan if c.clock == anchor.clock]
        nearest = min(moved, key=abs, default=math.inf)
        if abs(nearest) <= space.width(anchor, name):
            deltas[f"delta[{name}]"] = nearest
    return deltas
