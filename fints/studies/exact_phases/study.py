"""The study: T-RoPE with exact phases and with those of plain float32 arithmetic."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fints.studies.comparison import BARE, WHOLE, Arm, Block, Comparison, Pair, Scope, Shape, Task
from fints.studies.exact_phases.naive import NaiveTrial
from fints.studies.exact_phases.noise_chapter import noise_chapter
from fints.studies.exact_phases.verdicts import verdict
from fints.studies.exact_phases.words import WORDS
from fints.studies.traded import DAY_HOURS, Traded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Budget

LONG = Shape(trained=1920, total=2400, input_size=72, h=24, horizon=72, stride=16)
"""Many dates, since T-RoPE learns few by heart."""

MINUTES = Task(
    "minutes",
    "minute bars at irregular times (a cycle of 48 minutes)",
    Traded(by_time=(0.8,), exchange="24/7", interval="1m", every=4),
    LONG,
)
DAYS = Task("days", "daily bars of New York (a cycle of 11 days)", Traded(by_time=(11 * DAY_HOURS,)), LONG)

DISTANCE: Mapping[str, Any] = {"kind": "t_rope", "non_stationary": False, "shared": True, "unit": 1e9}
"""T-RoPE whose scores depend on the time between bars alone."""

FAST: Mapping[str, Any] = {**DISTANCE, "beta_max": 100.0}
"""Every plane at β = 100 s."""

ARMS = (
    Arm("none", "none"),
    Arm("exact", "t_rope"),
    Arm("float32", "t_rope", trial=NaiveTrial),
    Arm("exact, distance", DISTANCE),
    Arm("float32, distance", DISTANCE, trial=NaiveTrial),
    Arm("exact, β = 100 s", FAST),
    Arm("float32, β = 100 s", FAST, trial=NaiveTrial),
)

PAIRS = (
    Pair("float32", "exact"),
    Pair("float32, distance", "exact, distance"),
    Pair("float32, β = 100 s", "exact, β = 100 s"),
    Pair("float32, β = 100 s", "none"),
)

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope((Block((MINUTES,), ARMS, (BARE,), seeds=5), Block((DAYS,), ARMS[1:], (BARE,), seeds=5))),
        "full": Scope(
            (
                Block((MINUTES, DAYS), ARMS, (BARE,), seeds=12),
                Block((DAYS,), ARMS[1:5], (WHOLE,), seeds=6),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def exact_phases() -> Comparison:
    """Return the study."""
    return Comparison(
        name="exact-phases",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=noise_chapter,
        drawn=((MINUTES.name, BARE.name),),
    )
