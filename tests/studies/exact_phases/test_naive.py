import dataclasses

import numpy as np
import pytest
import torch

from fints.encodings import TimeAxis, build
from fints.errors import ConfigError
from fints.studies.comparison import BARE, Arm, ArmTrial, Recipe, Shape
from fints.studies.exact_phases.naive import NaiveTrial, naive
from fints.studies.exact_phases.study import MINUTES
from fints.studies.ledger import settings_key
from fints.transformer import NetworkConfig, TrainingConfig

MOMENT = dataclasses.replace(
    MINUTES,
    shape=Shape(trained=60, total=100, input_size=24, h=4, horizon=8),
    recipe=Recipe(NetworkConfig(dim=16, n_layers=2, n_heads=2, dropout=0.0), TrainingConfig(max_steps=3, batch_size=4)),
)
LATE = 1_600_000_061.0


def turned(encoding, seconds):
    at = TimeAxis(seconds=torch.tensor(seconds, dtype=torch.float64)[None])
    x = torch.ones(1, 2, len(seconds), 16)
    return torch.stack(encoding.prepare(at, at).layer(0).rotate(x, x))


def t_rope(**settings):
    return build({"kind": "t_rope", **settings}, dim=32, n_heads=2, n_layers=2, seed=1)


@pytest.mark.parametrize("settings", [{}, {"non_stationary": False, "shared": True}], ids=["published", "distance"])
def test_near_1970_float32_is_exact_and_today_it_is_not(settings):
    early, late = [60.0, 1000.0, 5000.0], [LATE, LATE + 60, LATE + 360]
    for seconds, close in ((early, True), (late, False)):
        exact = t_rope(**settings)
        apart = (turned(exact, seconds) - turned(naive(exact), seconds)).abs().max()
        assert (apart < 1e-3) == close


def test_slow_planes_are_exact_enough_even_today():
    exact = t_rope(beta_min=1e7)
    np.testing.assert_allclose(turned(exact, [LATE]).detach(), turned(naive(exact), [LATE]).detach(), atol=1e-3)


def test_a_trial_learns_the_same_coefficients_and_has_a_key_of_its_own():
    plain, rounded = (ArmTrial.of(Arm("a", "t_rope", trial=trial), MOMENT, BARE, 0) for trial in (None, NaiveTrial))
    assert isinstance(rounded, NaiveTrial)
    assert settings_key(plain.settings()) != settings_key(rounded.settings())
    first, second = plain.run(), rounded.run()
    assert first["learned"].keys() == second["learned"].keys() == {"query.offset", "key.offset"}
    assert first["squared"] != second["squared"]
    np.testing.assert_allclose(second["learned"]["query.offset"], first["learned"]["query.offset"], rtol=0.5)


@pytest.mark.parametrize("encoding", [{"kind": "rope"}, {"kind": "t_rope", "epoch": 1e9}])
def test_what_has_no_float32_variant_is_refused(encoding):
    with pytest.raises(ConfigError, match="float32"):
        naive(build(encoding, dim=32, n_heads=2, n_layers=1))
