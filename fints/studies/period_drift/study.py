"""The study: how far training moves the periods of T-RoPE's planes, and where to."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fints.studies.comparison import BARE, WHOLE, Arm, Block, Comparison, Pair, Scope, Shape, Task
from fints.studies.comparison.sample import SAMPLE
from fints.studies.period_drift.drift_chapter import drift_chapter
from fints.studies.period_drift.raw import RawTrial
from fints.studies.period_drift.verdicts import verdict
from fints.studies.period_drift.words import WORDS
from fints.studies.sources import Cycles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Budget

LONG = Shape(trained=1920, total=2400, input_size=72, h=24, horizon=72, stride=16)

ONE = Task("one", "a cycle of 20 days", Cycles((20.0,), (1.0,), sigma=0.3), LONG)
TWO = Task("two", "cycles of 7 and 30.4 days", Cycles((7.0, 30.4), (1.0, 0.7), sigma=0.3), LONG)

DISTANCE: Mapping[str, Any] = {"kind": "t_rope", "non_stationary": False, "shared": True, "unit": 1e9}
"""T-RoPE whose scores depend on the time between bars alone, so that its periods have to tell the cycle."""

NEAR: Mapping[str, Any] = {"epoch": 1.6e9, "unit": 1e7}
"""Phases that count from 2020, and a rate that moves a period within the bars that training sees."""

FIXED = Arm("fixed", {"kind": "t_rope", "learnable": False})
DEFAULT = Arm("t_rope", "t_rope")
SLOW = Arm("rate × 1", "t_rope", training={"frequency_rate": 1.0})
NEARBY = Arm("near epoch", {"kind": "t_rope", **NEAR})
RAW = Arm("raw α", "t_rope", trial=RawTrial)
FIXED_DISTANCE = Arm("fixed, distance", {**DISTANCE, "learnable": False})
DEFAULT_DISTANCE = Arm("t_rope, distance", DISTANCE)
NEAR_DISTANCE = Arm("near epoch, distance", {**DISTANCE, **NEAR})

ARMS = (FIXED, DEFAULT, SLOW, NEARBY, RAW, FIXED_DISTANCE, DEFAULT_DISTANCE, NEAR_DISTANCE)

PAIRS = (
    Pair(DEFAULT.name, FIXED.name),
    Pair(SLOW.name, DEFAULT.name),
    Pair(RAW.name, DEFAULT.name),
    Pair(DEFAULT_DISTANCE.name, FIXED_DISTANCE.name),
    Pair(NEAR_DISTANCE.name, DEFAULT_DISTANCE.name),
)

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope((Block((ONE,), ARMS, (BARE,), seeds=8),)),
        "full": Scope(
            (
                Block((ONE, TWO), ARMS, (BARE,), seeds=10),
                Block((SAMPLE,), (FIXED, DEFAULT, RAW), (BARE, WHOLE), seeds=5),
                Block((ONE,), (FIXED, DEFAULT, RAW), (WHOLE,), seeds=5),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def period_drift() -> Comparison:
    """Return the study."""
    return Comparison(
        name="period-drift",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=drift_chapter,
        drawn=((ONE.name, BARE.name),),
        forest="beyond",
    )
