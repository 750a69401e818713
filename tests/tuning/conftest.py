"""A search that costs nothing: a landscape known by formula in place of training, and a real one of three steps."""

import math

import numpy as np
import pandas as pd
import pytest

from fints.plan import FrequencyPlan
from fints.studies.planted import PlantedCycles
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig
from fints.tuning import SearchSpace, SpaceConfig, StudyStore, Tuner, TuningFolds
from fints.tuning.evaluation import FoldRun
from fints.tuning.periods import Moved
from fints.tuning.scoring import Scored

PERIOD = 20.37

FOLDS = TuningFolds(h=12, n_folds=4, block=2, step_size=6, confirm_folds=9, confirm_windows=18, test_windows=16)


def tiny_base(learn: bool = False, trained_h: int = 6) -> CycleTransformer:
    """A model that is fitted in a moment."""
    network = NetworkConfig(
        dim=16, n_layers=1, n_heads=1, dropout=0.0, covariates=False, companions=False, linear_skip=False
    )
    training = TrainingConfig(max_steps=3, batch_size=4, validate_every=2, validation_windows=8)
    encoding = {"kind": "cycle", "share": 1.0, "learn": learn}
    return CycleTransformer(trained_h, 24, encoding, FrequencyPlan.from_periods([20.0])).with_settings(
        network, training
    )


def tiny_tuner(config: SpaceConfig | None = None, base: CycleTransformer | None = None, **options) -> Tuner:
    """A search on a short planted series, with the prior of 20 bars."""
    base = base or tiny_base()
    panel = PlantedCycles("planted", "Planted", (PERIOD,), (1.0,), 0.3).panel(720, seed=0)
    space = SearchSpace(config or SpaceConfig(), base.plan, base.design.encoding)
    return Tuner(panel, space, options.pop("folds", FOLDS), base, **options)


def valley(period: float, fold: int) -> float:
    """Error over the period: a razor valley at `PERIOD` in a plain that tells nothing, each fold a little different."""
    off = math.log(period / PERIOD)
    return 1 - 0.6 * math.exp(-((off / 0.02) ** 2)) + 0.05 * math.sin(40 * off) + 0.01 * fold


@pytest.fixture
def formula(monkeypatch):
    """Put `valley` in the place of training, which moves a learned period halfway to the truth if it is near."""
    runs = []

    def run_fold(candidate, base, panel, folds, windows):
        fold = windows[0] // FOLDS.block
        learned = getattr(candidate.encoding, "learn", False)
        end = {}
        for name, period in candidate.periods.items():
            near = abs(math.log(period / PERIOD)) < 0.06
            end[name] = math.sqrt(period * PERIOD) if learned and near else period
        path = {name: ((0, candidate.periods[name]), (3, at)) for name, at in end.items()} if learned else {}
        runs.append((candidate, fold))
        value = float(np.mean([valley(at, fold) for at in end.values()]))
        cutoffs = pd.DatetimeIndex([folds.cutoffs[w] for w in windows], name="cutoff")
        noise = np.random.default_rng(fold).uniform(0.9, 1.1, len(cutoffs))
        origins = pd.DataFrame({"squared": value**2 * noise, "crps": value * noise}, index=cutoffs)
        return FoldRun(Scored(value, value / 2, origins), pd.DataFrame(), Moved(end, path), base, 0.01)

    for module in ("objective", "finals"):
        monkeypatch.setattr(f"fints.tuning.{module}.run_fold", run_fold)
    return runs


@pytest.fixture
def store(tmp_path) -> StudyStore:
    return StudyStore("valley", tmp_path / "tuning" / "valley.journal")


@pytest.fixture
def tuner_of():
    """`tiny_tuner`, for tests that want another space."""
    return tiny_tuner


@pytest.fixture
def tuner() -> Tuner:
    return tiny_tuner()
