import numpy as np
import pytest
import torch
from pydantic import ValidationError

from fints.errors import ConfigError, TrainingError
from fints.series.windows import Tape
from fints.transformer import TrainingConfig
from fints.transformer.training import Hardware, Learner, TrainingWindows, train
from tests.transformer.conftest import BRIEF, EAGER, SMALL, small_model

CPU = EAGER.model_copy(update={"accelerator": "cpu"})
STILL = SMALL.model_copy(update={"dropout": 0.0})


def pretend(monkeypatch, count, bf16=True):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: bf16)


def trained(windows, config):
    network = small_model().with_settings(STILL, config).design.network_for(0, 0)
    return network, train(network, windows, config, seed=0)


def test_a_gpu_is_used_if_there_is_one_and_not_refused(monkeypatch):
    pretend(monkeypatch, 2)
    assert Hardware.chosen_by(BRIEF).device == torch.device("cuda", 0)
    assert Hardware.chosen_by(BRIEF).world == 1
    assert Hardware.chosen_by(CPU).device == torch.device("cpu")
    every = Hardware.chosen_by(BRIEF.model_copy(update={"devices": "auto"}))
    assert [every.process(rank).device.index for rank in range(every.world)] == [0, 1]


def test_without_a_gpu_everything_means_one_cpu(monkeypatch):
    pretend(monkeypatch, 0)
    assert Hardware.chosen_by(BRIEF.model_copy(update={"devices": "auto"})) == Hardware()


@pytest.mark.parametrize(
    ("change", "gpus", "says"),
    [
        ({"accelerator": "cuda"}, 0, "finds no CUDA device; use auto or cpu"),
        ({"devices": 4, "batch_size": 16}, 2, "devices: 4 are asked for, and torch finds 2"),
        ({"devices": 3, "batch_size": 16}, 0, "make it a multiple of 3"),
        ({"precision": "bf16"}, 1, "this GPU does not compute in it"),
    ],
)
def test_what_the_machine_does_not_have_is_refused(monkeypatch, change, gpus, says):
    pretend(monkeypatch, gpus, bf16=False)
    with pytest.raises(ConfigError, match=says):
        Hardware.chosen_by(BRIEF.model_copy(update=change))


@pytest.mark.parametrize("wrong", [{"precision": "16"}, {"accelerator": "mps"}, {"devices": 0}, {"devices": "all"}])
def test_what_no_machine_does_is_refused_at_once(wrong):
    with pytest.raises(ValidationError):
        TrainingConfig(**wrong)


def test_yaml_may_write_the_precision_as_a_number():
    assert TrainingConfig(precision=32).precision == "32"


def test_bf16_rounds_products_and_keeps_weights_in_float32(windows):
    learners = [
        Learner(
            small_model().with_settings(STILL, BRIEF).design.network_for(0, 0),
            BRIEF,
            hardware=Hardware(precision=precision),
        )
        for precision in ("32", "bf16")
    ]
    for start in (40, 60, 80):
        batch = windows.batch(np.arange(start, start + 16))
        losses = [learner.step(batch) for learner in learners]
    exact, rounded = (torch.cat([p.detach().flatten() for p in one.averaged.parameters()]) for one in learners)
    assert rounded.dtype == torch.float32
    assert 0 < (rounded - exact).abs().max() < 0.02
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert losses[0] != losses[1]


def test_training_in_bf16_by_the_settings(windows):
    network, record = trained(windows, EAGER.model_copy(update={"precision": "bf16"}))
    assert {p.dtype for p in network.parameters()} == {torch.float32}
    assert record.best[0] > 0


@pytest.mark.parametrize("encoding", ["clock", "t_rope", "alibi", {"kind": "cycle", "learn": True}], ids=str)
def test_encodings_stay_exact_under_bf16(windows, encoding):
    learner = Learner(
        small_model(encoding=encoding).design.network_for(0, 0), BRIEF, hardware=Hardware(precision="bf16")
    )
    assert np.isfinite(learner.step(windows.batch(np.arange(40, 48))))
    for parameter in learner.network.encoding.frequency_parameters():
        assert parameter.dtype == torch.float64


def test_the_shares_of_the_processes_make_the_whole():
    origins = np.arange(11)
    parts = [Hardware(rank=rank, world=3).share(origins) for rank in range(3)]
    assert sorted(np.concatenate(parts)) == list(origins)


def test_two_processes_learn_what_one_does(windows):
    """To rounding: the sum of a gradient is made in another order."""
    alone, record = trained(windows, CPU)
    assert record.best[0] > 0
    shared, shared_record = trained(windows, CPU.model_copy(update={"devices": 2}))
    for a, b in zip(alone.parameters(), shared.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)
    assert np.allclose(record.losses, shared_record.losses, rtol=1e-3)


@pytest.mark.soak
def test_an_error_of_a_process_is_the_error_of_the_training(windows):
    tape, values = windows.tape, windows.tape.values.copy()
    values[-10:, 0] = np.inf
    broken = TrainingWindows(Tape(tape.unique_ids, tape.bounds, tape.ds, values, tape.calendar, tape.clocks), 30, 5)
    with pytest.raises(TrainingError, match="BBB"):
        trained(broken, CPU.model_copy(update={"devices": 2}))
