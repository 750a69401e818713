from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fints.studies.scores import Score
from fints.studies.unknown_period import week
from fints.studies.unknown_period.arms import ARMS, LEARNED, ROPE, T_ROPE
from fints.studies.unknown_period.boards import Board
from fints.studies.unknown_period.theory import expected_errors
from fints.studies.unknown_period.week import WEEK_ARMS, WeekBoard, WeekProtocol
from fints.transformer import NetworkConfig, TrainingConfig

FLOOR = 0.002


def make_board(task, how, *, detected=None, rope=0.9, seeds=4, **made):
    """Scores that miss by what theory says; by name of the encoding, a function of the error of T that says otherwise.

    Seeds differ a little from each other, the same in all arms.
    """
    detected = np.full(seeds, task.periods[0]) if detected is None else np.asarray(detected)
    usual = {ROPE: lambda _: rope, LEARNED: lambda _: FLOOR}
    spread = 1 + 0.01 * np.arange(len(detected))
    scores, learned = [], {}
    for arm in ARMS:
        size = made.get(arm.encoding.replace(", ", "_"), usual.get(arm.encoding))
        off = np.array([arm.told(task, each) / task.periods[0] - 1 for each in detected])
        flat = np.ones(how.beyond)
        rows = [size(each) * flat if size else _theory(task, how, each) for each in off]
        errors = spread[:, None] * np.array(rows)
        scores.append(Score(arm, errors, errors, errors[:, : how.trained - how.input_size], errors))
        if arm.encoding in (LEARNED, T_ROPE):
            learned[arm] = np.full((len(off), 1), task.periods[0] * 1.001)
    return Board(task, how, detected, tuple(scores), learned)


def _theory(task, how, off):
    return np.hypot(FLOOR, expected_errors(task.periods[0], task.periods[0] * (1 + off), how.h, how.beyond))


@pytest.fixture(name="make_board")
def _make_board(small):
    """Boards over the usual horizon and planes: with a short one, no period is wrong enough."""
    network = small.network.model_copy(update={"dim": 32})
    how = replace(small, trained=200, total=400, input_size=120, h=40, network=network)
    return lambda task, **made: make_board(task, how, **made)


@pytest.fixture
def brief_week():
    """A hold-out that takes a moment."""
    network = NetworkConfig(dim=12, n_layers=1, covariates=False, companions=False, linear_skip=False)
    training = TrainingConfig(
        max_steps=12, batch_size=8, learning_rate=2e-2, average=0.5, validate_every=4, validation_windows=16
    )
    return WeekProtocol(5, 15, 3, 5, network, training)


@pytest.fixture
def volume(monkeypatch):
    """Two short series with a week in them, instead of the sample."""
    ds = pd.date_range("2020-01-01", periods=300, unit="ns")
    frames = []
    for name in ("a", "b"):
        rng = np.random.default_rng(ord(name))
        y = np.where(ds.day_of_week < 5, 1.0, 0.0) + 0.2 * rng.standard_normal(len(ds))
        frames.append(pd.DataFrame({"unique_id": name, "ds": ds, "y": y, "exchange": "24/7", "interval": "1d"}))
    panel = pd.concat(frames, ignore_index=True)
    monkeypatch.setattr(week, "volume", lambda: panel)
    return panel


def make_week_board(how=None, *, seeds=4, windows=12, arms=WEEK_ARMS, **times):
    """Errors of 0.2 that vary by window; by encoding, a function of the error of the week that multiplies them."""
    rng = np.random.default_rng(0)
    base = 0.2 * (1 + 0.1 * rng.standard_normal(windows))
    squared = {}
    for place, arm in enumerate(arms):
        factor = times.get(arm.encoding.replace(" ", "_"), lambda _: 1.0)(arm.telling.off)
        own = np.random.default_rng(place + 1)
        jitter = 1 + 1e-3 * own.standard_normal((seeds, windows))
        squared[arm] = (factor * base * jitter) ** 2
    return WeekBoard(how or WeekProtocol(), 7.001, 0.05, squared)


@pytest.fixture(name="make_week_board")
def _make_week_board():
    return make_week_board
