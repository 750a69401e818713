import dataclasses

import numpy as np
import pytest
import torch

from fints.encodings import build
from fints.errors import ConfigError
from fints.studies.comparison import BARE, HSTU, ArmTrial, Recipe, Shape
from fints.studies.ledger import settings_key
from fints.studies.transposed_key.sign import TRANSPOSED, SignTrial, with_standard_key
from fints.studies.transposed_key.study import CHANGE, TWO
from fints.transformer import NetworkConfig, TrainingConfig

SMALL = {
    "shape": Shape(trained=60, total=120, input_size=24, h=4, horizon=8),
    "recipe": Recipe(
        NetworkConfig(dim=16, n_layers=1, n_heads=2, dropout=0.0), TrainingConfig(max_steps=4, batch_size=4)
    ),
}
MOMENT = dataclasses.replace(TWO, **SMALL)


def t_rope(**options):
    return build({"kind": "t_rope", **options}, dim=32, n_heads=2, n_layers=2, seed=1)


def test_a_standard_key_of_the_opposite_sign_repeats_the_losses_and_one_of_the_same_sign_does_not():
    result = SignTrial(MOMENT, 0).run()
    assert result["apart"] == 0.0
    assert result["negated"] == result["first"]
    assert result["ordinary"] > 1e-6
    assert len(result["kept"]) == len(result["first"]) == 4
    assert (result["task"], result["seed"]) == ("two", 0)


def test_coefficients_are_turned_about_and_those_of_queries_are_left_alone():
    before, after = t_rope(), with_standard_key(t_rope(), -1)
    np.testing.assert_array_equal(after.key.alpha().detach(), -before.key.alpha().detach())
    np.testing.assert_array_equal(after.query.alpha().detach(), before.query.alpha().detach())
    assert not after.config.non_stationary


@pytest.mark.parametrize("mode", [BARE, HSTU], ids=lambda mode: mode.name)
@pytest.mark.parametrize("sign", [-1, 1])
def test_networks_of_either_block_say_the_same_only_if_the_sign_is_turned(mode, sign):
    from copy import deepcopy

    from fints.series import validate_panel
    from fints.series.windows import Tape
    from fints.transformer.training import TrainingWindows

    trial = ArmTrial.of(TRANSPOSED, MOMENT, mode, 0)
    model = trial.model()
    first = model.design.network_for(0, 0).eval()
    torch.manual_seed(0)
    for name, parameter in first.named_parameters():
        if not name.startswith("encoding"):  # as it starts, the last layer says nothing
            torch.nn.init.normal_(parameter, std=0.3)
    second = deepcopy(first)
    second.encoding = with_standard_key(second.encoding, sign)
    windows = TrainingWindows(Tape.from_panel(validate_panel(trial.panel()[0]), (), ()), 24, 4)
    batch = windows.batch(windows.origins()[:3])
    with torch.no_grad():
        said = [network(batch.inputs).numpy() for network in (first, second)]
    assert np.array_equal(*said) == (sign == -1)


@pytest.mark.parametrize(
    "encoding",
    [
        lambda: build("rope", dim=32, n_heads=2, n_layers=1),
        lambda: t_rope(non_stationary=False),
        lambda: t_rope(shared=True),
    ],
    ids=["rope", "standard", "shared"],
)
def test_only_a_separate_transposed_key_has_such_a_twin(encoding):
    with pytest.raises(ConfigError, match="only T-RoPE with a transposed key"):
        with_standard_key(encoding(), -1)


def test_what_decides_a_trial_is_in_its_key():
    trials = [SignTrial(task, seed) for task in (TWO, CHANGE) for seed in (0, 1)]
    assert len({settings_key(trial.settings()) for trial in trials}) == 4
