import numpy as np
import pytest
import torch

from fints.errors import ConfigError, SeriesError
from fints.studies.extrapolation.tasks import ONE
from fints.studies.training import train_to_the_end
from fints.transformer import CycleTransformer, TrainingConfig
from fints.transformer.training import Learner


def model(small, **training):
    config = TrainingConfig(max_steps=6, batch_size=4, **training)
    return CycleTransformer(small.h, small.input_size, "rope", ONE.plan()).with_settings(small.network, config)


def weights(model):
    return [p.detach().clone() for p in model.fitted.networks[0].parameters()]


def test_every_step_is_taken_and_every_window_used(small, monkeypatch):
    seen = []
    step = Learner.step
    monkeypatch.setattr(Learner, "step", lambda self, batch: seen.append(batch.origins) or step(self, batch))
    train_to_the_end(model(small), ONE.panel(small.trained, 0))
    assert len(seen) == 6
    used = np.concatenate(seen)
    assert set(used - used.min()) == set(range(small.trained - small.input_size - small.h + 1))


def test_the_kept_weights_are_the_average_of_the_last_ones(small, monkeypatch):
    trail = []
    step = Learner.step

    def watched(self, batch):
        loss = step(self, batch)
        trail.append([p.detach().clone() for p in self.network.parameters()])
        return loss

    monkeypatch.setattr(Learner, "step", watched)
    averaged = model(small, average=0.5)
    train_to_the_end(averaged, ONE.panel(small.trained, 0))
    expected = trail[0]
    for after in trail[1:]:
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


def test_attention_to_other_series_which_windows_do_not_hold_is_refused_and_not_left_out_unsaid(small):
    asked = model(small)
    attending = asked.with_settings(asked.design.network.model_copy(update={"cross_asset": True}))
    with pytest.raises(ConfigError, match="cross_asset: the windows"):
        train_to_the_end(attending, ONE.panel(small.trained, 0))
