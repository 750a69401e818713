import numpy as np
import pytest

from fints.studies.comparison import BARE, Results
from fints.studies.transposed_key.chapters import chapters
from fints.studies.transposed_key.study import ARMS, CHANGE, PAIRS, TWO
from fints.studies.transposed_key.verdicts import SEPARATE, SHARED, STANDARD, verdict

CURVE = [1.0, 0.5, 0.4]
EXACT = {
    "task": "two",
    "seed": 0,
    "first": CURVE,
    "negated": CURVE,
    "kept": [1.0, 0.6, 0.3],
    "apart": 0.0,
    "ordinary": 0.25,
    "seconds": 1.0,
}
LEVELS = {arm.name: 1.0 for arm in ARMS}


def make(levels=LEVELS, extra=(EXACT,), spread=0.05, seeds=12):
    """Errors of so much by arm; chance adds its share, which is nothing on average."""
    luck = spread * np.random.default_rng(0).standard_normal(seeds)
    units = {}
    for task in (TWO, CHANGE):
        for i, arm in enumerate(ARMS):
            errors = levels[arm.name] * np.exp(np.roll(luck, i) - luck.mean())
            units[task.name, BARE.name, arm.name] = [
                {"squared": [float(error) ** 2] * task.shape.horizon, "learned": {}, "seconds": 1.0} for error in errors
            ]
    return Results(
        budget="full",
        arms={arm.name: arm for arm in ARMS},
        tasks={task.name: task for task in (TWO, CHANGE)},
        modes={BARE.name: BARE},
        units=units,
        pairs=PAIRS,
        extra=extra,
    )


def test_one_family_is_a_yes_that_says_how_far_the_losses_agree():
    family, ordinary, *_ = verdict(make())
    assert family.startswith("Yes, one function family")
    assert "to the last bit at all 3 steps in 1 of 1 trainings" in family
    assert "up to 25 %" in family
    assert "no difference between the two keys is found" in ordinary
    assert "none of 4 comparisons over 12 seeds" in ordinary


def test_rounding_is_stated_and_losses_that_come_apart_refute_the_argument():
    assert "agree to 2e-06 of the loss" in verdict(make(extra=({**EXACT, "apart": 2e-6},)))[0]
    assert "argument fails" in verdict(make(extra=({**EXACT, "apart": 0.01},)))[0]
    assert "not trained" in verdict(make(extra=()))[0]


@pytest.mark.parametrize(("spread", "equal", "open_"), [(0.002, 4, False), (0.5, 0, True)])
def test_equality_and_what_stays_open_are_told_apart_with_the_seeds_that_are_needed(spread, equal, open_):
    said = verdict(make(spread=spread))[1]
    assert f"{equal} are equal within 5 %" in said
    assert ("in seeds" in said) == open_
    assert "standard deviation over seeds" in said


def test_a_difference_between_the_two_keys_is_told_as_against_the_argument():
    said = verdict(make({**LEVELS, SEPARATE: 2.0}))[1]
    assert "4 of 4 comparisons" in said
    assert "against an argument" in said


@pytest.mark.parametrize(
    ("levels", "says", "default"),
    [
        ({SHARED: 0.5}, "the smaller error in 8 of 8", "speaks for `shared=True` with `non_stationary=False`"),
        ({SHARED: 2.0}, "the larger in 8", "Separate ones stay"),
        ({SEPARATE: 2.0, STANDARD: 0.5}, "the smaller error in 4 of 8", "depends on the data"),
        ({}, "cannot be told to matter", "as published"),
    ],
)
def test_shared_coefficients_have_a_verdict_of_each_kind_with_its_default(levels, says, default):
    said = verdict(make({**LEVELS, **levels}))[2]
    assert says in said
    assert default in said


def test_a_single_seed_is_summed_up_without_intervals():
    said = verdict(make(seeds=1))
    assert "over 1 seed shows one" in said[1]
    assert "standard deviation" not in said[1]


def test_the_chapters_show_losses_and_the_spread_of_every_arm():
    signs, spread = chapters(make(extra=(EXACT, {**EXACT, "seed": 1, "apart": 2e-7})))
    assert list(signs.tables[0].frame.iloc[:, 3]) == ["0 (to the last bit)", "2e-05 %"]
    curves, differences = signs.charts
    assert [line.name for line in curves.lines] == ["transposed key, α^k", "standard key, α^k", "standard key, −α^k"]
    np.testing.assert_allclose(differences.lines[0].y, 0.0)
    np.testing.assert_allclose(differences.lines[1].y, [0.0, 20.0, 25.0])
    assert len(spread.tables[0].frame) == 2 * len(ARMS)
    assert not chapters(make(extra=()))[0].charts
