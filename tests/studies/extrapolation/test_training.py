import numpy as np
import pytest
import torch

from fints.errors import SeriesError
from fints.studies.extrapolation.tasks import ONE
from fints.studies.extrapolation.training import train_to_the_end
from fints.transformer import CycleTransformer, TrainingConfig
from fints.transformer.training import TrainingTask


def model(small, **training):
    config = TrainingConfig(max_steps=6, batch_size=4, **training)
    return CycleTransformer(small.h, small.input_size, "rope", ONE.plan()).with_settings(small.network, config)


def weights(model):
    return [p.detach().clone() for p in model.fitted.network.parameters()]


def test_every_step_is_taken_and_every_window_used(small, monkeypatch):
    seen = []
    step = TrainingTask.training_step
    monkeypatch.setattr(
        TrainingTask, "training_step", lambda s, b, i: (seen.append(b[0].at.session[:, 0]), step(s, b, i))[1]
    )
    train_to_the_end(model(small), ONE.panel(small.trained, 0))
    starts = torch.cat(seen)
    assert len(seen) == 6
    assert set((starts - starts.min()).tolist()) == set(range(small.trained - small.input_size - small.h + 1))


def test_the_kept_weights_are_the_average_of_the_last_ones(small, monkeypatch):
    trail = []
    step = TrainingTask.training_step

    def watched(self, batch, index):
        if index:  # before a step stand the weights that the one before it made
            trail.append([p.detach().clone() for p in self.network.parameters()])
        return step(self, batch, index)

    monkeypatch.setattr(TrainingTask, "training_step", watched)
    free = model(small, average=0.0)
    train_to_the_end(free, ONE.panel(small.trained, 0))
    every = [*trail, weights(free)]
    averaged = model(small, average=0.5)
    train_to_the_end(averaged, ONE.panel(small.trained, 0))
    expected = every[0]
    for after in every[1:]:
        expected = [0.5 * e + 0.5 * a for e, a in zip(expected, after, strict=True)]
    for kept, wanted in zip(weights(averaged), expected, strict=True):
        np.testing.assert_allclose(kept.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-7)


def test_the_global_generator_is_left_as_it_was(small):
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    train_to_the_end(model(small), ONE.panel(small.trained, 0))
    assert torch.equal(torch.rand(2), expected)


def test_a_panel_without_a_single_window_is_refused(small):
    with pytest.raises(SeriesError, match="no window of 12 \\+ 4"):
        train_to_the_end(model(small), ONE.panel(15, 0))
