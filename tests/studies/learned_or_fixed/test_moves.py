import dataclasses

import numpy as np
import pytest

from fints.encodings import effective_periods
from fints.studies.comparison import BARE, ArmTrial, Recipe, Shape
from fints.studies.learned_or_fixed.arms import BANK_FAST, BY_NAME, FAST, RANDOM_FAST, SECONDS_PER_DAY, ZERO_FAST
from fints.studies.learned_or_fixed.chapters import chapters
from fints.studies.learned_or_fixed.moves import Moves, moves, true_lines
from fints.studies.learned_or_fixed.study import ROUTINE, SCOPES, TWO
from fints.studies.learned_or_fixed.verdicts import verdict
from fints.transformer import NetworkConfig, TrainingConfig

LINES = np.array([0.1, 0.2])


def start(name, task=TWO, seed=0):
    encoding = ArmTrial.of(BY_NAME[name], task, BARE, seed).model().design.network_for(0, 0).encoding
    return {key: 1 / np.array(periods) for key, periods in effective_periods(encoding).items()}


def moved(name, share, seeds=3):
    """Every plane goes this share of its way to the nearest true frequency."""
    found = []
    for seed in range(seeds):
        (key, before), lines = *start(name, seed=seed).items(), true_lines(TWO)
        nearest = lines[np.abs(before[:, None] - lines).argmin(axis=1)]
        found.append({key: list(before + share * (nearest - before))})
    return {(TWO.name, name): found}


def test_planes_that_come_nearer_are_counted_among_those_that_could():
    before = np.array([[0.1, 0.12, 0.26, 0.3], [0.1, 0.12, 0.26, 0.3]])
    after = np.array([[0.11, 0.11, 0.25, 0.4], [0.09, 0.11, 0.25, 0.25]])
    move = Moves("two", "arm", before, after, LINES, 96)
    assert move.on_line.sum() == 2
    assert move.nearer.mean == pytest.approx((2 / 3 + 1) / 2)
    assert move.moved == pytest.approx(0.01)
    assert move.distance(after=False) == pytest.approx(0.04)


def test_planes_that_all_start_on_true_frequencies_can_come_no_nearer():
    assert Moves("two", "arm", LINES[None], LINES[None] + 0.01, LINES, 96).nearer is None


def test_the_true_frequencies_are_those_of_the_source():
    np.testing.assert_allclose(true_lines(TWO), [1 / 21.3, 1 / 9.4])
    np.testing.assert_allclose(true_lines(ROUTINE), np.arange(1, 7) / 24)
    (sample,) = {task for block in SCOPES["full"].blocks for task in block.tasks if task.name == "sample"}
    np.testing.assert_allclose(true_lines(sample), [1 / 7, 2 / 7, 3 / 7])


@pytest.mark.parametrize(("share", "way"), [(0.05, "towards them"), (-0.05, "away from them")])
def test_the_verdict_says_which_way_learning_goes(make, share, way):
    said = verdict(make(learned=moved(RANDOM_FAST, share), seeds=3))[-2]
    assert f"learning moves planes {way} `{RANDOM_FAST}` on two" in said
    assert said.count("come nearer") == 1


def test_planes_that_start_at_zero_come_nearer_whichever_way_and_are_not_counted(make):
    results = make(learned=moved(ZERO_FAST, 1.0, seeds=2), seeds=2)
    (move,) = moves(results)
    assert move.nearer is None
    assert (move.resolved(after=False), move.resolved(after=True)) == (0.0, 1.0)
    assert f"`{ZERO_FAST}` on two 0 to 100 %" in verdict(results)[-1]


def test_chapters_and_verdict_speak_of_planes_that_moved(make):
    results = make(learned=moved(RANDOM_FAST, 0.05, seeds=1), seeds=1)
    said = verdict(results)[-2]
    assert said.startswith("Seen from the true frequencies, learning moves planes neither way")
    chapter = chapters(results)[-1]
    assert chapter.title == "Where learning moves frequencies"
    assert list(chapter.tables[0].frame["arm"]) == [RANDOM_FAST]
    (chart,) = chapter.charts
    assert chart.lines[-1].marks
    assert chart.lines[-1].x.shape == (16,)


def test_a_bank_in_seconds_is_read_in_turns_per_bar(make):
    unmoved = {key: list(row) for key, row in start(BANK_FAST).items()}
    (move,) = moves(make(learned={(TWO.name, BANK_FAST): [unmoved]}, seeds=1))
    np.testing.assert_array_equal(move.before, move.after)
    slow = np.concatenate(list(unmoved.values())) * SECONDS_PER_DAY
    assert move.before.max() <= 0.5
    np.testing.assert_allclose(move.before[0][slow < 0.5], slow[slow < 0.5])


def test_a_trial_that_is_run_can_be_held_against_its_start(make):
    task = dataclasses.replace(
        TWO,
        shape=Shape(trained=60, total=120, input_size=24, h=4, horizon=8),
        recipe=Recipe(
            NetworkConfig(dim=16, n_layers=1, n_heads=2, dropout=0.0), TrainingConfig(max_steps=3, batch_size=4)
        ),
    )
    learned = ArmTrial.of(BY_NAME[FAST], task, BARE, 0).run()["learned"]
    (move,) = moves(make(learned={(task.name, FAST): [learned]}, seeds=1, tasks=(task,)))
    assert move.before.shape == move.after.shape == (1, 4)
    assert 0 < np.abs(move.after - move.before).max() < 0.02
