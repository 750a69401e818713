"""What is compared: where frequencies start, and whether and how fast training moves them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fints.plan import FrequencyPlan
from fints.studies.comparison import Arm
from fints.studies.sources import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.plan import Clock
    from fints.studies.comparison import Task

FIXED, PRIOR, FAST = "fixed", "prior, learned", "prior, learned fast"
ALL_PLANES = "fixed, all planes"
COSINE, COSINE_LEARNED = "cosine, fixed", "cosine, learned"
ZERO, ZERO_FAST = "zero, learned", "zero, learned fast"
RANDOM, RANDOM_FAST = "random, fixed", "random, learned fast"
WRONG, WRONG_FAST = "5 % wrong, fixed", "5 % wrong, learned fast"
T_ROPE, BANK, BANK_FAST = "T-RoPE", "bank, fixed", "bank, learned fast"
ROPE = "rope"

SLOW_UNIT, FAST_UNIT = 100.0, 1.0
"""Bars; the optimiser moves a frequency by about its rate, in radians per unit, in a step."""

STANDING, SHORT = 1e9, 2.0
"""Lengths of Gaussian kernels in bars: frequencies of the first are zero, those of the second are spread over 0.08
turns per bar."""

ERROR = 1.05
"""Times the true periods, what the arms that are told wrong are told."""

SECONDS_PER_DAY = 86_400.0

FIRST_BAR, FIRST_REAL_BAR = 1_577_836_800.0, 915_408_000.0
"""Unix seconds, 2020-01-01 of planted series and 1999-01-04 of the sample: where the fast bank has its epoch."""


def clock_of(task: Task) -> Clock:
    """Return the clock of the true periods: of real bars the calendar, where a week is a week."""
    return "calendar" if isinstance(task.source, Sample) else "session"


def told(task: Task, _seed: int) -> FrequencyPlan:
    """Return the true periods."""
    return task.source.plan(clock_of(task))


def told_wrong(task: Task, seed: int) -> FrequencyPlan:
    """Return periods that are all too long by the same share."""
    return FrequencyPlan(tuple(replace(cycle, period=ERROR * cycle.period) for cycle in told(task, seed).cycles))


def _clock(**options: object) -> Callable[[Task], dict[str, Any]]:
    """Spell ClockRoPE of a task's cycles, all of them if there are several."""
    return lambda task: {"kind": "clock", "mixture": len(told(task, 0).cycles) > 1, **options}


def _drawn(length: float, **options: object) -> Callable[[Task], dict[str, Any]]:
    """Spell planes that start at frequencies of a Gaussian law that knows no period, as many as ClockRoPE draws."""
    kernel = {"kind": "gaussian", "length": length}
    return lambda task: {"kind": "rfr", "kernel": kernel, "share": 0.5, "clock": clock_of(task), **options}


def _bank(**options: object) -> Callable[[Task], dict[str, Any]]:
    """Spell T-RoPE's bank without its dependence on the date: one α for queries and keys, and a standard key.

    The epoch, which changes no score then, is at the first bar, and α moves as fast as in the other fast arms.
    """

    def spelled(task: Task) -> dict[str, Any]:
        epoch = FIRST_REAL_BAR if isinstance(task.source, Sample) else FIRST_BAR
        relative = {"shared": True, "non_stationary": False, "epoch": epoch, "unit": FAST_UNIT * SECONDS_PER_DAY}
        return {"kind": "t_rope", **relative, **options}

    return spelled


MAIN = (
    Arm(FIXED, _clock(), plan=told),
    Arm(PRIOR, _clock(learn=True, unit=SLOW_UNIT), plan=told),
    Arm(FAST, _clock(learn=True, unit=FAST_UNIT), plan=told),
    Arm(ZERO_FAST, _drawn(STANDING, learn=True, unit=FAST_UNIT), plan=told),
    Arm(RANDOM_FAST, _drawn(SHORT, learn=True, unit=FAST_UNIT), plan=told),
    Arm(BANK_FAST, _bank(), plan=told),
    Arm(T_ROPE, {"kind": "t_rope"}, plan=told),
    Arm(ROPE, "rope", plan=told),
    Arm(BANK, _bank(learnable=False), plan=told),
    Arm(RANDOM, _drawn(SHORT), plan=told),
)
"""Arms of both budgets; figures show the first ones."""

FURTHER = (
    Arm(ALL_PLANES, _clock(share=1.0), plan=told),
    Arm(ZERO, _drawn(STANDING, learn=True, unit=SLOW_UNIT), plan=told),
    Arm(COSINE, _clock(law="cosine-fold"), plan=told),
    Arm(COSINE_LEARNED, _clock(law="cosine-fold", learn=True, unit=SLOW_UNIT), plan=told),
    Arm(WRONG, _clock(), plan=told_wrong),
    Arm(WRONG_FAST, _clock(learn=True, unit=FAST_UNIT), plan=told_wrong),
)
"""Arms of the full budget alone."""

BY_NAME = {arm.name: arm for arm in (*MAIN, *FURTHER)}
