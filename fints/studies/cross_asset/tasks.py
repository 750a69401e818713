"""Panels to forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison import Recipe, Shape, Task
from fints.studies.cross_asset.panels import Led
from fints.studies.sources import Sample
from fints.transformer import NetworkConfig, TrainingConfig

if TYPE_CHECKING:
    from fints.plan import FrequencyPlan

PANEL = Shape(trained=600, total=1100, input_size=60, h=5, horizon=20, stride=5)
"""What the leader tells fades within the trained horizon; beyond it the cycle is left."""

LED = Task("led", "a panel in which one series leads three others by two bars", Led(led=True), PANEL)
APART = Task("apart", "a panel in which nothing crosses", Led(led=False), PANEL)
SAMPLE = Task(
    "sample",
    "daily log volume of two indices",
    Sample(),
    Shape(trained=4000, total=5031, input_size=126, h=20, horizon=40, stride=20),
    Recipe(
        NetworkConfig(dim=32, n_layers=2, n_heads=2, dropout=0.1, companions=False),
        TrainingConfig(max_steps=300, batch_size=16, learning_rate=4e-3, weight_decay=1e-2),
    ),
)


def told(task: Task, _seed: int) -> FrequencyPlan:
    """Return the true periods: of real bars on the calendar, where a week is a week, else on the session clock."""
    return task.source.plan("calendar" if isinstance(task.source, Sample) else "session")
