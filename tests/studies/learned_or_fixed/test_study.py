from fints.studies.learned_or_fixed import learned_or_fixed
from fints.studies.learned_or_fixed.arms import BY_NAME
from fints.studies.learned_or_fixed.study import PAIRS, SCOPES

QUICK, FULL = SCOPES["quick"].blocks, SCOPES["full"].blocks


def test_pairs_name_arms_of_the_study_and_all_of_them_are_compared():
    assert {name for pair in PAIRS for name in (pair.first, pair.second)} == set(BY_NAME)


def test_quick_asks_for_less_of_the_same():
    tasks = {task.name: task for block in FULL for task in block.tasks}
    assert all(tasks[task.name] is task for block in QUICK for task in block.tasks)
    assert learned_or_fixed().name == "learned-or-fixed"


def test_every_comparison_has_five_seeds_or_more_and_a_second_arm_has_covariates_and_a_linear_start():
    assert all(block.seeds >= 5 for block in (*QUICK, *FULL))
    modes = {mode.name: mode for block in FULL for mode in block.modes}
    assert modes["whole"].network["covariates"]
    assert modes["whole"].network["linear_skip"]
    assert not modes["bare"].network["covariates"]
    assert not modes["bare"].network["linear_skip"]
