import numpy as np
import pytest

from fints.studies.extrapolation.arms import ARMS
from fints.studies.extrapolation.scores import Board
from fints.studies.intervals import t_interval
from fints.studies.scores import Score


def make_board(task, seeds=4, **errors):
    """Scores whose root mean square errors are as stated, a little different from seed to seed."""
    scores = []
    for name, size in errors.items():
        arm = next(arm for arm in ARMS.values() if arm.name.replace(" ", "_") == name)
        rng = np.random.default_rng(len(name))
        beyond = size * (1 + 0.02 * rng.standard_normal((seeds, 1))) * np.ones((1, 14))
        scores.append(Score(arm, beyond, beyond + task.sigma, beyond, beyond))
    ranked = tuple(sorted(scores, key=lambda score: score.rmse.mean))
    return Board(task, ranked, t_interval([0.05] * seeds))


@pytest.fixture(name="make_board")
def _make_board():
    return make_board
