import numpy as np
import pytest

from fints.studies.comparison import BARE, Arm, Pair, Recipe, Results, Shape, Task
from fints.studies.sources import Cycles
from fints.transformer import NetworkConfig, TrainingConfig

TINY = Shape(trained=30, total=60, input_size=12, h=4, horizon=8, stride=5)
MOMENT = Recipe(
    NetworkConfig(dim=24, n_layers=2, n_heads=2, dropout=0.0, companions=False),
    TrainingConfig(max_steps=3, batch_size=4, learning_rate=4e-3),
)
WAVE = Task("wave", "a wave", Cycles((7.0,), (1.0,), sigma=0.1), TINY, MOMENT)
PAIRS = (Pair("cycle", "rope"),)


@pytest.fixture
def tiny():
    """A task that takes a moment."""
    return WAVE


@pytest.fixture
def make_results():
    """Results whose errors are as stated: by arm a level, or one for each seed; the same at all steps."""

    def make(errors, pairs=PAIRS, *, tasks=(WAVE,), modes=(BARE,), budget="full", **rest):
        units = {}
        for task in tasks:
            for mode in modes:
                for arm, levels in errors.items():
                    made = units[task.name, mode.name, arm] = []
                    for level in np.atleast_1d(levels):
                        squared = [float(level) ** 2] * task.shape.horizon
                        made.append({"squared": squared, "loss": 0.1, "seconds": 2.0, "learned": {}})
        return Results(
            budget=budget,
            arms={arm: Arm(arm, "rope") for arm in errors},
            tasks={task.name: task for task in tasks},
            modes={mode.name: mode for mode in modes},
            units=units,
            pairs=tuple(pairs),
            **rest,
        )

    return make
