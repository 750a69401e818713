import numpy as np
import pytest

from fints.studies.comparison import BARE, WHOLE, Results
from fints.studies.several_periods.arms import ALONE, ARMS, CYCLE, FEATURE, HEAD, MIXTURE
from fints.studies.several_periods.chapters import chapters
from fints.studies.several_periods.study import PAIRS, THREE_WHOLE, TWO_BROKEN
from fints.studies.several_periods.verdicts import verdict

TASKS = (TWO_BROKEN, THREE_WHOLE)


def made(levels, modes=(BARE,), spread=0.01, seeds=8, tasks=TASKS):
    """Errors by arm, or by (arm, task), times luck; 1 where nothing is said."""
    luck, units = spread * np.random.default_rng(0).standard_normal(seeds), {}
    for task in tasks:
        for mode in modes:
            for turn, arm in enumerate(ARMS):
                level = levels.get((arm.name, task.name), levels.get(arm.name, 1.0))
                each = level * np.exp(np.roll(luck, turn))  # no difference on average
                units[task.name, mode.name, arm.name] = [
                    {"squared": [float(one) ** 2] * task.shape.horizon, "loss": 0.1, "seconds": 1.0, "learned": {}}
                    for one in each
                ]
    return Results(
        budget="full",
        arms={arm.name: arm for arm in ARMS},
        tasks={task.name: task for task in tasks},
        modes={mode.name: mode for mode in modes},
        units=units,
        pairs=PAIRS,
    )


def test_ways_that_lose_are_named_and_the_others_advised():
    results = made({FEATURE: 0.5})
    assert verdict(results)[0].startswith("Not mixture nor split by head: ")
    assert "split by feature nowhere. 4 of 6" in verdict(results)[0]
    assert "take split by feature, not mixture nor split by head" in chapters(results)[1].text
    results = made({MIXTURE: 2.0})
    assert verdict(results)[0].startswith("Not mixture: ")
    assert "take split by feature or split by head, not mixture" in chapters(results)[1].text


def test_wins_that_contradict_one_another_depend_on_the_periods():
    results = made({(MIXTURE, TWO_BROKEN.name): 0.5, (MIXTURE, THREE_WHOLE.name): 2.0})
    assert verdict(results)[0].startswith("It depends: 4 of 6")
    assert "advises none" in chapters(results)[1].text


def test_equality_is_said_where_it_is_shown():
    assert verdict(made({}, spread=0.002))[0].startswith("It makes no difference: all 6 comparisons are equal")


def test_what_cannot_be_told_says_how_many_seeds_it_needs():
    results = made({}, spread=0.5)
    said = verdict(results)[0]
    assert said.startswith("No way is shown to be better: none of 6")
    assert "would need, in seeds" in said
    assert "`clock` by default, a mixture" in chapters(results)[1].text


@pytest.mark.parametrize(("level", "short"), [(3.0, "more"), (1.0, "equal")])
def test_one_period_alone_and_plain_cycle_planes_are_held_against_the_mixture(level, short):
    results = made({ALONE: level, CYCLE: 0.5}, spread=0.002)
    alone, cycle = verdict(results)[-2:]
    assert alone.count(f"({short})") == 2
    assert cycle.count("(less)") == 2
    follows = chapters(results)[1].text
    assert ("which supports" in follows) == (level > 1)
    assert ("is not shown to cost" in follows) == (level == 1)


@pytest.mark.parametrize(("levels", "said"), [({}, "none of 6 comparisons"), ({HEAD: 0.5}, "(whole)")])
def test_covariates_are_reported_apart(levels, said):
    results = made(levels, modes=(BARE, WHOLE))
    (line,) = [line for line in verdict(results) if line.startswith("With covariates")]
    assert said in line


def test_the_chances_are_listed_once_for_each_kind_of_network():
    (table,) = chapters(made({}))[0].tables
    assert list(table.frame["periods"]) == ["2", "3"]
