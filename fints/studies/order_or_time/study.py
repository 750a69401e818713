"""The study: encodings of order, of time and of both, where order and time are the same and where they are not."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, WHOLE, Arm, Block, Comparison, Pair, Scope, Shape, Task
from fints.studies.comparison.sample import SAMPLE
from fints.studies.order_or_time.verdicts import verdict
from fints.studies.order_or_time.words import WORDS
from fints.studies.traded import DAY_HOURS, Traded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Budget

LONG = Shape(trained=1920, total=2400, input_size=72, h=24, horizon=72, stride=16)

EVEN = Task(
    "even",
    "even bars (a cycle of 13 days, a bar every day)",
    Traded(by_time=(13 * DAY_HOURS,), exchange="24/7"),
    LONG,
)
ORDER = Task("order", "New York sessions with a cycle of 9 sessions", Traded(by_order=(9.0,)), LONG)
TIME = Task("time", "New York sessions with a cycle of 11 days", Traded(by_time=(11 * DAY_HOURS,)), LONG)
BOTH = Task(
    "both",
    "New York sessions with a cycle of 9 sessions and one of 17 days",
    Traded(by_order=(9.0,), by_time=(17 * DAY_HOURS,)),
    LONG,
)

T_ROPE_ORDER = {
    "kind": "split",
    "parts": [{"encoding": {"kind": "t_rope"}, "share": 0.5}, {"encoding": {"kind": "rope"}, "share": 0.5}],
}
"""T-RoPE on half of the planes and index RoPE on the others: it knows order, too."""

NONE, ROPE, T_ROPE = Arm("none", "none"), Arm("rope", "rope"), Arm("t_rope", "t_rope")
BESIDE = Arm("t_rope + rope", T_ROPE_ORDER)
DISTANCE = Arm("t_rope, distance", {"kind": "t_rope", "non_stationary": False, "shared": True, "unit": 1e9})
EARLY = Arm("to_rope, early", "to_rope")
PLANES = Arm("to_rope, planes", {"kind": "to_rope", "fusion": "planes"})
HEADS = Arm("to_rope, heads", {"kind": "to_rope", "fusion": "heads"})

LONGER = Arm("t_rope, 4 × steps", "t_rope", training={"max_steps": 1600})

ARMS = (NONE, ROPE, EARLY, PLANES, HEADS, T_ROPE, BESIDE, DISTANCE)

PAIRS = (
    Pair(T_ROPE.name, ROPE.name),
    Pair(T_ROPE.name, PLANES.name),
    Pair(BESIDE.name, PLANES.name),
    Pair(PLANES.name, ROPE.name),
    Pair(EARLY.name, PLANES.name),
    Pair(LONGER.name, ROPE.name),
)

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope((Block((ORDER, TIME), (ROPE, EARLY, PLANES, T_ROPE, BESIDE), (BARE,), seeds=6),)),
        "full": Scope(
            (
                Block((ORDER, TIME), ARMS, (BARE,), seeds=6),
                Block((EVEN, BOTH), (ROPE, EARLY, PLANES, T_ROPE, BESIDE), (BARE,), seeds=6),
                Block((ORDER, TIME), (LONGER,), (BARE,), seeds=5),
                Block((SAMPLE,), (ROPE, PLANES, T_ROPE), (BARE, WHOLE), seeds=5),
                Block((TIME,), (ROPE, PLANES, T_ROPE), (WHOLE,), seeds=5),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def order_or_time() -> Comparison:
    """Return the study."""
    return Comparison(
        name="order-or-time",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        drawn=((ORDER.name, BARE.name), (TIME.name, BARE.name)),
        forest="beyond",
    )
