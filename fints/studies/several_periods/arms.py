"""The arms: ClockRoPE for several periods in three ways, and what they are held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.plan import FrequencyPlan
from fints.studies.comparison import Arm
from fints.studies.sources import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fints.studies.comparison import Task

MIXTURE, FEATURE, HEAD = "mixture", "split by feature", "split by head"
ALONE, CYCLE = "strongest alone", "cycle"

WAYS = (MIXTURE, FEATURE, HEAD)
"""To share planes out among periods."""

SHARE = 0.5
"""Of the planes, for the cycles; the others keep the fast end of the rope schedule."""

SAME_ROPE = 10_000.0 ** (1 - SHARE)
"""Base with which rope on a part of a head has the angles that `clock` leaves it in a whole one."""

WEEK_AND_QUARTER = FrequencyPlan.from_periods([7.0, 365.25 / 4], "calendar")


def told(task: Task, _seed: int = 0) -> FrequencyPlan:
    """Return the periods of a task, all of them equally strong: of real bars the week and the quarter, in days."""
    return WEEK_AND_QUARTER if isinstance(task.source, Sample) else task.source.plan("session")


def by_feature(task: Task) -> Mapping[str, Any]:
    """Give every period planes of its own in each head, and rope the others."""
    parts = _parts(task, share=1.0)
    rest = {"share": 1 - SHARE, "encoding": {"kind": "rope", "base": SAME_ROPE}}
    return {
        "kind": "split",
        "by": "feature",
        "parts": [rest, *({"share": SHARE / len(parts), "encoding": part} for part in parts)],
    }


def by_head(task: Task) -> Mapping[str, Any]:
    """Give every period heads of its own, which share their planes with rope."""
    parts = _parts(task, share=SHARE)
    return {
        "kind": "split",
        "by": "head",
        "parts": [{"share": 1 / len(parts), "encoding": part} for part in parts],
    }


def _parts(task: Task, share: float) -> list[dict[str, Any]]:
    return [
        {"kind": "clock", "period": cycle.period, "clock": cycle.clock, "share": share} for cycle in told(task).cycles
    ]


ARMS = (
    Arm(MIXTURE, {"kind": "clock", "mixture": True, "share": SHARE}, plan=told),
    Arm(FEATURE, by_feature, plan=told),
    Arm(HEAD, by_head, plan=told),
    Arm(ALONE, {"kind": "clock", "mixture": False, "share": SHARE}, plan=told),
    Arm(CYCLE, {"kind": "cycle", "share": SHARE}, plan=told),
)
