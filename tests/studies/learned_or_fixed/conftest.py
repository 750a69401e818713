import numpy as np
import pytest

from fints.studies.comparison import BARE, Results
from fints.studies.learned_or_fixed.arms import BY_NAME
from fints.studies.learned_or_fixed.study import PAIRS, ROUTINE, TWO


@pytest.fixture
def make():
    """Results with so much error by arm, all others 1; chance adds its share, which is nothing on average.

    What was learned is given by task and arm, seed by seed.
    """

    def made(levels=(), learned=(), *, spread=0.01, seeds=8, tasks=(TWO, ROUTINE), arms=tuple(BY_NAME)):
        luck, units = spread * np.random.default_rng(0).standard_normal(seeds), {}
        for task in tasks:
            for i, name in enumerate(arms):
                errors = dict(levels).get(name, 1.0) * np.exp(np.roll(luck, i) - luck.mean())
                units[task.name, BARE.name, name] = [
                    {
                        "squared": [float(error) ** 2] * task.shape.horizon,
                        "learned": dict(learned)[task.name, name][seed] if (task.name, name) in dict(learned) else {},
                        "seconds": 1.0,
                    }
                    for seed, error in enumerate(errors)
                ]
        return Results(
            budget="full",
            arms={name: BY_NAME[name] for name in arms},
            tasks={task.name: task for task in tasks},
            modes={BARE.name: BARE},
            units=units,
            pairs=PAIRS,
        )

    return made
