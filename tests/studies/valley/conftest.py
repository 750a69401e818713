import numpy as np
import pytest

from fints.studies.valley.arms import ARMS, DESCENT, GRADIENT, KNOWN, KNOWN_LONGER, LONGER, RANDOM, STANDS, TUNED
from fints.studies.valley.boards import ValleyBoard
from fints.studies.valley.protocol import PERIOD, PRIOR, ValleyProtocol
from fints.transformer import NetworkConfig, TrainingConfig
from fints.tuning import TuningFolds

OFFS = {
    KNOWN: 0.0,
    KNOWN_LONGER: 0.0,
    TUNED: 0.0005,
    DESCENT: -0.02,
    GRADIENT: -0.006,
    LONGER: 0.003,
    RANDOM: 0.01,
    STANDS: PRIOR / PERIOD - 1,
}


def made_board(seeds=4, accepted=True, **offs):
    """Results as theory has them: squared errors that grow with the error of the period and the distance."""
    how = ValleyProtocol()
    steps = np.arange(1, how.folds.h + 1)
    results = {}
    for arm in ARMS:
        off = offs.get(arm.replace(" ", "_").replace(",", ""), OFFS[arm])
        rows = []
        for seed in range(seeds):
            own = off * (1 + 0.1 * seed)
            signal = (0.1 + 0.01 * seed) ** 2 + 2 * (np.pi * own * steps / PERIOD) ** 2
            row = {"period": PERIOD * (1 + own), "signal": signal.tolist(), "observed": (signal + 0.5).tolist()}
            if arm in (TUNED, RANDOM):
                trials = [(0, "as it stands", PRIOR, PRIOR, 1.0), (1, "sampled", 25.0, 23.0, 1.2)]
                trials += [(2, "sampled", 20.5, PERIOD * (1 + 5 * own), 0.9)]
                trials += [(3, "refined" if arm == TUNED else "sampled", row["period"], row["period"], 0.8)]
                row |= {"trials": [list(each) for each in trials]}
            if arm == TUNED:
                row |= {"gain": [0.1, 0.05, 0.15], "accepted": accepted}
            rows.append(row)
        results[arm] = rows
    return ValleyBoard(how, results)


@pytest.fixture(name="made_board")
def _made_board():
    return made_board


@pytest.fixture
def brief():
    """A protocol that takes a moment; what it finds is worth nothing."""
    return ValleyProtocol(
        known=260,
        trained_h=6,
        input_size=24,
        folds=TuningFolds(h=12, n_folds=2, block=2, step_size=3, confirm_folds=2, confirm_windows=4, test_windows=3),
        trials=4,
        network=NetworkConfig(
            dim=16, n_layers=1, n_heads=1, dropout=0.0, covariates=False, companions=False, linear_skip=False
        ),
        training=TrainingConfig(max_steps=3, batch_size=4, validate_every=3, validation_windows=8),
        longer=2,
    )
