import pytest

from fints.encodings import build
from fints.studies.comparison.sample import SAMPLE
from fints.studies.fold import fold_or_symmetric
from fints.studies.fold.study import LAWS, SCOPES
from fints.studies.fold.verdicts import DIRECTED, SOFTMAX

FULL = SCOPES["full"].blocks
TASKS = {task.name: task for block in FULL for task in block.tasks}


@pytest.mark.parametrize("arm", LAWS, ids=[arm.name for arm in LAWS])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_law_can_be_built_on_every_task_and_is_told_its_period(arm, task):
    net, plan = task.recipe.network, arm.plan_for(task, 0)
    built = build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, plan=plan, seed=0)
    cycle = plan.strongest(1).cycles[0]
    drawn = [p.frequency * cycle.period for layer in built.planes for head in layer for p in head if p.clock != "index"]
    assert cycle.clock == ("calendar" if task.name == "sample" else "session")
    assert len(drawn) == net.n_layers * net.dim // 4
    assert drawn == pytest.approx([round(turns) for turns in drawn], abs=1e-9)


def test_directed_routines_are_asked_for_no_further_than_their_causes_are_known():
    for name in DIRECTED:
        assert TASKS[name].shape.horizon <= TASKS[name].source.lag


def test_quick_asks_for_less_of_the_same_and_names_match():
    quick = [task for block in SCOPES["quick"].blocks for task in block.tasks]
    assert all(TASKS[task.name] is task for task in quick)
    assert set(SOFTMAX) < {mode.name for block in FULL for mode in block.modes}
    assert fold_or_symmetric().name == "fold-or-symmetric"
    assert all(block.seeds >= (5 if block.tasks == (SAMPLE,) else 10) for block in FULL)
