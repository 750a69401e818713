"""A tuning from its first trial to its verdict."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from fints.errors import TuningError
from fints.tuning.crew import work
from fints.tuning.diagnostics import diagnose
from fints.tuning.finals import confirm
from fints.tuning.quiet import quiet
from fints.tuning.result import TuningResult
from fints.tuning.study import begin, load, summaries
from fints.tuning.summary import best_first, trials_frame
from fints.tuning.verdict import look_once
from fints.tuning.warmth import warm_points
from fints.tuning.worker import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from optuna import Study

    from fints.tuning.storage import StudyStore
    from fints.tuning.summary import TrialSummary
    from fints.tuning.tuner import Tuner

    Progress = Callable[[int, int, float | None], None]
    OnTrial = Callable[[TrialSummary], None]

LOG = logging.getLogger(__name__)

_LEAST_FOR_IMPORTANCE = 10


def search(  # noqa: PLR0913 — each is a thing of its own that a caller may want
    tuner: Tuner,
    store: StudyStore,
    *,
    data_version: str = "",
    budget: Budget | None = None,
    workers: int = 1,
    warm_start: str | None = None,
    progress: Progress | None = None,
    on_trial: OnTrial | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[TrialSummary, ...]:
    """Search, or go on with a search, and leave the finals to `finish`.

    Any number of processes may do this at once with one database, or with one journal on a machine.

    Parameters
    ----------
    tuner : Tuner
    store : StudyStore
    data_version : str
        Of the panel. A study of the same name on other data is refused.
    budget : Budget, optional
    workers : int
        Processes on this machine. Several are spawned: a script needs its ``if __name__ == "__main__":``.
    warm_start : str, optional
        Name of another study in the same storage, whose best points are tried first.
    progress : callable, optional
        Called with the number of finished trials, that of the budget, and the best score so far.
    on_trial : callable, optional
        Called in this process with every trial that finishes while it runs, whoever ran it.
    stop : callable, optional
        True ends the search after the folds that are running; their points go back into the queue.

    Returns
    -------
    tuple of TrialSummary

    Raises
    ------
    ConfigError
        If the name belongs to a study of another space, settings or data; with each difference.
    StoreError
        If the storage cannot be reached or is lost, or there is no study to start warm from.
    TuningError
        If all trials failed, with the most frequent cause, or none was finished.
    """
    budget, stop = budget or Budget(), stop or (lambda: False)
    stages = tuner.stages  # what is wrong with the panel is said before a storage is touched
    LOG.debug("searching on %d rows before %s", len(stages.search), stages.confirm.cutoffs[0])
    points = tuner.space.points()
    if warm_start is not None:
        points = (*points, *warm_points(tuner.space, summaries(store.named(warm_start))))
    with store.reached():
        study = begin(store, tuner.identity(data_version), tuner.objective.directions, points)
        watch = _Watch(study, budget, progress, on_trial)
        try:
            work(tuner, store, budget, workers, watch, stop)
        except (KeyboardInterrupt, SystemExit):
            watch()
            raise
        watch()
        found = summaries(store)
    _require_value(found, store)
    return found


def tune(  # noqa: PLR0913 — see `search`
    tuner: Tuner,
    store: StudyStore,
    *,
    data_version: str = "",
    budget: Budget | None = None,
    workers: int = 1,
    warm_start: str | None = None,
    progress: Progress | None = None,
    on_trial: OnTrial | None = None,
    stop: Callable[[], bool] | None = None,
) -> TuningResult:
    """Search, confirm the best on untouched folds, and look at the test period once; see `search`.

    Returns
    -------
    TuningResult
    """
    search(
        tuner,
        store,
        data_version=data_version,
        budget=budget,
        workers=workers,
        warm_start=warm_start,
        progress=progress,
        on_trial=on_trial,
        stop=stop,
    )
    return finish(tuner, store, workers=workers)


def finish(
    tuner: Tuner, store: StudyStore, told: Callable[[], None] | None = None, *, workers: int = 1
) -> TuningResult:
    """Confirm the best trials of a search on untouched folds, and look at the test period once.

    Parameters
    ----------
    tuner : Tuner
    store : StudyStore
    told : callable, optional
        Called after each fit of the finals.
    workers : int
        Processes at a time.

    Raises
    ------
    TuningError
        If no trial has a value, or no finalist's model finishes.
    """
    found = summaries(store)
    _require_value(found, store)
    confirmation, top = confirm(tuner, found, workers, told)
    untuned, tuned = tuner.space.untuned, top[0].candidate
    assert tuned is not None
    chosen = tuned if confirmation.accepted else untuned
    test, model = look_once(tuner, untuned, chosen, tuned)
    return TuningResult(
        name=store.name,
        location=store.location,
        objective=tuner.objective,
        trials=trials_frame(found),
        summaries=found,
        best=best_first(found)[0],
        top=top,
        untuned=untuned,
        tuned=tuned,
        chosen=chosen,
        confirmation=confirmation,
        test=test,
        diagnostics=diagnose(found, tuned, untuned, tuner.space.period_se, accepted=confirmation.accepted),
        importance=importance(store),
        model=model,
    )


def importance(store: StudyStore) -> Mapping[str, float]:
    """Return how much of the variance of the score each parameter explains (fANOVA, Hutter et al. 2014).

    Returns
    -------
    mapping of str to float
        Largest first; empty with fewer than ten trials, several objectives, or no parameter that all trials share.
    """
    import optuna

    study = load(store)
    whole = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
    if len(whole) < _LEAST_FOR_IMPORTANCE or len(study.directions) > 1:
        return {}
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    with quiet():
        try:
            return dict(optuna.importance.get_param_importances(study, evaluator=evaluator))
        except (ValueError, RuntimeError) as error:
            LOG.debug("the importance of parameters cannot be told: %s", error)
            return {}


class _Watch:
    """Tells of trials that finish, each once."""

    def __init__(self, study: Study, budget: Budget, progress: Progress | None, on_trial: OnTrial | None) -> None:
        self._study, self._budget, self._progress, self._on_trial = study, budget, progress, on_trial
        self._seen = {each.number for each in self._trials() if _over(each)}

    def __call__(self) -> None:
        found = self._trials()
        for each in found:
            if _over(each) and each.number not in self._seen:
                self._seen.add(each.number)
                if self._on_trial is not None:
                    self._on_trial(each)
        if self._progress is not None:
            done = [each for each in found if each.finished]
            failed = sum(each.state == "failed" and bool(each.failure) for each in found)
            best = best_first(found)
            self._progress(len(done) + failed, self._budget.trials, best[0].value if best else None)

    def _trials(self) -> list[TrialSummary]:
        from fints.tuning.summary import TrialSummary

        return [TrialSummary.of(trial) for trial in self._study.get_trials(deepcopy=False)]


def _over(trial: TrialSummary) -> bool:
    return trial.state in ("complete", "pruned", "failed")


def _require_value(found: tuple[TrialSummary, ...], store: StudyStore) -> None:
    if any(each.finished for each in found):
        return
    causes = Counter(each.failure for each in found if each.state == "failed" and each.failure)
    if not causes:
        raise TuningError(f"no trial of the study {store.name!r} was finished; give it more time, or look at its log")
    cause, times = causes.most_common(1)[0]
    others = f" ({len(causes) - 1} other causes besides)" if len(causes) > 1 else ""
    raise TuningError(
        f"all {causes.total()} trials of the study {store.name!r} failed, {times} of them so: {cause}{others}"
    )
