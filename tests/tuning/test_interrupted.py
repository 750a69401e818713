"""A search that is interrupted at the worst moment: while the outcome of a trial is written down."""

import pytest
from optuna.storages import JournalStorage
from optuna.trial import TrialState

from fints.tuning import Budget, search, summaries


@pytest.mark.parametrize("interrupt", [SystemExit(130), KeyboardInterrupt()], ids=["signal", "keyboard"])
@pytest.mark.parametrize("written", [True, False], ids=["after it is written", "before"])
def test_it_ends_as_it_was_told_to_and_the_next_goes_on(tuner_of, store, formula, monkeypatch, interrupt, written):
    settle = JournalStorage.set_trial_state_values

    def interrupted(self, trial_id, state, values=None):
        if state == TrialState.COMPLETE:
            if written:
                settle(self, trial_id, state, values)
            raise interrupt
        return settle(self, trial_id, state, values)

    with monkeypatch.context() as patch:
        patch.setattr(JournalStorage, "set_trial_state_values", interrupted)
        with pytest.raises(type(interrupt)) as left:
            search(tuner_of(), store, budget=Budget(trials=2))
    assert left.value is interrupt
    assert not [each for each in summaries(store) if each.state == "running"]
    assert sum(each.state == "complete" for each in summaries(store)) == int(written)
    found = search(tuner_of(), store, budget=Budget(trials=2))
    assert sum(each.state == "complete" for each in found) == 2
