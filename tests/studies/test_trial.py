from dataclasses import replace

import numpy as np
import pytest

from fints.encodings import encoding_config
from fints.studies.extrapolation.arms import ARMS
from fints.studies.extrapolation.tasks import NOISY, ONE, THREE
from fints.studies.ledger import settings_key
from fints.studies.planted import PlantedCycles
from fints.studies.trial import Trial
from fints.transformer import TrainingConfig


def trial(how, task=ONE, arm="cycle on all planes", seed=0):
    chosen = ARMS[arm]
    return Trial(task, chosen.config(task), task.plan(chosen.clock), seed, how)


@pytest.mark.parametrize("name", sorted(ARMS))
def test_every_encoding_trains_and_forecasts_beyond_the_trained_bars(small, name):
    result = trial(small, THREE, name).run()
    assert len(result["beyond"]) == small.beyond
    assert len(result["inside"]) == small.trained - small.input_size
    assert np.isfinite([*result["beyond"], *result["inside"], result["loss"]]).all()


def test_the_same_trial_gives_the_same_forecast_and_another_seed_another(small):
    one, again, other = (trial(small, seed=seed).run()["beyond"] for seed in (0, 0, 1))
    assert one == again
    assert one != other


def test_training_sees_nothing_after_the_trained_bars(small, monkeypatch):
    def altered(self, n, seed):
        y = original(self, n, seed)
        y[small.trained :] += 1e6
        return y

    original = PlantedCycles.observed
    before = trial(small, NOISY).run()
    monkeypatch.setattr(PlantedCycles, "observed", altered)
    after = trial(small, NOISY).run()
    assert {**after, "seconds": 0} == {**before, "seconds": 0}


def test_training_lowers_the_loss_and_a_cycle_is_carried_on(small):
    how = replace(small, training=TrainingConfig(max_steps=80, batch_size=4, learning_rate=8e-3))
    task = PlantedCycles("x", "X", (6.0,), (1.0,))
    short, long = (
        Trial(task, encoding_config({"kind": "cycle", "share": 1.0}), task.plan(), 0, p).run() for p in (small, how)
    )
    rmse = np.sqrt(np.mean((np.array(long["beyond"]) - task.clean(how.total)[how.trained :]) ** 2))
    assert long["loss"] < 0.3 * short["loss"]
    assert rmse < 0.2


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"task": THREE},
        {"task": replace(ONE, sigma=0.1)},
        {"encoding": encoding_config("rope")},
        {"encoding": encoding_config({"kind": "cycle", "share": 0.5})},
        {"plan": ONE.plan("calendar")},
    ],
)
def test_whatever_is_changed_makes_another_trial(small, change):
    base = trial(small)
    assert settings_key(replace(base, **change).settings()) != settings_key(base.settings())


def test_combinations_of_other_parts_are_other_trials(small):
    sums = [{"kind": "sum", "parts": parts} for parts in (["alibi", "rope"], ["alibi", "xpos"], ["time_rab", "rope"])]
    keys = {settings_key(replace(trial(small), encoding=encoding_config(each)).settings()) for each in sums}
    assert len(keys) == len(sums)


def test_another_network_training_or_window_makes_another_trial(small):
    others = [
        replace(small, training=small.training.model_copy(update={"learning_rate": 1e-3})),
        replace(small, network=small.network.model_copy(update={"n_layers": 3})),
        replace(small, h=5),
        replace(small, trained=31),
    ]
    keys = {settings_key(trial(how).settings()) for how in (small, *others)}
    assert len(keys) == 5


def test_the_title_of_a_task_does_not_decide_a_result(small):
    base = trial(small)
    assert settings_key(replace(base, task=replace(ONE, title="x", name="y")).settings()) == settings_key(
        base.settings()
    )
