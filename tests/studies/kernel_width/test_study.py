import dataclasses

import pytest

from fints.encodings import build
from fints.studies.comparison import BARE, ArmTrial, Shape
from fints.studies.kernel_width import kernel_width
from fints.studies.kernel_width.grid import DIVISORS, FULLEST, TRUNCATIONS, WIDTHS
from fints.studies.kernel_width.study import ARMS, PERIOD, SAMPLE, SCOPES, TASKS, told
from fints.studies.kernel_width.verdicts import DEFAULT

EVERY = {**TASKS, SAMPLE.name: SAMPLE}


@pytest.mark.parametrize(("divisor", "truncation"), ARMS)
@pytest.mark.parametrize("name", EVERY)
def test_every_kernel_can_be_built_and_draws_harmonics_up_to_its_truncation(divisor, truncation, name):
    task, arm = EVERY[name], ARMS[divisor, truncation]
    net, plan = task.recipe.network, told(task, 0)
    built = build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=plan, seed=0)
    period = plan.cycles[0].period
    turns = [plane.frequency * period for layer in built.planes for head in layer for plane in head]
    assert len(turns) == net.n_layers * net.dim // 2
    assert turns == pytest.approx([round(turn) for turn in turns], abs=1e-9)
    assert 0 <= min(turns) <= max(turns) <= truncation + 1e-9


def test_every_routine_has_its_own_width_on_the_grid_with_kernels_to_both_sides():
    for name, divisor in WIDTHS.items():
        (width,) = TASKS[name].source.widths
        assert width == PERIOD / divisor
        assert DIVISORS[0] > divisor > DIVISORS[-1]


def test_the_default_of_clock_rope_is_a_kernel_of_the_grid():
    from fints.encodings.clock import ClockConfig

    assert ClockConfig().sigma_over_period == 1 / DEFAULT[0]
    assert ClockConfig().truncation == DEFAULT[1]
    assert DEFAULT in ARMS


def test_quick_asks_for_less_of_the_same_and_pairs_name_what_is_run():
    full = {
        (task.name, mode.name, arm.name)
        for block in SCOPES["full"].blocks
        for task in block.tasks
        for mode in block.modes
        for arm in block.arms
    }
    quick = {(t.name, m.name, a.name) for b in SCOPES["quick"].blocks for t in b.tasks for m in b.modes for a in b.arms}
    assert quick < full
    assert max(TRUNCATIONS) == FULLEST
    for pair in kernel_width().pairs:
        for task in pair.tasks:
            for mode in pair.modes:
                assert {(task, mode, pair.first), (task, mode, pair.second)} <= full


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


def test_all_days_ahead_have_one_error_because_all_planes_turn_with_the_day():
    task = dataclasses.replace(
        TASKS["broad"],
        source=dataclasses.replace(TASKS["broad"].source, series=3),
        shape=Shape(trained=96, total=144, input_size=72, h=24, horizon=48, stride=8),
        recipe=dataclasses.replace(
            TASKS["broad"].recipe, training=TASKS["broad"].recipe.training.model_copy(update={"max_steps": 3})
        ),
    )
    squared = ArmTrial.of(ARMS[12.0, 6], task, BARE, 0).run()["squared"]
    assert squared[:24] == pytest.approx(squared[24:], rel=1e-3)
