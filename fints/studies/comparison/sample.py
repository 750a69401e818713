"""The embedded sample as a task, the same in every study that asks real bars."""

from __future__ import annotations

from fints.studies.comparison.task import Recipe, Shape, Task
from fints.studies.sources import Sample
from fints.transformer import NetworkConfig, TrainingConfig

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
