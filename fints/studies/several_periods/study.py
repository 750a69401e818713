"""The study: one law of frequencies over all periods, or planes or heads of its own for each."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, WHOLE, Block, Comparison, Pair, Recipe, Scope, Shape, Task
from fints.studies.comparison.sample import SAMPLE as EVERY
from fints.studies.comparison.task import synthetic_training
from fints.studies.kernel_width.routines import Routines
from fints.studies.several_periods.arms import ALONE, ARMS, CYCLE, FEATURE, HEAD, MIXTURE
from fints.studies.several_periods.chapters import chapters
from fints.studies.several_periods.verdicts import verdict
from fints.studies.several_periods.words import WORDS
from fints.studies.sources import Cycles
from fints.transformer import NetworkConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Budget

NOISE = 0.3

TRAINING = synthetic_training(max_steps=300)

SHAPE = Shape(trained=480, total=960, input_size=72, h=24, horizon=72, stride=16)

TWO_HEADS = Recipe(NetworkConfig(dim=32, n_layers=2, n_heads=2, dropout=0.0, companions=False), TRAINING)
"""A head has 8 planes, 4 of them for the cycles: 2 for each of two periods."""

THREE_HEADS = Recipe(NetworkConfig(dim=36, n_layers=2, n_heads=3, dropout=0.0, companions=False), TRAINING)
"""A head has 6 planes, 3 of them for the cycles: 1 for each of three periods."""

TWO_WHOLE = Task(
    "two-commensurate", "two periods of 8 and 24 bars", Cycles((8.0, 24.0), (1.0, 0.8), NOISE), SHAPE, TWO_HEADS
)
TWO_BROKEN = Task(
    "two-incommensurate", "two periods of 8 and 21.7 bars", Cycles((8.0, 21.7), (1.0, 0.8), NOISE), SHAPE, TWO_HEADS
)
THREE_WHOLE = Task(
    "three-commensurate",
    "three periods of 5, 15 and 60 bars",
    Cycles((5.0, 15.0, 60.0), (1.0, 0.8, 0.6), NOISE),
    SHAPE,
    THREE_HEADS,
)
THREE_BROKEN = Task(
    "three-incommensurate",
    "three periods of 5.3, 13.7 and 36.1 bars",
    Cycles((5.3, 13.7, 36.1), (1.0, 0.8, 0.6), NOISE),
    SHAPE,
    THREE_HEADS,
)
SHAPED = Task(
    "two-routines",
    "two routines of 8 and 21.7 bars, with shapes of their own",
    Routines((8.0, 21.7), (1.0, 2.0), 0.5, series=64),
    Shape(trained=240, total=312, input_size=72, h=24, horizon=72, stride=8),
    TWO_HEADS,
)
SAMPLE = replace(
    EVERY,
    title="daily log volume of two indices, told the week and the quarter",
    shape=replace(EVERY.shape, stride=40),
    recipe=replace(EVERY.recipe, training=EVERY.recipe.training.model_copy(update={"max_steps": 200})),
)

SINES = (TWO_WHOLE, TWO_BROKEN, THREE_WHOLE, THREE_BROKEN)

PAIRS = (
    Pair(MIXTURE, FEATURE, bands=("beyond",)),
    Pair(MIXTURE, HEAD, bands=("beyond",)),
    Pair(FEATURE, HEAD, bands=("beyond",)),
    Pair(ALONE, MIXTURE, bands=("beyond",), modes=(BARE.name,)),
    Pair(CYCLE, MIXTURE, bands=("beyond",), modes=(BARE.name,)),
)

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope(
            (
                Block((TWO_BROKEN, THREE_WHOLE), ARMS, (BARE,), seeds=6),
                Block((TWO_WHOLE,), ARMS[:3], (BARE,), seeds=6),
            )
        ),
        "full": Scope(
            (
                Block((*SINES, SHAPED), ARMS, (BARE,), seeds=10),
                Block((TWO_BROKEN, THREE_WHOLE), ARMS[:3], (WHOLE,), seeds=5),
                Block((SAMPLE,), ARMS[:3], (BARE, WHOLE), seeds=5),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def several_periods() -> Comparison:
    """Return the study."""
    return Comparison(
        name="several-periods",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=chapters,
        drawn=((TWO_BROKEN.name, BARE.name), (THREE_WHOLE.name, BARE.name)),
    )
