import math
from dataclasses import replace

import pytest

from fints.errors import ConfigError, TuningError
from fints.tuning import Budget, Objective, search, summaries
from fints.tuning.finals import confirm, finalists, percent, than_untuned
from fints.tuning.summary import TrialSummary, best_first, trials_frame
from tests.tuning.conftest import FOLDS, PERIOD

NAME = "20 sessions"


def finished(tuner, store, trials=14):
    search(tuner, store, budget=Budget(trials=trials))
    return summaries(store)


def test_finalists_are_the_best_of_different_candidates_that_did_every_fold(tuner, store, formula):
    found = finished(tuner, store, 30)
    top = finalists(found)
    assert len(top) == 3
    assert top[0].value == min(each.value for each in found if each.finished)
    ends = [each.end[NAME] for each in top]
    assert all(abs(math.log(a / b)) >= 1e-4 for i, a in enumerate(ends) for b in ends[:i])
    assert all(each.state == "complete" for each in top)


def test_a_twin_of_a_finalist_is_passed_over():
    one = TrialSummary(0, "complete", 1.0, 0.1, {})
    assert finalists([one]) == ()  # nothing is known of what it stood for


def test_the_best_is_chosen_by_the_inner_folds_and_confirmed_on_untouched_ones(tuner, store, formula):
    found = finished(tuner, store, 30)
    formula.clear()
    confirmation, top = confirm(tuner, found)
    rows = confirmation.rows
    assert rows["candidate"].tolist() == ["untuned", *(f"trial {each.number}" for each in top)]
    assert rows["inner"].iloc[1:].is_monotonic_increasing
    assert confirmation.accepted
    assert confirmation.gain.low > 0
    assert "lower than untuned" in confirmation.sentence
    assert "18 windows that the search never saw" in confirmation.sentence
    assert all(getattr(candidate.encoding, "learn", False) is False for candidate, _ in formula)
    # what was fixed in the search has its score on the inner folds already
    learned = sum(each.learns for each in top)
    assert len(formula) == 4 * FOLDS.confirm_folds + learned * FOLDS.n_folds


def test_what_a_trial_learned_is_scored_again_as_it_is_kept(tuner, store, formula):
    found = finished(tuner, store, 2)
    formula.clear()
    confirmation, top = confirm(tuner, found)
    assert top[0].number == 1
    assert len(formula) == 2 * FOLDS.confirm_folds + FOLDS.n_folds
    assert confirmation.rows["inner"].iloc[1] == pytest.approx(top[0].value)  # the landscape is one of ends


def test_where_no_trial_did_better_the_untuned_plan_is_kept_and_fitted_once(tuner, store, formula):
    found = finished(tuner, store, 1)
    formula.clear()
    confirmation, top = confirm(tuner, found)
    assert [each.origin for each in top] == ["as it stands"]
    assert not confirmation.accepted
    assert "No trial did better" in confirmation.sentence
    assert confirmation.rows["candidate"].tolist() == ["untuned"]
    assert len(formula) == FOLDS.confirm_folds


def test_finals_come_out_the_same_in_several_processes(tuner_of, store):
    tuner = tuner_of(folds=replace(FOLDS, n_folds=2, confirm_folds=2, confirm_windows=4))
    found = finished(tuner, store, 2)
    alone, beside = (confirm(tuner, found, workers)[0].rows for workers in (1, 2))
    assert alone["candidate"].tolist() == beside["candidate"].tolist()
    assert alone["confirm"].tolist() == pytest.approx(beside["confirm"].tolist())


def test_a_gain_within_chance_is_none(tuner, store, formula, monkeypatch):
    finished(tuner, store)
    # the confirming folds know no valley: there all periods are alike up to chance
    from fints.tuning import finals

    works = finals.run_fold

    def run_fold(candidate, base, panel, folds, windows):
        run = works(candidate, base, panel, folds, windows)
        if folds is tuner.stages.confirm:
            import numpy as np

            seed = int(1e6 * candidate.plan.cycles[0].period) + windows[0]
            run.scored.origins["squared"] = np.random.default_rng(seed).uniform(0.9, 1.1, len(windows))
        return run

    monkeypatch.setattr(finals, "run_fold", run_fold)
    confirmation, _ = confirm(tuner, summaries(store))
    assert not confirmation.accepted
    assert confirmation.sentence.startswith("Gain: none.")
    assert "untuned plan is kept" in confirmation.sentence


def test_with_too_few_windows_nothing_is_accepted_and_that_is_said(tuner_of, store, formula):
    """Four that overlap by nine tenths are one."""
    tuner = tuner_of(folds=replace(FOLDS, confirm_folds=2, confirm_windows=4, apart=1))
    confirmation, _ = confirm(tuner, finished(tuner, store))
    assert not confirmation.accepted
    assert "was not tested" in confirmation.sentence


def test_a_confirmation_that_looks_less_far_says_how_far(tuner_of, store, formula):
    tuner = tuner_of(folds=replace(FOLDS, confirm_h=9))
    confirmation, _ = confirm(tuner, finished(tuner, store))
    assert "RMSE 7 to 9 bars ahead" in confirmation.sentence


@pytest.mark.parametrize("reach", [6, 13])
def test_a_confirmation_that_shows_nothing_of_what_was_searched_is_refused(tuner_of, reach):
    with pytest.raises(ConfigError, match="confirm_h"):
        tuner_of(folds=replace(FOLDS, confirm_h=reach))


def test_the_score_that_is_asked_for_decides(tuner_of, store, formula):
    tuner = tuner_of(objective=Objective("crps"))
    confirmation, _ = confirm(tuner, finished(tuner, store))
    assert "CRPS" in confirmation.sentence


def test_when_no_finalist_finishes_that_is_an_error(tuner, store, formula, monkeypatch):
    found = finished(tuner, store, 4)
    from fints.tuning import finals

    works = finals.run_fold

    def run_fold(candidate, *args):
        if candidate is not untuned:
            raise TuningError("out of luck")
        return works(candidate, *args)

    untuned = tuner.space.untuned
    monkeypatch.setattr(type(tuner.space), "untuned", property(lambda self: untuned))
    monkeypatch.setattr(finals, "run_fold", run_fold)
    with pytest.raises(TuningError, match="no finalist"):
        confirm(tuner, [each for each in found if each.origin != "as it stands"])


def test_pruned_trials_stand_in_only_where_none_is_whole():
    whole, cut = (TrialSummary(n, s, v, 0.1, {}) for n, s, v in ((0, "complete", 2.0), (1, "pruned", 1.0)))
    assert best_first([cut, whole]) == [whole]
    assert best_first([cut]) == [cut]


def test_the_table_of_trials_has_a_column_for_every_parameter_and_period(tuner, store, formula):
    frame = trials_frame(finished(tuner, store, 4))
    assert {"delta[20 sessions]", "start[20 sessions]", "end[20 sessions]"} <= set(frame.columns)
    assert frame["n_folds"].tolist()[:4] == [FOLDS.n_folds] * 4
    assert PERIOD not in frame["start[20 sessions]"].tolist()


def test_what_rounds_to_zero_has_no_sign():
    assert [percent(share) for share in (-0.0001, 0.0, 0.0123, -0.0123)] == ["0.0", "0.0", "1.2", "−1.2"]


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.02, "2.0 % lower than untuned"),
        (-0.0006, "0.1 % higher than untuned"),
        (0.0, "no different from untuned at this precision"),
        (-0.0004, "no different from untuned at this precision"),
    ],
)
def test_a_difference_that_would_print_as_none_is_said_to_be_none(share, said):
    assert than_untuned(share) == said
