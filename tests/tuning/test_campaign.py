"""The search as a whole, on a landscape that is known; see `formula` in the conftest."""

import logging
import math
from dataclasses import replace

import pytest

from fints.errors import ConfigError, SeriesError, StoreError, TuningError
from fints.tuning import Budget, Objective, SpaceConfig, search, summaries, tune
from fints.tuning.finals import same
from fints.tuning.objective import InnerSearch
from fints.tuning.study import load
from tests.tuning.conftest import FOLDS, PERIOD

NAME = "20 sessions"


def done(found):
    """The trials that were run; points may wait behind them."""
    return [each for each in found if each.state != "waiting"]


def test_coarse_to_fine_finds_the_valley_and_resolves_it(tuner, store, formula):
    found = search(tuner, store, budget=Budget(trials=40))
    best = min(found, key=lambda each: each.value)
    assert abs(math.log(best.end[NAME] / PERIOD)) < 0.002
    assert [each.origin for each in found[:2]] == ["as it stands", "from the plan"]
    assert {each.origin for each in found[2:20]} == {"sampled"}
    assert {each.origin for each in found[20:]} == {"refined"}
    assert [each.fixed for each in found] == [True, *[False] * 19, *[True] * 20]


def test_a_trial_tells_where_its_periods_began_ended_and_went(tuner, store, formula):
    stands, learned = done(search(tuner, store, budget=Budget(trials=2)))
    assert (stands.start[NAME], stands.end[NAME], dict(stands.trajectory)) == (20.0, 20.0, {})
    assert learned.start[NAME] == 20.0
    assert learned.end[NAME] == pytest.approx(math.sqrt(20 * PERIOD))
    assert learned.trajectory[NAME] == ((0, 20.0), (3, pytest.approx(math.sqrt(20 * PERIOD))))
    assert len(learned.folds) == FOLDS.n_folds
    assert learned.value == pytest.approx(sum(learned.folds) / len(learned.folds))
    assert learned.candidate.plan.cycles[0].origin == "tuned"
    assert learned.candidate.encoding.learn is False
    assert stands.candidate.plan == tuner.space.plan


def test_a_search_that_goes_on_does_nothing_twice_and_counts_what_was_done(tuner, tuner_of, store, formula):
    search(tuner, store, budget=Budget(trials=5))
    search(tuner_of(), store, budget=Budget(trials=5))
    assert len(summaries(store)) == 5
    found = search(tuner_of(), store, budget=Budget(trials=12))
    assert len(found) == 12
    assert len({(each.params["delta[20 sessions]"], each.fixed) for each in found}) == 12


def test_a_point_of_a_small_space_that_is_drawn_again_is_not_computed_again(tuner_of, store, formula):
    config = SpaceConfig(periods="fixed", learn="search", base=(100.0, 1000.0))
    found = search(tuner_of(config), store, budget=Budget(trials=30))
    assert len(found) == 30
    points = {(candidate.encoding.learn, candidate.encoding.base, fold) for candidate, fold in formula}
    assert len(formula) == len(points)


def test_hopeless_trials_end_early_with_the_mean_of_the_folds_they_did(tuner_of, store, formula):
    folds = replace(FOLDS, n_folds=8, confirm_folds=2, confirm_windows=4, test_windows=4)
    tuner = tuner_of(SpaceConfig(learn="off"), fine=0.0, sampler="random", folds=folds)
    found = search(tuner, store, budget=Budget(trials=25))
    ended = [each for each in found if each.state == "pruned"]
    assert len(ended) > 10
    assert all(3 <= len(each.folds) < 8 for each in ended)
    assert all(each.value == pytest.approx(sum(each.folds) / len(each.folds)) for each in ended)
    assert min(found, key=lambda each: each.value).state == "complete"


