from copy import deepcopy

import numpy as np
import torch

from fints.transformer.training import Learner
from tests.transformer.conftest import BRIEF, SMALL, small_model


def parameters(network):
    return [p.detach().clone() for p in network.parameters()]


def test_the_average_forgets_at_the_rate_that_is_asked_for(windows, network):
    learner = Learner(network, BRIEF.model_copy(update={"average": 0.5, "learning_rate": 0.02}))
    trail = []
    for origin in (40, 50, 60):
        learner.step(windows.batch(np.array([origin, origin + 1])))
        trail.append(parameters(network))
    expected = trail[0]
    for after in trail[1:]:
        expected = [0.5 * e + 0.5 * a for e, a in zip(expected, after, strict=True)]
    for kept, wanted in zip(learner.averaged.parameters(), expected, strict=True):
        torch.testing.assert_close(kept, wanted)


def test_dropout_follows_from_seed_and_step_alone(windows):
    assert SMALL.dropout > 0

    def losses(seed, disturb):
        learner = Learner(small_model().design.network_for(0, 0), BRIEF, seed)
        found = []
        for origin in (40, 60):
            torch.rand(disturb)
            found.append(learner.step(windows.batch(np.arange(origin, origin + 8))))
        return found

    assert losses(0, 1) == losses(0, 5)
    assert losses(0, 1)[1] != losses(1, 1)[1]


def test_a_learner_goes_on_from_the_state_of_another_one(windows):
    one, other = (Learner(small_model().design.network_for(0, 0), BRIEF) for _ in range(2))
    order = [windows.batch(np.arange(start, start + 8)) for start in (40, 60, 80, 100)]
    for batch in order[:2]:
        one.step(batch)
    other.load_state_dict(deepcopy(one.state_dict()))  # as it comes back from disk
    assert other.steps == 2
    assert [one.step(b) for b in order[2:]] == [other.step(b) for b in order[2:]]
    for a, b in zip(parameters(one.averaged), parameters(other.averaged), strict=True):
        assert torch.equal(a, b)


def test_averaged_weights_are_looked_at_without_dropout(windows, network):
    learner = Learner(network, BRIEF)
    batch = windows.batch(np.arange(40, 48))
    learner.step(batch)
    looks = [learner.validate(batch) for _ in range(2)]
    assert torch.equal(*looks)
    assert looks[0].shape == (8,)
    assert network.training
