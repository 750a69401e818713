"""The study: four sampling laws of ClockRoPE on routines that have a direction and on one that has none."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import (
    BARE,
    HSTU,
    WHOLE,
    Arm,
    Block,
    Comparison,
    Pair,
    Scope,
    Shape,
    Task,
)
from fints.studies.comparison.sample import SAMPLE
from fints.studies.fold.mirror import MirrorTrial
from fints.studies.fold.verdicts import mirror_chapter, verdict
from fints.studies.fold.words import WORDS
from fints.studies.sources import Directed, Undirected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.plan import FrequencyPlan
    from fints.studies.study import Budget

COSINE_SYM, COSINE_FOLD = "cosine-sym", "cosine-fold"
GAUSSIAN_SYM, GAUSSIAN_FOLD = "gaussian-sym", "gaussian-fold"

ROUTINE = Shape(trained=2400, total=3600, input_size=72, h=12, horizon=24, stride=12)
"""No further is asked than causes are known; of 960 trained bars networks learn the noise in the place of the lag."""

ON_TIME = Task("directed", "a directed routine (echo after one period)", Directed(24, 24), ROUTINE)
OFF_PHASE = Task("off-phase", "a directed routine (echo two bars after one period)", Directed(24, 26), ROUTINE)
UNDIRECTED = Task("undirected", "an undirected routine", Undirected(24), ROUTINE)


def told(task: Task, _seed: int) -> FrequencyPlan:
    """Return the true periods: of real bars on the calendar, where a week is a week, else on the session clock."""
    return task.source.plan("calendar" if task is SAMPLE else "session")


LAWS = tuple(
    Arm(name, {"kind": "clock", "law": name}, plan=told)
    for name in (COSINE_SYM, COSINE_FOLD, GAUSSIAN_SYM, GAUSSIAN_FOLD)
)

PAIRS = (Pair(COSINE_FOLD, COSINE_SYM), Pair(GAUSSIAN_FOLD, GAUSSIAN_SYM))

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope(
            (Block((ON_TIME, UNDIRECTED), LAWS, (BARE,), seeds=5), Block((OFF_PHASE,), LAWS, (BARE,), seeds=3)),
            extra=tuple(MirrorTrial(ON_TIME, law, 0) for law in (COSINE_SYM, GAUSSIAN_SYM)),
        ),
        "full": Scope(
            (
                Block((ON_TIME, OFF_PHASE, UNDIRECTED), LAWS, (BARE, HSTU), seeds=10),
                Block((SAMPLE,), LAWS, (BARE, WHOLE), seeds=5),
            ),
            extra=tuple(
                MirrorTrial(task, law, seed)
                for task in (ON_TIME, UNDIRECTED)
                for law in (COSINE_SYM, GAUSSIAN_SYM)
                for seed in range(3)
            ),
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def fold_or_symmetric() -> Comparison:
    """Return the study."""
    return Comparison(
        name="fold-or-symmetric",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=mirror_chapter,
        drawn=((ON_TIME.name, BARE.name), (UNDIRECTED.name, BARE.name)),
    )