def test_a_name_used_for_something_else_is_refused_with_the_difference(tuner, tuner_of, store, formula):
    search(tuner, store, budget=Budget(trials=1), data_version="monday")
    with pytest.raises(ConfigError, match=r"space\.space\.guard: 0\.35 there, 0\.2 here"):
        search(tuner_of(SpaceConfig(guard=0.2)), store, data_version="monday")
    with pytest.raises(ConfigError, match="data: 'monday' there, 'tuesday' here"):
        search(tuner, store, data_version="tuesday")
    with pytest.raises(ConfigError, match=r"objective\.score: 'rmse' there, 'crps' here"):
        search(tuner_of(objective=Objective("crps")), store, data_version="monday")
    assert len(done(summaries(store))) == 1


def test_a_study_of_somebody_else_is_left_alone(tuner, store, formula):
    import optuna

    from fints.tuning.quiet import quiet

    with quiet():
        theirs = optuna.create_study(storage=store.open(), study_name=store.name)
        theirs.add_trial(optuna.create_trial(value=1.0))
    with pytest.raises(StoreError, match="not made by fints"):
        search(tuner, store)


def test_when_all_trials_fail_the_most_frequent_cause_is_told(tuner, store, monkeypatch):
    causes = iter(["boom"] * 3 + ["bang"] + ["boom"] * 9)

    def run_fold(*_):
        raise RuntimeError(next(causes))

    monkeypatch.setattr("fints.tuning.objective.run_fold", run_fold)
    with pytest.raises(TuningError, match=r"all 5 trials .* 4 of them so: RuntimeError: boom \(1 other"):
        search(tuner, store, budget=Budget(trials=5))


def test_single_failures_are_noted_and_the_search_goes_on(tuner, store, formula, monkeypatch):
    from fints.tuning import objective

    works, calls = objective.run_fold, []

    def run_fold(*args):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("out of luck")
        return works(*args)

    monkeypatch.setattr(objective, "run_fold", run_fold)
    found = search(tuner, store, budget=Budget(trials=4))
    assert [each.state for each in found] == ["failed", "complete", "complete", "complete"]
    assert found[0].failure == "RuntimeError: out of luck"


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit(130)])
def test_an_interrupt_keeps_what_is_finished_and_the_point_comes_first_next_time(
    tuner, tuner_of, store, formula, monkeypatch, interrupt
):
    from fints.tuning import objective

    works, calls = objective.run_fold, []

    def run_fold(*args):
        calls.append(1)
        if len(calls) == 4 * FOLDS.n_folds + 2:
            raise interrupt
        return works(*args)

    monkeypatch.setattr(objective, "run_fold", run_fold)
    with pytest.raises(interrupt if isinstance(interrupt, type) else type(interrupt)):
        search(tuner, store, budget=Budget(trials=6))
    left = summaries(store)
    assert [each.state for each in left] == ["complete"] * 4 + ["failed", "waiting"]
    found = search(tuner_of(), store, budget=Budget(trials=6))
    assert [each.state for each in found] == ["complete"] * 4 + ["failed", "complete", "complete"]
    assert found[5].params == left[4].params


def test_stop_ends_the_search_between_two_folds_and_puts_the_point_back(tuner, tuner_of, store, formula):
    found = search(tuner, store, budget=Budget(trials=6), stop=lambda: len(formula) >= 2 * FOLDS.n_folds + 2)
    assert [each.state for each in found] == ["complete", "complete", "failed", "waiting"]
    assert len(formula) == 2 * FOLDS.n_folds + 2
    found = search(tuner_of(), store, budget=Budget(trials=3))
    assert [each.state for each in found] == ["complete", "complete", "failed", "complete"]
    assert found[3].params == found[2].params


def test_time_ends_the_search_after_one_trial_at_least(tuner, store, formula):
    found = search(tuner, store, budget=Budget(trials=50, seconds=0.0))
    assert sum(each.finished for each in found) == 1


def test_every_trial_that_finishes_is_told_once(tuner, tuner_of, store, formula):
    told, progress = [], []
    search(tuner, store, budget=Budget(trials=3), on_trial=lambda each: told.append(each.number))
    search(
        tuner_of(),
        store,
        budget=Budget(trials=5),
        on_trial=lambda each: told.append(each.number),
        progress=lambda *at: progress.append(at),
    )
    assert told == [0, 1, 2, 3, 4]
    assert [at[:2] for at in dict.fromkeys(progress)] == [(4, 5), (5, 5)]
    assert progress[-1][2] == min(each.value for each in summaries(store))


