"""Panels to forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison import Shape, Task
from fints.studies.cross_asset.panels import Led
from fints.studies.sources import Sample

if TYPE_CHECKING:
    from fints.plan import FrequencyPlan

PANEL = Shape(trained=600, total=1100, input_size=60, h=5, horizon=20, stride=5)
"""What the leader tells fades within the trained horizon; beyond it the cycle is left."""

LED = Task("led", "a panel in which one series leads three others by two bars", Led(led=True), PANEL)
APART = Task("apart", "a panel in which nothing crosses", Led(led=False), PANEL)


def told(task: Task, _seed: int) -> FrequencyPlan:
    """Return the true periods: of real bars on the calendar, where a week is a week, else on the session clock."""
    return task.source.plan("calendar" if isinstance(task.source, Sample) else "session")
