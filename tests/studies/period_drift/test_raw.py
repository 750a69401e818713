import dataclasses

import numpy as np
import pytest
import torch

from fints.encodings import TimeAxis, build
from fints.errors import ConfigError
from fints.studies.comparison import BARE, Arm, ArmTrial, Recipe, Shape
from fints.studies.ledger import settings_key
from fints.studies.period_drift.raw import RawTrial, raw
from fints.studies.period_drift.study import ONE
from fints.transformer import NetworkConfig, TrainingConfig
from fints.transformer.training.optimiser import Optimiser

MOMENT = dataclasses.replace(
    ONE,
    shape=Shape(trained=60, total=100, input_size=24, h=4, horizon=8),
    recipe=Recipe(NetworkConfig(dim=16, n_layers=2, n_heads=2, dropout=0.0), TrainingConfig(max_steps=3, batch_size=4)),
)


def t_rope(**settings):
    return build({"kind": "t_rope", **settings}, dim=32, n_heads=2, n_layers=2, seed=1)


def scores(encoding):
    at = TimeAxis(seconds=torch.tensor([[1.6e9, 1.6e9 + 86_400, 1.61e9]], dtype=torch.float64))
    x = torch.ones(1, 2, 3, 16)
    return torch.stack(encoding.prepare(at, at).layer(1).rotate(x, x))


@pytest.mark.parametrize("non_stationary", [True, False])
def test_before_training_it_turns_as_the_product_does(non_stationary):
    exact = t_rope(non_stationary=non_stationary)
    torch.testing.assert_close(scores(raw(exact)), scores(exact), atol=1e-5, rtol=0)


def test_its_coefficients_are_weights_like_any_other_to_the_optimiser():
    network = torch.nn.Module()
    network.encoding = raw(t_rope())
    decayed, plain, frequencies = Optimiser(network, TrainingConfig(weight_decay=0.3)).groups
    assert [id(weight) for weight in decayed.weights] == [id(p) for p in network.encoding.parameters()]
    assert decayed.decay == 0.3
    assert not plain.weights
    assert not frequencies.weights


def test_a_trial_moves_them_by_the_rate_and_tells_their_periods():
    trial = ArmTrial.of(Arm("raw", "t_rope", trial=RawTrial), MOMENT, BARE, 0)
    plain = ArmTrial.of(Arm("plain", "t_rope"), MOMENT, BARE, 0)
    assert settings_key(trial.settings()) != settings_key(plain.settings())
    encoding = trial.model().design.network_for(0, 0).encoding
    learned = trial.run()["learned"]
    assert learned.keys() == {"query.offset", "key.offset"}
    after = np.array(learned["query.offset"]) * 2 * np.pi * np.tile(encoding.query.betas, 2)
    before = encoding.query.alpha().detach().abs().numpy().ravel()
    assert 0 < np.abs(after - before).max() < 0.1


@pytest.mark.parametrize("encoding", [{"kind": "rope"}, {"kind": "t_rope", "shared": True}])
def test_what_has_no_raw_variant_is_refused(encoding):
    with pytest.raises(ConfigError, match="no raw variant"):
        raw(build(encoding, dim=32, n_heads=2, n_layers=1))
