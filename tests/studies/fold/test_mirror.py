import dataclasses

import pytest

from fints.encodings import build, encoding_config
from fints.errors import ConfigError
from fints.studies.comparison import Recipe, Shape
from fints.studies.fold.mirror import MirrorTrial, folded, negative_planes
from fints.studies.fold.study import ON_TIME
from fints.studies.ledger import settings_key
from fints.transformer import NetworkConfig, TrainingConfig

MOMENT = dataclasses.replace(
    ON_TIME,
    shape=Shape(trained=60, total=120, input_size=24, h=4, horizon=8),
    recipe=Recipe(NetworkConfig(dim=16, n_layers=1, n_heads=2, dropout=0.0), TrainingConfig(max_steps=4, batch_size=4)),
)


def built(law):
    return build(encoding_config({"kind": "clock", "law": law, "period": 24.0}), dim=32, n_heads=2, n_layers=2, seed=1)


@pytest.mark.parametrize("kernel", ["cosine", "gaussian"])
def test_the_folded_image_of_a_symmetric_law_is_the_folded_law_of_that_seed(kernel):
    symmetric, fold = built(f"{kernel}-sym"), built(f"{kernel}-fold")
    assert negative_planes(symmetric).any()
    assert not negative_planes(fold).any()
    assert folded(symmetric).planes == fold.planes


def test_a_trial_tells_that_mirrored_weights_repeat_the_losses_and_the_same_ones_do_not():
    result = MirrorTrial(MOMENT, "cosine-sym", 0).run()
    assert result["apart"] < 1e-6 < result["unmirrored"]
    assert result["steps"] == 4
    assert 0 < result["folded"] < 1


def test_what_decides_a_trial_is_in_its_key():
    trials = [MirrorTrial(MOMENT, law, seed) for law in ("cosine-sym", "gaussian-sym") for seed in (0, 1)]
    assert len({settings_key(trial.settings()) for trial in trials}) == 4


def test_an_encoding_without_fixed_planes_cannot_be_folded():
    with pytest.raises(ConfigError, match="no fixed planes"):
        folded(build("rope", dim=32, n_heads=2, n_layers=1))
