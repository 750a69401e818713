"""One worker of a search: trials until the budget is spent, the dead ones of others among them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fints.tuning.owner import Owner
from fints.tuning.quiet import quiet
from fints.tuning.study import enqueue_again, load, put_back, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from optuna import Study
    from optuna.trial import FrozenTrial, Trial

    from fints.tuning.storage import StudyStore
    from fints.tuning.tuner import Tuner

_POLL = 0.5
"""Seconds between two looks at the trials of others, where there is nothing left to begin."""


@dataclass(frozen=True, slots=True)
class Budget:
    """When a search ends.

    Parameters
    ----------
    trials : int
        In all, those of earlier runs included, and those that failed by themselves.
    seconds : float, optional
        Of this run. At least one trial is finished, however long it takes.
    """

    trials: int = 40
    seconds: float | None = None


@dataclass(slots=True, eq=False)
class Worker:
    """Takes trials of a study, one after the other.

    Parameters
    ----------
    tuner : Tuner
    store : StudyStore
    budget : Budget
    stop : callable
        Asked between folds and trials; true ends the search, and the point goes back into the queue.
    """

    tuner: Tuner
    store: StudyStore
    budget: Budget
    stop: Callable[[], bool]
    began: float = field(default_factory=time.monotonic)
    _finished_one: bool = False

    def run(self) -> Iterator[int]:
        """Work until the budget is spent or `stop` says so, and yield the number of finished trials after each.

        A worker that finds nothing to begin waits for the trials of the others: if one of their processes dies, it
        takes over.

        Raises
        ------
        StoreError
            If the storage is lost on the way.
        """
        with quiet(), self.store.reached():
            study = load(self.store)
            study.pruner = self.tuner.pruner()
            study.sampler = self.tuner.proposer(self.budget.trials)
            objective = self.tuner.inner(self._halted)
            _give_back_own(study)  # of an earlier search in this process, which lost its storage
            while not self._halted():
                sweep(study)
                done, open_ = count(study)
                self._finished_one = self._finished_one or done > 0
                if done >= self.budget.trials:
                    return
                if done + open_ >= self.budget.trials:
                    if not self._worth_waiting(study):
                        return
                    time.sleep(_POLL)
                    self._expire(study)
                    yield done
                    continue
                self._one(study, objective)
                yield count(study)[0]

    def _one(self, study: Study, objective: Callable[[Trial], float | tuple[float, float]]) -> None:
        try:
            study.optimize(objective, n_trials=1, catch=(Exception,))
        except (KeyboardInterrupt, SystemExit):
            _give_back_own(study)
            raise
        except UnboundLocalError as error:
            # Optuna 5.0 fails so, in a `finally`, where it is interrupted while it writes down how a trial ended.
            interrupt = error.__context__
            if not isinstance(interrupt, (KeyboardInterrupt, SystemExit)):
                raise
            _give_back_own(study)
            raise interrupt from None
        last = _own(study)
        if last is not None and last.state.name == "FAIL" and not last.user_attrs.get("failure"):
            enqueue_again(study, last, counted=False)

    def _halted(self) -> bool:
        late = self.budget.seconds is not None and time.monotonic() - self.began > self.budget.seconds
        return self.stop() or (late and self._finished_one)

    def _worth_waiting(self, study: Study) -> bool:
        """Tell whether it would be noticed if the worker of a running trial died.

        In a database its heartbeat would stop; with a journal only the processes of this machine are seen.
        """
        if self.store.remote:
            return True
        here = Owner.here().host
        owners = [each.user_attrs.get("owner") for each in running(study)]
        return any(owner is None or owner["host"] == here for owner in owners)

    def _expire(self, study: Study) -> None:
        """Let a database fail the trials whose heartbeat has stopped."""
        import optuna

        if self.store.remote:
            optuna.storages.fail_stale_trials(study)


def count(study: Study) -> tuple[int, int]:
    """Return how many trials of a study are done, failures of their own included, and how many are running."""
    from optuna.trial import TrialState

    ended = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL))
    failed = sum(trial.state == TrialState.FAIL and bool(trial.user_attrs.get("failure")) for trial in ended)
    return sum(trial.state == TrialState.COMPLETE for trial in ended) + failed, len(running(study))


def running(study: Study) -> list[FrozenTrial]:
    """Return the trials that somebody is at."""
    from optuna.trial import TrialState

    return study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))


def _own(study: Study) -> FrozenTrial | None:
    """Return the last trial that this process took."""
    own = Owner.here().to_dict()
    mine = [trial for trial in study.get_trials(deepcopy=False) if trial.user_attrs.get("owner") == own]
    return mine[-1] if mine else None


def _give_back_own(study: Study) -> None:
    """Put the point of an interrupted trial back into the queue."""
    last = _own(study)
    if last is None:
        return
    if last.state.name == "RUNNING":
        put_back(study, last, "it was stopped", counted=False)
    elif last.state.name == "FAIL" and not last.user_attrs.get("failure"):
        enqueue_again(study, last, counted=False)
