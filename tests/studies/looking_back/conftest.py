import numpy as np
import pytest

from fints.studies.comparison import BARE, WHOLE, Results
from fints.studies.comparison.sample import SAMPLE
from fints.studies.looking_back.study import ARMS, PAIRS
from fints.studies.looking_back.tasks import ECHOES, RHYTHMS, ruler


@pytest.fixture
def make_looks():
    """Results in which attention has heights as stated: by task, arm and name of the peak; 1 elsewhere."""

    def make(stated, *, seeds=8, spread=0.02, tasks=(ECHOES, RHYTHMS), modes=(BARE,)):
        rng, units = np.random.default_rng(0), {}
        for task in tasks:
            by = ruler(task)
            for mode in modes:
                for arm in ARMS:
                    made = units[task.name, mode.name, arm.name] = []
                    for luck in np.exp(spread * rng.standard_normal(seeds)):
                        profile = np.ones(by.reach + 1)
                        for peak in by.peaks:
                            height = stated.get((task.name, arm.name, peak.name), stated.get((task.name, peak.name)))
                            if height is not None:
                                profile[peak.at] = height * luck
                        looks = np.tile(profile, (2, 2, 1))
                        made.append(
                            {
                                "squared": [float(luck)] * task.shape.horizon,
                                "attention": looks.tolist(),
                                "before": np.ones_like(looks).tolist(),
                                "learned": {},
                                "seconds": 1.0,
                            }
                        )
        return Results(
            budget="full",
            arms={arm.name: arm for arm in ARMS},
            tasks={task.name: task for task in tasks},
            modes={mode.name: mode for mode in modes},
            units=units,
            pairs=PAIRS,
        )

    return make


@pytest.fixture
def everything():
    """Tasks and modes of the full budget."""
    return {"tasks": (ECHOES, RHYTHMS, SAMPLE), "modes": (BARE, WHOLE)}
