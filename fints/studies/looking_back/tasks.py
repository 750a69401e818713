"""What is forecast, and how far back attention is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison import Shape, Task
from fints.studies.looking_back.distance import Peak, Ruler, ring
from fints.studies.looking_back.routines import Echoes, Rhythms
from fints.studies.sources import Sample

if TYPE_CHECKING:
    from fints.plan import FrequencyPlan

DAY, WEEK = 7, 35
"""Bars: sessions of seven hours, five of them a week, as an exchange has them."""

ROUTINE = Shape(trained=960, total=1600, input_size=84, h=6, horizon=7, stride=7)
"""More than two weeks of context; nothing is asked further ahead than a day, up to which the echoes are known."""

ECHOES = Task("echoes", "a directed routine (echoes after a day and a week)", Echoes(DAY, WEEK), ROUTINE)
RHYTHMS = Task("rhythms", "an undirected routine (profiles of day and week)", Rhythms(DAY, WEEK), ROUTINE)

BARS = Ruler(
    clock="index",
    reach=80,
    steps=4,
    peaks=(
        Peak("one day back", DAY, ring(DAY, 3), "the six bars around"),
        Peak("one week back", WEEK, ring(WEEK, DAY - 1), "the twelve bars around"),
        Peak("one week against six and four days back", WEEK, (WEEK - DAY, WEEK + DAY), "the days before and after"),
    ),
)
"""A bar four steps ahead has its nearest observed bar four bars back, where the surroundings of a day begin."""

DAYS = Ruler(
    clock="calendar",
    reach=120,
    steps=1,
    peaks=(
        Peak("one week back", 7, ring(7, 3), "the six days around"),
        Peak("two weeks back", 14, ring(14, 3), "the six days around"),
    ),
)


def ruler(task: Task) -> Ruler:
    """Return how attention is read: by bars of a routine, by calendar days of real bars."""
    return DAYS if isinstance(task.source, Sample) else BARS


def told(task: Task, _seed: int) -> FrequencyPlan:
    """Return the true periods: of real bars on the calendar, where a week is a week, else on the session clock."""
    return task.source.plan("calendar" if isinstance(task.source, Sample) else "session")
