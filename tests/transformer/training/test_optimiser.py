import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fints.encodings import Encoding
from fints.transformer import TrainingConfig
from fints.transformer.training import Optimiser
from fints.transformer.training.optimiser import encoding_of, schedule
from tests.transformer.conftest import BRIEF, small_model


def with_gradients(network, seed):
    generator = torch.Generator().manual_seed(seed)
    for p in network.parameters():
        p.grad = torch.randn(p.shape, generator=generator, dtype=p.dtype)


def test_it_moves_weights_as_torch_does_to_the_bit():
    ours, theirs = (small_model(encoding="t_rope").design.network_for(0, 0) for _ in range(2))
    config = BRIEF.model_copy(update={"max_steps": 30, "warm_up": 0.3})
    optimiser = Optimiser(ours, config)
    counterparts = dict(zip(map(id, ours.parameters()), theirs.parameters(), strict=True))
    groups = [
        {"params": [counterparts[id(p)] for p in group.weights], "lr": group.rate, "weight_decay": group.decay}
        for group in optimiser.groups
        if group.weights
    ]
    reference = torch.optim.AdamW(groups, fused=True)
    rates = torch.optim.lr_scheduler.LambdaLR(reference, lambda step: schedule(step, config))
    for step in range(5):
        with_gradients(ours, step)
        with_gradients(theirs, step)
        optimiser.step()
        reference.step()
        rates.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("encoding", [{"kind": "cycle", "learn": True}, "t_rope", "cycle"], ids=str)
def test_frequencies_have_a_learning_rate_of_their_own_and_no_decay(encoding):
    network = small_model(encoding=encoding).design.network_for(0, 0)
    config = BRIEF.model_copy(update={"frequency_rate": 7.0})
    groups = Optimiser(network, config).groups
    every = [id(p) for group in groups for p in group.weights]
    assert sorted(every) == sorted(id(p) for p in network.parameters())
    frequencies = {id(p) for p in network.encoding.frequency_parameters()}
    apart = [group for group in groups if frequencies & {id(p) for p in group.weights}]
    assert len(apart) == (1 if frequencies else 0)
    for group in apart:
        assert {id(p) for p in group.weights} == frequencies
        assert group.rate == pytest.approx(7 * config.learning_rate)
        assert group.decay == 0


def test_weights_without_a_gradient_are_left_alone():
    network = small_model().design.network_for(0, 0)
    network.head.project.requires_grad_(False)
    before = {name: p.clone() for name, p in network.named_parameters()}
    optimiser = Optimiser(network, BRIEF)
    with_gradients(network, 0)
    network.query.grad = None
    optimiser.step()
    still = {name for name, p in network.named_parameters() if torch.equal(p, before[name])}
    assert still == {"head.project.weight", "head.project.bias", "query"}
    optimiser.clear()
    assert all(p.grad is None for group in optimiser.groups for p in group.weights)


@given(
    st.integers(1, 400).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most - 1))),
    st.floats(0, 0.99),
)
def test_the_rate_warms_up_to_its_peak_and_falls_to_nothing(steps, warm_up):
    most, step = steps
    config = TrainingConfig(max_steps=most, warm_up=warm_up)
    warm = max(1, round(warm_up * most))
    assert 0 <= schedule(step, config) <= 1
    assert schedule(warm - 1, config) == 1
    assert schedule(most, config) == pytest.approx(0, abs=1e-9) or warm >= most
    if step:
        rises = schedule(step, config) >= schedule(step - 1, config)
        assert rises == (step <= warm)


def test_the_encoding_of_any_network_is_found():
    network = small_model().design.network_for(0, 0)
    assert encoding_of(torch.nn.Sequential(network)) is network.encoding
    assert isinstance(network.encoding, Encoding)
    assert encoding_of(torch.nn.Linear(2, 2)) is None
    assert np.isfinite(schedule(0, BRIEF))
