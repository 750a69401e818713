import dataclasses
import math

import numpy as np
import pytest

from fints.encodings import build
from fints.studies import Bench, Untracked
from fints.studies.comparison import BARE, ArmTrial, Block, Recipe, Scope, Shape
from fints.studies.ledger import settings_key
from fints.studies.looking_back import looking_back
from fints.studies.looking_back.study import ARMS, SCOPES
from fints.studies.looking_back.tasks import DAYS, ECHOES, ruler
from fints.studies.looking_back.trial import AttentionTrial
from fints.transformer import NetworkConfig, TrainingConfig

TASKS = {task.name: task for block in SCOPES["full"].blocks for task in block.tasks}
MOMENT = dataclasses.replace(
    ECHOES,
    shape=Shape(trained=130, total=190, input_size=84, h=6, horizon=7, stride=20),
    recipe=Recipe(NetworkConfig(dim=16, n_layers=2, n_heads=2, dropout=0.0), TrainingConfig(max_steps=3, batch_size=4)),
)


@pytest.mark.parametrize("arm", ARMS, ids=[arm.name for arm in ARMS])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_arm_can_be_built_on_every_task(arm, task):
    net = task.recipe.network
    plan = arm.plan_for(task, 0)
    build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=plan, seed=0)
    assert {cycle.clock for cycle in plan.cycles} == {"calendar" if task.name == "sample" else "session"}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_distance_that_is_read_lies_in_the_context_of_every_bar_that_is_read(task):
    by = ruler(task)
    nearest = min(min(peak.around) for peak in by.peaks)
    furthest = max(max((*peak.around, peak.at)) for peak in by.peaks)
    assert furthest <= by.reach
    assert by.steps <= nearest
    assert by is DAYS or furthest < task.shape.input_size
    assert by.steps <= task.shape.h


def test_echoes_are_asked_for_no_further_than_they_are_known():
    assert ECHOES.shape.horizon <= ECHOES.source.day


def test_attention_is_even_on_average_before_and_after_a_training():
    trial = AttentionTrial(ArmTrial.of(ARMS[1], MOMENT, BARE, 0))
    result = trial.run()
    assert len(result["squared"]) == MOMENT.shape.horizon
    for when in ("attention", "before"):
        profile = np.array(result[when], float)
        assert profile.shape == (2, 2, 81)
        assert math.isclose(np.nanmean(profile), 1.0, rel_tol=0.2)
    assert result["attention"] != result["before"]


def test_what_is_read_is_in_the_key():
    trial = ArmTrial.of(ARMS[0], MOMENT, BARE, 0)
    assert settings_key(AttentionTrial(trial).settings()) != settings_key(trial.settings())


def test_a_study_in_miniature_answers_and_does_nothing_twice(tmp_path):
    study = looking_back()
    scope = Scope((Block((MOMENT,), ARMS, (BARE,), seeds=2),))
    small = dataclasses.replace(study, scopes={"quick": scope})
    counts = []
    bench = Bench(tmp_path, "quick", 1, Untracked(), lambda done, total: counts.append((done, total)))
    first = small.run(bench)
    assert counts[-1] == (12, 12)
    counts.clear()
    assert small.run(bench).verdicts == first.verdicts
    assert counts == [(12, 12)]
    assert any(chapter.title == "Where attention looks" for chapter in first.chapters)
