"""The study: three ways to turn the keys of T-RoPE, trained from ordinary first weights and from opposite ones."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, HSTU, WHOLE, Arm, Block, Comparison, Pair, Scope, Shape, Task
from fints.studies.comparison.sample import SAMPLE
from fints.studies.sources import Cycles, RegimeChange
from fints.studies.transposed_key.chapters import chapters
from fints.studies.transposed_key.sign import SignTrial
from fints.studies.transposed_key.verdicts import SEPARATE, SHARED, SHARED_TRANSPOSED, STANDARD, verdict
from fints.studies.transposed_key.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Budget

TWO = Task("two", "two cycles of 21.3 and 9.4 bars", Cycles((21.3, 9.4), (1.0, 0.7), sigma=0.3), Shape())
CHANGE = Task(
    "change",
    "a cycle whose period goes from 24 to 19 bars at a date",
    RegimeChange(24.0, 19.0, 240, sigma=0.3),
    Shape(),
)

ARMS = (
    Arm(SEPARATE, {"kind": "t_rope"}),
    Arm(STANDARD, {"kind": "t_rope", "non_stationary": False}),
    Arm(SHARED, {"kind": "t_rope", "non_stationary": False, "shared": True, "unit": 1e9}),
    Arm(SHARED_TRANSPOSED, {"kind": "t_rope", "shared": True}),
)
THREE = ARMS[:3]
"""Without shared coefficients and a transposed key, whose scores depend on the sum of two dates."""

PAIRS = (Pair(SEPARATE, STANDARD), Pair(SEPARATE, SHARED), Pair(STANDARD, SHARED), Pair(SHARED_TRANSPOSED, SHARED))

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope(
            (Block((TWO, CHANGE), ARMS, (BARE,), seeds=10),), extra=tuple(SignTrial(TWO, seed) for seed in range(3))
        ),
        "full": Scope(
            (
                Block((TWO,), ARMS, (BARE,), seeds=20),
                Block((CHANGE,), ARMS, (BARE,), seeds=10),
                Block((TWO,), THREE, (HSTU,), seeds=10),
                Block((TWO,), THREE, (WHOLE,), seeds=5),
                Block((SAMPLE,), THREE, (BARE, WHOLE), seeds=5),
            ),
            extra=tuple(SignTrial(task, seed) for task in (TWO, CHANGE) for seed in range(5)),
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def transposed_key() -> Comparison:
    """Return the study."""
    return Comparison(
        name="transposed-key",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=chapters,
        drawn=((TWO.name, BARE.name), (CHANGE.name, BARE.name)),
    )