def test_last_weeks_best_points_are_tried_first_by_their_periods(tuner, tuner_of, store, formula):
    search(tuner, store, budget=Budget(trials=30))
    best = min(summaries(store), key=lambda each: each.value)
    this_week = store.named("this-week")
    found = search(tuner_of(), this_week, budget=Budget(trials=7), warm_start=store.name)
    assert [each.origin for each in found[2:]] == [f"warm start {rank}" for rank in range(1, 6)]
    assert found[2].start[NAME] == pytest.approx(best.end[NAME])
    with pytest.raises(StoreError, match="no study 'never'"):
        search(tuner_of(), store.named("other"), warm_start="never")


def test_several_objectives_are_searched_without_pruning(tuner_of, store, formula):
    tuner = tuner_of(objective=Objective(multi=True))
    found = search(tuner, store, budget=Budget(trials=8))
    assert all(each.state == "complete" and len(each.folds) == FOLDS.n_folds for each in found)
    assert len(load(store).best_trials) >= 1


def test_a_panel_that_is_too_short_is_told_before_a_storage_is_touched(tuner, store):
    with pytest.raises(SeriesError, match="bars"):
        search(replace(tuner, panel=tuner.panel.head(60)), store)
    assert not store.url.parent.exists()


def test_the_search_never_sees_the_rows_that_confirm(tuner):
    inner = tuner.inner(lambda: False)
    assert isinstance(inner, InnerSearch)
    assert inner.panel["ds"].max() <= tuner.stages.confirm.cutoffs[0]


def test_a_whole_tuning_for_real_says_what_it_found(tuner_of, store, caplog):
    """Three steps of training learn nothing, so nothing is gained, and that is said."""
    tuner = tuner_of(folds=replace(FOLDS, n_folds=2, confirm_folds=2, confirm_windows=16, block=8))
    with caplog.at_level(logging.WARNING):
        result = tune(tuner, store, budget=Budget(trials=3))
    rows = result.confirmation.rows
    assert rows["candidate"].iloc[0] == "untuned"
    assert set(rows["candidate"]) <= {"untuned", "trial 0", "trial 1", "trial 2"}
    assert (rows["origins"] == 16).all()
    assert result.confirmation.gain.windows == 16
    assert result.chosen is (result.tuned if result.confirmation.accepted else result.untuned)
    compared = ["untuned"] if same(result.tuned, result.untuned) else ["untuned", "tuned"]
    assert result.test.rows["candidate"].tolist() == compared
    assert result.model.fitted is not None
    assert result.model.plan == result.chosen.plan
    assert list(result.trials["number"]) == [0, 1, 2]
    assert result.settings()["periods"]["cycles"][0]["period"] == result.chosen.plan.cycles[0].period
    assert len(result.diagnostics) == 1
    assert 1 in result.trajectories


def test_with_a_journal_nobody_waits_for_another_machine_whose_death_would_not_be_seen(tuner, store, formula):
    from fints.tuning.quiet import quiet
    from fints.tuning.study import begin

    begin(store, tuner.identity(), tuner.objective.directions, tuner.space.points())
    with quiet():
        load(store).ask().set_user_attr("owner", {"host": "another machine", "pid": 1, "started": ""})
    found = search(tuner, store, budget=Budget(trials=3))
    assert sum(each.finished for each in found) == 2


def test_a_journal_that_vanishes_during_the_search_is_told(tuner, store, formula, monkeypatch):
    import shutil

    from fints.tuning import objective

    works = objective.run_fold

    def run_fold(*args):
        if len(formula) == 5:
            shutil.rmtree(store.url.parent)
        return works(*args)

    monkeypatch.setattr(objective, "run_fold", run_fold)
    with pytest.raises(StoreError, match="was lost"):
        search(tuner, store, budget=Budget(trials=4))
