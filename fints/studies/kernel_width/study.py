"""The study: a grid of widths and truncations of ClockRoPE's kernel on routines of known width."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, WHOLE, Arm, Block, Comparison, Pair, Recipe, Scope, Shape, Task
from fints.studies.comparison.sample import SAMPLE as EVERY
from fints.studies.comparison.task import synthetic_training
from fints.studies.kernel_width.chapters import chapters
from fints.studies.kernel_width.grid import COSINE, DIVISORS, FULLEST, TRUNCATIONS, WIDTHS, arm_name
from fints.studies.kernel_width.routines import Routines
from fints.studies.kernel_width.verdicts import verdict
from fints.studies.kernel_width.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fints.plan import FrequencyPlan
    from fints.studies.study import Budget

PERIOD = 24.0
"""Bars: the hours of a day."""

NOISE = 1.0
"""As large as the routine, so that neighbouring hours have something to tell each other."""

DAYS = Shape(trained=360, total=408, input_size=72, h=24, horizon=48, stride=8)
"""Three days are read, one is trained for, two are asked for, once per series."""

RECIPE = Recipe(training=synthetic_training(max_steps=300))

TASKS = {
    name: Task(
        name,
        f"a routine of 24 hours and width T/{divisor:g}",
        Routines((PERIOD,), (PERIOD / divisor,), NOISE, series=64),
        DAYS,
        RECIPE,
    )
    for name, divisor in WIDTHS.items()
}

SAMPLE = replace(
    EVERY,
    title="daily log volume of two indices, with the week as the cycle",
    shape=replace(EVERY.shape, stride=40),
    recipe=replace(EVERY.recipe, training=EVERY.recipe.training.model_copy(update={"max_steps": 200})),
)


def told(task: Task, _seed: int) -> FrequencyPlan:
    """Return the true periods: of real bars on the calendar, where a week is a week, else on the session clock."""
    return task.source.plan("calendar" if task is SAMPLE else "session")


ARMS: Mapping[tuple[float, int], Arm] = MappingProxyType(
    {
        (divisor, s): Arm(
            arm_name(divisor, s),
            {"kind": "clock", "sigma_over_period": 1 / divisor, "truncation": s, "share": 1.0},
            plan=told,
        )
        for divisor in DIVISORS
        for s in TRUNCATIONS
    }
)
"""Every cell of the grid, by T/σ and s; all planes turn with the cycle."""

ONE_LINE = Arm(COSINE, {"kind": "clock", "law": "cosine-fold", "share": 1.0}, plan=told)
"""No harmonics at all: what the linear theory cannot do without them, the network may."""


def _arms(divisors: Iterable[float], *truncations: int) -> tuple[Arm, ...]:
    return tuple(ARMS[divisor, s] for divisor in divisors for s in truncations)


def _pairs() -> tuple[Pair, ...]:
    """Hold the ends of the grid, smaller truncations, the default and one line against the kernel that matches."""
    first, last, default = DIVISORS[0], DIVISORS[-1], 12.0
    wanted: list[tuple[str, str, str, tuple[str, ...]]] = []
    for name, own in WIDTHS.items():
        others = dict.fromkeys([(first, FULLEST), (last, FULLEST), (own, 2), (own, 6), (default, 6)])
        wanted += [(arm_name(*other), arm_name(own, FULLEST), name, (BARE.name,)) for other in others]
    for divisor in (first, last):
        wanted.append((arm_name(divisor, FULLEST), arm_name(default, FULLEST), "broad", (WHOLE.name,)))
        wanted.append((arm_name(divisor, 6), arm_name(default, 6), SAMPLE.name, (BARE.name, WHOLE.name)))
    wanted += [(COSINE, arm_name(own, FULLEST), name, (BARE.name,)) for name, own in WIDTHS.items()]
    return tuple(Pair(one, other, ("all",), (task,), modes) for one, other, task, modes in wanted)


_EVERY, _BROAD = tuple(TASKS.values()), (TASKS["broad"],)
_SWEEP = (*_arms(DIVISORS, FULLEST), ONE_LINE)

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope(
            (
                Block(_EVERY, _SWEEP, (BARE,), seeds=5),
                Block(_BROAD, _arms((12.0,), 2, 6), (BARE,), seeds=5),
            )
        ),
        "full": Scope(
            (
                Block(_EVERY, (*_arms(DIVISORS, *TRUNCATIONS), ONE_LINE), (BARE,), seeds=6),
                Block(_BROAD, _SWEEP, (WHOLE,), seeds=5),
                Block((SAMPLE,), _arms((DIVISORS[0], 12.0, DIVISORS[-1]), 6), (BARE, WHOLE), seeds=5),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def kernel_width() -> Comparison:
    """Return the study."""
    return Comparison(
        name="kernel-width",
        words=WORDS,
        pairs=_pairs(),
        scopes=SCOPES,
        verdict=verdict,
        chapters=chapters,
        drawn=(("broad", BARE.name),),
    )
