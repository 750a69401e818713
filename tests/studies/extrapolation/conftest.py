import numpy as np
import pytest

from fints.studies.extrapolation.arms import ARMS
from fints.studies.extrapolation.protocol import Protocol
from fints.studies.extrapolation.scores import Board, Score
from fints.studies.intervals import t_interval
from fints.transformer import NetworkConfig, TrainingConfig

SMALL = Protocol(
    trained=30,
    total=44,
    input_size=12,
    h=4,
    network=NetworkConfig(
        dim=24, n_layers=2, n_heads=2, dropout=0.0, covariates=False, companions=False, linear_skip=False
    ),
    training=TrainingConfig(max_steps=3, batch_size=4),
)


@pytest.fixture
def small():
    """A protocol that takes a moment."""
    return SMALL


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
