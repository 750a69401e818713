import dataclasses

import numpy as np
import pytest

from fints.encodings import build
from fints.studies import Bench, Untracked
from fints.studies.comparison import BARE, WHOLE, Arm, ArmTrial, Block, Recipe, Scope, Shape
from fints.studies.cross_asset import cross_asset
from fints.studies.cross_asset.study import ARMS, SCOPES
from fints.studies.cross_asset.tasks import APART, LED
from fints.studies.cross_asset.trial import PanelTrial, known_peers, said_of
from fints.studies.ledger import settings_key
from fints.transformer import NetworkConfig, TrainingConfig

SMALL = Shape(trained=90, total=140, input_size=24, h=3, horizon=6, stride=6)
BRIEF = TrainingConfig(max_steps=4, batch_size=4, learning_rate=4e-3, validate_every=2)
MOMENT = Recipe(NetworkConfig(dim=16, n_layers=1, n_heads=2, dropout=0.0, companions=False), BRIEF)
LITTLE = dataclasses.replace(LED, shape=SMALL, recipe=MOMENT)
OTHERS = {"cross_asset": True}


def trial(arm, mode=BARE, task=LITTLE):
    return PanelTrial(ArmTrial.of(arm, task, mode, 0))


@pytest.mark.parametrize("arm", ARMS, ids=[arm.name for arm in ARMS])
@pytest.mark.parametrize(
    "task", {t.name: t for b in SCOPES["full"].blocks for t in b.tasks}.values(), ids=lambda t: t.name
)
def test_every_arm_can_be_built_on_every_task(arm, task):
    net, plan = task.recipe.network, arm.plan_for(task, 0)
    build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=plan, seed=0)
    assert arm.network.get("cross_asset", False) == arm.name.endswith("+ others")


@pytest.mark.parametrize("mode", [BARE, WHOLE], ids=["bare", "whole"])
@pytest.mark.parametrize("network", [{}, OTHERS], ids=["alone", "together"])
def test_a_unit_trains_asks_and_takes_the_forecasts_of_followers_apart(mode, network):
    result = trial(Arm("rope", "rope", network=network), mode).run()
    assert len(result["squared"]) == len(result["residual"]) == len(result["cycle"]) == SMALL.horizon
    assert np.isfinite(result["squared"]).all()


def test_forecasts_of_followers_are_made_with_what_is_known_of_the_leader():
    unit = trial(Arm("rope", "rope", network=OTHERS))
    model, _ = unit.trained()
    panel, _ = unit.trial.panel()
    origin = np.array([140 + 99])
    told = known_peers(model, panel, origin)
    assert told.known.all()
    changed = panel.copy()
    leader = changed["unique_id"] == "a-leader"
    changed.loc[leader & (changed.groupby("unique_id").cumcount() > 99), "y"] += 50.0
    assert (known_peers(model, changed, origin).features == told.features).all()
    changed.loc[leader, "y"] += np.linspace(0.0, 5.0, 140)
    assert (known_peers(model, changed, origin).features != told.features).any()


def test_without_attention_across_series_an_arm_is_that_of_a_comparison():
    arm = Arm("rope", "rope")
    unit = trial(arm, task=dataclasses.replace(APART, shape=SMALL, recipe=MOMENT))
    ours, theirs = unit.trained()[0], unit.trial.trained()[0]
    for name, weight in ours.fitted.networks[0].state_dict().items():
        assert (weight == theirs.fitted.networks[0].state_dict()[name]).all()
    assert settings_key(unit.settings()) != settings_key(unit.trial.settings())


def test_what_is_said_is_a_share_of_what_was_to_be_said():
    told = np.random.default_rng(0).standard_normal((500, 3))
    assert said_of(told, told) == pytest.approx(1.0)
    assert said_of(0.3 * told + 5.0, told) == pytest.approx(0.3)
    assert said_of(np.ones_like(told), told) == pytest.approx(0.0, abs=1e-9)


def test_a_study_in_miniature_answers_and_does_nothing_twice(tmp_path):
    study = cross_asset()
    scope = Scope((Block((LITTLE,), ARMS, (BARE,), seeds=2),))
    small = dataclasses.replace(study, scopes={"quick": scope})
    counts = []
    bench = Bench(tmp_path, "quick", 1, Untracked(), lambda done, total: counts.append((done, total)))
    first = small.run(bench)
    assert counts[-1] == (12, 12)
    counts.clear()
    assert small.run(bench).verdicts == first.verdicts
    assert counts == [(12, 12)]
