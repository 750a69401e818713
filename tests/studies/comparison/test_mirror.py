import numpy as np
import pytest

from fints.encodings import build, encoding_config
from fints.errors import ConfigError, SeriesError
from fints.studies.comparison import BARE, HSTU, Arm, ArmTrial
from fints.studies.comparison.mirror import mirrored_losses
from fints.studies.fold.mirror import folded, negative_planes

CLOCK = Arm("clock", {"kind": "clock", "law": "gaussian-sym", "period": 7.0, "seed_base": 3})


@pytest.fixture
def trial(tiny):
    return ArmTrial.of(CLOCK, tiny, BARE, 0)


def losses(trial, mirrored, change=folded):
    return mirrored_losses(trial.model(), trial.task.seen(trial.panel()[0]), mirrored, change)


def negative(trial):
    return negative_planes(trial.model().design.network_for(0, 0).encoding)


def test_a_folded_law_repeats_the_losses_of_its_mirror_image(trial):
    assert negative(trial).any()
    found = losses(trial, negative(trial))
    assert len(found.first) == 3
    assert found.apart < 1e-6


def test_without_mirrored_weights_it_does_not(trial):
    assert losses(trial, np.zeros_like(negative(trial))).apart > 1e-4


def test_mirrored_weights_alone_change_the_losses(trial):
    assert losses(trial, negative(trial), lambda encoding: encoding).apart > 1e-4


def test_a_transposed_key_of_t_rope_is_a_standard_key_of_the_other_sign_with_the_same_weights(tiny):
    trial = ArmTrial.of(Arm("t_rope", {"kind": "t_rope", "seed_base": 0}), tiny, BARE, 0)

    def standard(encoding):
        config = encoding_config({"kind": "t_rope", "seed_base": 0, "non_stationary": False})
        other = build(config, dim=24, n_heads=2, n_layers=2, plan=trial.plan)
        other.key.starts = tuple(tuple(-alpha for alpha in row) for row in encoding.key.starts)
        return other

    assert losses(trial, np.zeros((2, 2, 6), dtype=bool), standard).apart < 1e-6


def test_blocks_with_a_nonlinearity_behind_queries_and_keys_have_no_mirror_image(tiny):
    with pytest.raises(ConfigError, match="no mirror image"):
        losses(ArmTrial.of(CLOCK, tiny, HSTU, 0), np.zeros((2, 2, 6), dtype=bool))


def test_a_mask_of_another_shape_is_refused(trial):
    with pytest.raises(ConfigError, match="2 layers of 2 heads with 6 planes"):
        losses(trial, np.zeros((1, 2, 6), dtype=bool))


def test_too_few_bars_are_refused(trial):
    with pytest.raises(SeriesError, match="no window"):
        mirrored_losses(trial.model(), trial.panel()[0].head(10), negative(trial), folded)
