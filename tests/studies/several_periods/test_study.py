import dataclasses

import pytest

from fints.studies.comparison import BARE, WHOLE, ArmTrial, Shape
from fints.studies.several_periods import several_periods
from fints.studies.several_periods.arms import ARMS, WAYS, told
from fints.studies.several_periods.study import SCOPES, SHAPED, SINES, TWO_BROKEN


def cells(budget):
    blocks = SCOPES[budget].blocks
    return {(t.name, m.name, a.name) for b in blocks for t in b.tasks for m in b.modes for a in b.arms}


def test_quick_asks_for_less_of_the_same_and_every_way_is_run_wherever_one_is():
    assert cells("quick") < cells("full")
    for task, mode, _ in cells("full"):
        assert {(task, mode, way) for way in WAYS} <= cells("full")
    assert {mode for _, mode, _ in cells("full")} == {BARE.name, WHOLE.name}
    assert all(block.seeds >= 5 for scope in SCOPES.values() for block in scope.blocks)


def test_commensurate_periods_divide_one_another_and_the_others_do_not():
    for task in (*SINES, SHAPED):
        periods = [cycle.period for cycle in told(task).cycles]
        whole = all(periods[-1] % period == 0 for period in periods)
        assert whole == task.name.endswith("-commensurate")


def test_every_task_that_is_fitted_as_the_product_is_divides_into_training_and_validation():
    from fints.series.windows import Tape
    from fints.transformer.training import TrainingWindows
    from fints.transformer.training.split import Split

    for block in SCOPES["full"].blocks:
        for task in block.tasks if any(mode.as_fitted for mode in block.modes) else ():
            shape, share = task.shape, task.recipe.training.validation_share
            windows = TrainingWindows(Tape.from_panel(task.seen(task.draw(0).panel), (), ()), shape.input_size, shape.h)
            split = Split.by_time(windows, share)
            assert min(len(split.train), len(split.validation)) >= task.recipe.training.batch_size


@pytest.mark.parametrize("arm", ARMS, ids=[arm.name for arm in ARMS])
def test_every_arm_trains_and_forecasts(arm):
    task = dataclasses.replace(
        TWO_BROKEN,
        shape=Shape(trained=30, total=60, input_size=12, h=4, horizon=8, stride=5),
        recipe=dataclasses.replace(
            TWO_BROKEN.recipe, training=TWO_BROKEN.recipe.training.model_copy(update={"max_steps": 3})
        ),
    )
    assert len(ArmTrial.of(arm, task, BARE, 0).run()["squared"]) == 8


def test_the_study_has_a_name_and_draws_what_quick_runs():
    study = several_periods()
    assert study.name == "several-periods"
    assert {(task, mode) for task, mode in study.drawn} <= {(task, mode) for task, mode, _ in cells("quick")}
