"""The study: where frequencies come from, on planted cycles, a planted routine and real bars."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, WHOLE, Block, Comparison, Pair, Scope, Shape, Task
from fints.studies.comparison.sample import SAMPLE
from fints.studies.learned_or_fixed import arms
from fints.studies.learned_or_fixed.arms import BY_NAME, FURTHER, MAIN
from fints.studies.learned_or_fixed.chapters import chapters
from fints.studies.learned_or_fixed.verdicts import verdict
from fints.studies.learned_or_fixed.words import WORDS
from fints.studies.sources import Cycles, Undirected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Budget

TWO = Task("two", "two cycles of 21.3 and 9.4 bars", Cycles((21.3, 9.4), (1.0, 0.7), sigma=0.3), Shape())
ROUTINE = Task("routine", "a routine of 24 bars", Undirected(24), Shape())

PAIRS = tuple(
    Pair(first, second, bands=("all",))
    for first, second in (
        (arms.PRIOR, arms.FIXED),
        (arms.FAST, arms.FIXED),
        (arms.COSINE_LEARNED, arms.COSINE),
        (arms.ZERO_FAST, arms.FIXED),
        (arms.RANDOM_FAST, arms.FIXED),
        (arms.ZERO, arms.FIXED),
        (arms.ZERO_FAST, arms.FAST),
        (arms.RANDOM_FAST, arms.RANDOM),
        (arms.T_ROPE, arms.FIXED),
        (arms.BANK_FAST, arms.FIXED),
        (arms.BANK_FAST, arms.ALL_PLANES),
        (arms.BANK_FAST, arms.BANK),
        (arms.WRONG_FAST, arms.WRONG),
        (arms.FIXED, arms.ROPE),
        (arms.PRIOR, arms.ROPE),
        (arms.ZERO_FAST, arms.ROPE),
    )
)

SOME = tuple(BY_NAME[name] for name in (arms.FIXED, arms.PRIOR, arms.ZERO_FAST, arms.BANK_FAST))

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope((Block((TWO, ROUTINE), MAIN, (BARE,), seeds=5),)),
        "full": Scope(
            (
                Block((TWO, ROUTINE), MAIN, (BARE,), seeds=10),
                Block((TWO, ROUTINE), FURTHER, (BARE,), seeds=5),
                Block((SAMPLE,), SOME, (BARE,), seeds=5),
                Block((TWO,), SOME, (WHOLE,), seeds=5),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def learned_or_fixed() -> Comparison:
    """Return the study."""
    return Comparison(
        name="learned-or-fixed",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=chapters,
        drawn=((TWO.name, BARE.name), (ROUTINE.name, BARE.name)),
    )
