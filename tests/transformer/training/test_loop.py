import numpy as np
import pytest
import torch
from torch import nn

from fints.forecast import QUANTILES
from fints.transformer.losses import window_losses
from fints.transformer.training import Learner, Split, train
from fints.transformer.training.loop import History
from fints.transformer.training.windows import spread
from tests.transformer.conftest import BRIEF, EAGER, small_model


class Flat(nn.Module):
    """Any network will do: quantiles that do not look at the context."""

    def __init__(self):
        super().__init__()
        self.quantiles = nn.Parameter(torch.linspace(-2.0, 2.0, len(QUANTILES)))

    def forward(self, x):
        return self.quantiles.expand(*x.future_calendar.shape[:2], -1)


def losses_of(network, windows, config):
    looked_at = spread(Split.by_time(windows, config.validation_share).validation, config.validation_windows)
    batch = windows.batch(looked_at)
    with torch.no_grad():
        return window_losses(network(batch.inputs), batch.target, torch.tensor(QUANTILES))


def test_the_record_tells_every_look(windows, network):
    record = train(network, windows, BRIEF, seed=0)
    assert record.steps == 6
    assert [step for step, _ in record.validation] == [0, 3, 6]
    assert record.best[1] == min(loss for _, loss in record.validation)
    assert record.notes == ()
    assert not network.training


def test_the_last_step_is_looked_at_even_off_the_beat(windows, network):
    record = train(network, windows, BRIEF.model_copy(update={"max_steps": 5}), seed=0)
    assert [step for step, _ in record.validation] == [0, 3, 5]


def test_the_weights_that_are_kept_are_those_that_were_validated(windows, network):
    """The average is what is looked at, so the average is what has to stay, not the last step's weights."""
    config = EAGER.model_copy(update={"max_steps": 20, "validate_every": 10})
    record = train(network, windows, config, seed=0)
    losses = losses_of(network, windows, config)
    assert record.best[0] > 0
    assert losses.mean().item() == pytest.approx(record.best[1], rel=1e-4)
    assert np.allclose(losses, record.losses, rtol=1e-3, atol=1e-6)
    assert len(record.losses) == record.n_validation == 16


def test_weights_that_training_does_not_improve_on_stay_to_the_bit(windows):
    """Quantiles of the validation tail itself, spoilt by steps that are far too long."""
    network = Flat()
    config = BRIEF.model_copy(update={"max_steps": 12, "average": 0.0, "learning_rate": 5.0})
    targets = windows.batch(Split.by_time(windows, config.validation_share).validation).target
    with torch.no_grad():
        network.quantiles.copy_(torch.quantile(targets, torch.tensor(QUANTILES)))
    start = network.quantiles.detach().clone()
    record = train(network, windows, config, seed=0)
    assert record.best[0] == 0
    assert torch.equal(network.quantiles, start)


def test_training_stops_after_looks_without_improvement(windows):
    config = BRIEF.model_copy(
        update={"max_steps": 60, "validate_every": 3, "learning_rate": 3.0, "average": 0.0, "patience": 2}
    )
    record = train(Flat(), windows, config, seed=0)
    trained = [loss for step, loss in record.validation if step]
    assert record.steps < 60
    assert int(np.argmin(trained)) == len(trained) - 3


@pytest.mark.parametrize(
    ("losses", "goes_on"),
    [([1.0], True), ([0.1, 3.0, 2.0, 1.0], True), ([0.1, 1.0, 2.0], True), ([9.0, 1.0, 2.0, 2.0], False)],
)
def test_the_look_before_the_first_step_costs_no_patience(losses, goes_on):
    assert History(looks=list(enumerate(losses))).improves(2) == goes_on


def test_the_same_seed_gives_the_same_bits_and_another_one_does_not(windows):
    def trained(seed):
        network = small_model().design.network_for(0, 0)
        assert train(network, windows, EAGER, seed=seed).best[0] > 0
        return torch.cat([p.flatten() for p in network.parameters()])

    torch.manual_seed(1)
    first = trained(0)
    torch.manual_seed(2)
    assert torch.equal(first, trained(0))
    assert not torch.equal(first, trained(1))


def test_training_leaves_the_random_state_of_its_caller(windows, network):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(network, windows, BRIEF, seed=0)
    assert torch.equal(torch.rand(3), expected)


def test_progress_counts_the_steps(windows, network):
    seen = []
    train(network, windows, BRIEF, seed=0, progress=lambda done, most: seen.append((done, most)))
    assert seen == [(i, 6) for i in range(1, 7)]


def test_windows_are_cut_one_batch_at_a_time(windows, network, monkeypatch):
    sizes = []
    cut = type(windows).batch
    monkeypatch.setattr(type(windows), "batch", lambda self, origins: sizes.append(len(origins)) or cut(self, origins))
    train(network, windows, BRIEF, seed=0)
    assert max(sizes) == BRIEF.batch_size


def test_a_step_sees_no_window_of_the_validation_tail(windows, network, monkeypatch):
    seen = []
    step = Learner.step
    monkeypatch.setattr(Learner, "step", lambda self, batch: seen.append(batch.origins) or step(self, batch))
    train(network, windows, BRIEF, seed=0)
    split = Split.by_time(windows, BRIEF.validation_share)
    assert np.isin(np.concatenate(seen), split.train).all()
