import numpy as np
import pytest

from fints.studies.comparison import BARE, ArmTrial, Results
from fints.studies.period_drift import period_drift
from fints.studies.period_drift.drift import BANDS, Drift, approach, drift, seen_period
from fints.studies.period_drift.drift_chapter import drift_chapter
from fints.studies.period_drift.study import ARMS, DEFAULT, FIXED, ONE, PAIRS, TWO
from fints.studies.period_drift.verdicts import verdict

SEEDS = 3


@pytest.mark.parametrize("arm", ARMS, ids=[arm.name for arm in ARMS])
@pytest.mark.parametrize("task", [ONE, TWO], ids=["one", "two"])
def test_every_arm_builds_on_every_task_and_starts_like_the_others(arm, task):
    encoding = ArmTrial.of(arm, task, BARE, 1).model().design.network_for(0, 0).encoding
    like = ArmTrial.of(DEFAULT, task, BARE, 1).model().design.network_for(0, 0).encoding
    np.testing.assert_array_equal(encoding.query.alpha().detach(), like.query.alpha().detach())


def learned(arm, seed, times):
    """Frequencies of an arm whose periods have become so many times longer."""
    from fints.encodings import effective_periods

    encoding = ArmTrial.of(arm, ONE, BARE, seed).model().design.network_for(0, 0).encoding
    return {name: [1 / (times * period) for period in found] for name, found in effective_periods(encoding).items()}


def made(times=1.0, error=1.0):
    units = {}
    for arm in ARMS:
        units["one", "bare", arm.name] = [
            {
                "squared": [(error if arm is DEFAULT else 1.0) ** 2 * np.exp(0.02 * seed)] * 72,
                "learned": learned(arm, seed, times if arm is DEFAULT else 1.0),
                "seconds": 1.0,
            }
            for seed in range(SEEDS)
        ]
    return Results("full", {arm.name: arm for arm in ARMS}, {"one": ONE}, {"bare": BARE}, units, PAIRS)


def test_periods_before_training_come_from_the_seed_and_after_from_the_unit():
    found = drift(made(times=3.0), DEFAULT.name, "one", "bare")
    assert found.start.shape == (SEEDS, 32)
    np.testing.assert_allclose(found.logs, np.log(3))
    assert len(np.unique(found.start[:, 0])) == SEEDS
    assert found.nominal.min() == pytest.approx(2 * np.pi * 100 / 86_400)
    assert found.nominal.max() == pytest.approx(2 * np.pi * 1e8 / 86_400)


def test_bands_part_all_planes():
    found = drift(made(), DEFAULT.name, "one", "bare")
    assert sum(found.within(band).sum() for band in BANDS) == found.start.shape[1]


def test_what_does_not_learn_has_no_drift():
    assert drift(made(), FIXED.name, "one", "bare") is None
    assert drift(made(), "unheard of", "one", "bare") is None


def test_daily_bars_show_fast_planes_at_the_period_of_what_is_left_of_whole_turns():
    np.testing.assert_allclose(seen_period(np.array([20.0, 20 / 21, 20 / 19, 20 / 41])), 20.0)


def test_planes_that_move_to_the_planted_period_come_closer_by_what_they_moved():
    start = np.array([[18.0, 25.0, 400.0], [15.0, 30.0, 500.0]])
    after = np.array([[19.0, 24.0, 300.0], [18.0, 25.0, 100.0]])
    way = approach(Drift(np.array([20.0, 20.0, 400.0]), start, after), 20.0)
    moved = [np.mean([np.log(19 / 18), np.log(25 / 24)]), np.mean([np.log(18 / 15), np.log(30 / 25)])]
    np.testing.assert_allclose(way.moved, moved)
    np.testing.assert_allclose(way.before, [np.log(20 / 18), np.log(20 / 15)])
    far = approach(Drift(np.array([400.0]), np.full((1, 1), 400.0), np.full((1, 1), 390.0)), 20.0)
    assert np.isnan(far.moved).all()


def test_turns_are_counted_over_what_training_saw():
    periods = Drift(np.array([10.0]), np.array([[10.0]]), np.array([[20.0]]))
    np.testing.assert_allclose(periods.turns(100.0), 5.0)


def test_no_growth_is_a_no_and_growth_as_reported_a_yes():
    assert verdict(made())[0].startswith("No: nowhere")
    assert verdict(made(times=80.0))[0].startswith("Yes: effective periods grow 80 times with t_rope")


def test_the_verdict_says_how_far_each_arm_went_and_whether_the_error_differs():
    said = verdict(made(times=1.3, error=2.0))
    assert any(s.startswith("t_rope on a cycle of 20 days: periods are 1.300 times") for s in said)
    assert any("t_rope has 2" in s and "the error of fixed" in s for s in said)
    assert any("show no direction" in s for s in said)


def test_the_chapter_has_tables_by_band_and_by_planted_period_and_figures_of_what_learns():
    (chapter,) = drift_chapter(made(times=3.0))
    bands, planted, decay = (table.frame for table in chapter.tables)
    rows = bands[bands["arm"] == "t_rope"]
    assert len(rows) == len(BANDS)
    assert all(value.startswith("3 (3 to 3)") for value in rows["after / before"])
    assert len(planted) == len(ARMS) - 2
    assert len(decay) == 3
    effective, moved = chapter.charts
    assert {line.name for line in moved.lines} == {arm.name for arm in ARMS if "fixed" not in arm.name}
    assert effective.lines[0].reference


def test_results_without_learned_frequencies_have_no_chapter():
    units = {("one", "bare", FIXED.name): [{"squared": [1.0] * 72, "learned": {}, "seconds": 1.0}]}
    nothing = Results("full", {FIXED.name: FIXED}, {"one": ONE}, {"bare": BARE}, units, ())
    assert drift_chapter(nothing) == []
    assert verdict(nothing) == ["Nothing was learned, so nothing could drift."]


def test_the_study_runs_enough_seeds():
    assert all(block.seeds >= 5 for scope in period_drift().scopes.values() for block in scope.blocks)
