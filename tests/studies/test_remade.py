import pickle

import torch

from fints.encodings import NoEncoding
from fints.plan import FrequencyPlan
from fints.studies.remade import RemadeDesign, remade
from fints.transformer import CycleTransformer, NetworkConfig


def without(encoding):
    return NoEncoding(encoding.n_layers)


def model():
    return CycleTransformer(4, 8, "t_rope", FrequencyPlan.from_periods([5.0]), random_seed=3)


def test_a_remade_model_has_another_encoding_and_the_same_other_first_weights():
    plain, other = model().design.network_for(0, 0), remade(model(), without).design.network_for(0, 0)
    assert isinstance(other.encoding, NoEncoding)
    weights = dict(other.named_parameters())
    same = {name: value for name, value in plain.named_parameters() if not name.startswith("encoding.")}
    assert set(weights) == set(same)
    assert all(torch.equal(weights[name], value) for name, value in same.items())


def test_other_settings_and_another_process_keep_the_variant():
    changed = remade(model(), without).with_settings(NetworkConfig(dim=24), None)
    assert isinstance(changed.design, RemadeDesign)
    assert pickle.loads(pickle.dumps(changed.design)).remake is without
