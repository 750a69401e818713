"""The study: where the attention of RoPE, ClockRoPE and both looks."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, WHOLE, Arm, Block, Comparison, Pair, Scope
from fints.studies.comparison.sample import SAMPLE
from fints.studies.looking_back.chapters import attention_chapters
from fints.studies.looking_back.tasks import ECHOES, RHYTHMS, told
from fints.studies.looking_back.trial import AttentionTrial
from fints.studies.looking_back.verdicts import BOTH_FOLD, BOTH_SYM, CLOCK_FOLD, CLOCK_SYM, CYCLE, ROPE, verdict
from fints.studies.looking_back.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.comparison import Task
    from fints.studies.study import Budget


def _clock(name: str, law: str, share: float) -> Arm:
    """ClockRoPE on a share of the planes, told all cycles; the other planes keep RoPE."""

    def spelled(task: Task) -> dict[str, object]:
        several = len(told(task, 0).cycles) > 1
        return {"kind": "clock", "law": law, "share": share, "mixture": several}

    return Arm(name, spelled, plan=told)


ROPE_ARM, CYCLE_ARM = Arm(ROPE, "rope", plan=told), Arm(CYCLE, "cycle", plan=told)
BOTH = (_clock(BOTH_FOLD, "gaussian-fold", 0.5), _clock(BOTH_SYM, "gaussian-sym", 0.5))
ALONE = (_clock(CLOCK_FOLD, "gaussian-fold", 1.0), _clock(CLOCK_SYM, "gaussian-sym", 1.0))
ARMS = (ROPE_ARM, *BOTH, *ALONE, CYCLE_ARM)

PAIRS = (
    *(Pair(first, ROPE, bands=("all",)) for first in (BOTH_FOLD, CLOCK_FOLD, CYCLE)),
    Pair(BOTH_SYM, BOTH_FOLD, bands=("all",)),
    Pair(CLOCK_SYM, CLOCK_FOLD, bands=("all",)),
)

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope(
            (
                Block((ECHOES, RHYTHMS), ARMS, (BARE,), seeds=5),
                Block((SAMPLE,), (ROPE_ARM, BOTH[0]), (BARE,), seeds=3),
            )
        ),
        "full": Scope(
            (
                Block((ECHOES, RHYTHMS), ARMS, (BARE,), seeds=12),
                Block((ECHOES, RHYTHMS), (ROPE_ARM, BOTH[0], CYCLE_ARM), (WHOLE,), seeds=8),
                Block((SAMPLE,), (ROPE_ARM, *BOTH, CYCLE_ARM), (BARE, WHOLE), seeds=5),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def looking_back() -> Comparison:
    """Return the study."""
    return Comparison(
        name="looking-back",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=attention_chapters,
        drawn=((ECHOES.name, BARE.name),),
        unit=AttentionTrial,
    )
