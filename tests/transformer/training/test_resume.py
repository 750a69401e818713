"""A training that is killed and asked for again ends with the weights of one that was not."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from fints.series.windows import Tape
from fints.transformer.training import Checkpoints, TrainingWindows, train
from tests.transformer.conftest import EAGER, SMALL, small_model

ROOT = Path(__file__).parents[3]
CONFIG = EAGER.model_copy(update={"max_steps": 8, "validate_every": 2})
MEMBERS = 2
ENCODING = {"kind": "cycle", "learn": True}

KILLED = """
import os, signal, sys
import pandas as pd
from tests.transformer.training.test_resume import made

def progress(done, most):
    if done == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

made().fit(pd.read_pickle(sys.argv[1]), progress=progress, checkpoints=sys.argv[2])
"""


class StoppedError(Exception):
    """Stands for a kill where no process has to die."""


def made(**changes):
    settings = CONFIG.model_copy(update={"members": MEMBERS})
    return small_model(encoding=ENCODING, **changes).with_settings(SMALL, settings)


def weights(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), name


def stop_at(step):
    def progress(done, most):
        if done == step:
            raise StoppedError

    return progress


def interrupted(network, windows, folder, step, config=CONFIG, seed=0):
    with pytest.raises(StoppedError):
        train(network, windows, config, seed=seed, progress=stop_at(step), checkpoints=Checkpoints(folder))


@pytest.fixture(scope="module")
def whole(daily_panel):
    return made().fit(daily_panel)


@pytest.mark.parametrize(("step", "member", "looked"), [(3, 0, 2), (13, 1, 4)])
def test_after_a_sigkill_fit_ends_with_the_weights_of_an_uninterrupted_one(
    daily_panel, whole, tmp_path, step, member, looked
):
    daily_panel.to_pickle(tmp_path / "panel")
    command = [sys.executable, "-c", KILLED, tmp_path / "panel", tmp_path / "states", str(step)]
    killed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr.decode()
    seen = []
    model = made().fit(daily_panel, progress=lambda done, _: seen.append(done), checkpoints=tmp_path / "states")
    assert seen == list(range(8 * member + looked + 1, 8 * MEMBERS + 1))
    records, expected = model.fitted.records, whole.fitted.records
    assert records[member].notes == (f"went on from step {looked}, where a training was stopped",)
    for one, other in zip(model.fitted.networks, whole.fitted.networks, strict=True):
        assert_same_bits(weights(one), weights(other))
    assert [r.validation for r in records] == [r.validation for r in expected]
    assert [r.periods for r in records] == [r.periods for r in expected]
    assert np.array_equal(model.forecast().quantiles, whole.forecast().quantiles)
    assert not (tmp_path / "states").exists()


def network():
    return made().design.network_for(0, 0)


def whole_state(folder):
    """Everything at the end of a training: weights, moments, average, looks, best weights."""
    return torch.load(max(folder.glob("*.state")), weights_only=True)


def tensors(state, name=""):
    """Flatten a state."""
    match state:
        case torch.Tensor():
            return {name: state}
        case dict():
            return {k: v for key, part in state.items() for k, v in tensors(part, f"{name}.{key}").items()}
        case list() | tuple():
            return {k: v for i, part in enumerate(state) for k, v in tensors(part, f"{name}.{i}").items()}
        case _:
            return {name: torch.tensor([float(state)])} if isinstance(state, int | float) else {}


@pytest.fixture(scope="module")
def straight(windows, tmp_path_factory):
    """The record, the weights and the last state of a training that nothing stopped."""
    folder, trained = tmp_path_factory.mktemp("straight"), network()
    record = train(trained, windows, CONFIG, seed=0, checkpoints=Checkpoints(folder))
    state = tensors(whole_state(folder))
    assert record.steps == 8
    assert len(state) > 100
    return record, weights(trained), state


def assert_goes_on_to(straight, windows, folder):
    record, kept, state = straight
    again = network()
    resumed = train(again, windows, CONFIG, seed=0, checkpoints=Checkpoints(folder))
    assert_same_bits(weights(again), kept)
    assert_same_bits(tensors(whole_state(folder)), state)
    assert (resumed.validation, resumed.losses, resumed.periods) == (record.validation, record.losses, record.periods)
    return resumed


@pytest.mark.parametrize("step", range(1, 9))
def test_a_training_stopped_at_any_step_goes_on_to_the_same_bits(windows, straight, tmp_path, step):
    interrupted(network(), windows, tmp_path, step)
    assert_goes_on_to(straight, windows, tmp_path)


def test_a_training_may_be_stopped_again_and_again(windows, straight, tmp_path):
    for step in (3, 4, 5, 7):
        interrupted(network(), windows, tmp_path, step)
    assert_goes_on_to(straight, windows, tmp_path)


def test_a_damaged_state_costs_steps_and_changes_nothing(windows, straight, tmp_path):
    interrupted(network(), windows, tmp_path, 7)
    newest = max(tmp_path.iterdir())
    newest.write_bytes(newest.read_bytes()[:1000])
    record = assert_goes_on_to(straight, windows, tmp_path)
    assert "damaged" in record.notes[0]
    assert "step 4" in record.notes[1]


def test_a_finished_training_is_not_repeated(windows, straight, tmp_path):
    train(network(), windows, CONFIG, seed=0, checkpoints=Checkpoints(tmp_path))
    record = assert_goes_on_to(straight, windows, tmp_path)
    assert record.notes == ("went on from step 8, where a training was stopped",)


def test_early_stopping_is_remembered(windows, tmp_path):
    config = CONFIG.model_copy(update={"max_steps": 40, "learning_rate": 0.5, "average": 0.0, "patience": 2})
    unstopped, again = network(), network()
    record = train(unstopped, windows, config, seed=0)
    assert record.steps < 40
    interrupted(network(), windows, tmp_path, record.steps - 1, config)
    assert train(again, windows, config, seed=0, checkpoints=Checkpoints(tmp_path)).steps == record.steps
    assert_same_bits(weights(again), weights(unstopped))


def other_data(windows):
    values = windows.tape.values.copy()
    values[17] += 1e-9
    tape = windows.tape
    return TrainingWindows(Tape(tape.unique_ids, tape.bounds, tape.ds, values, tape.calendar, tape.clocks), 30, 5)


@pytest.mark.parametrize(
    "change",
    [
        lambda windows: {"windows": other_data(windows)},
        lambda windows: {"config": CONFIG.model_copy(update={"clip": 0.9})},
        lambda windows: {"seed": 1},
        lambda windows: {"purpose": "another design"},
        lambda windows: {"network": made(random_seed=3).design.network_for(0, 0)},
    ],
    ids=["data", "settings", "seed", "design", "first weights"],
)
def test_a_training_that_differs_in_anything_begins_anew(windows, tmp_path, change):
    interrupted(network(), windows, tmp_path, 5)
    job = {"network": network(), "windows": windows, "config": CONFIG, "seed": 0, "purpose": ""}
    job |= change(windows)
    checkpoints, seen = Checkpoints(tmp_path, job.pop("purpose")), []
    record = train(**job, progress=lambda done, _: seen.append(done), checkpoints=checkpoints)
    assert seen[0] == 1
    assert "another training" in record.notes[0]


def test_the_folder_of_states_changes_no_forecast(daily_panel, whole, tmp_path):
    model = made().fit(daily_panel, checkpoints=tmp_path / "states")
    for one, other in zip(model.fitted.networks, whole.fitted.networks, strict=True):
        assert_same_bits(weights(one), weights(other))
    assert model.fitted.records == whole.fitted.records
