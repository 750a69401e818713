"""A study as Optuna holds it: begun once, checked when it goes on, swept of dead trials."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from fints.errors import StoreError
from fints.tuning.owner import Owner
from fints.tuning.quiet import quiet
from fints.tuning.storage import RETRIES
from fints.tuning.summary import TrialSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optuna import Study
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

    from fints.tuning.identity import Identity
    from fints.tuning.scoring import Direction
    from fints.tuning.space import Point
    from fints.tuning.storage import StudyStore

LOG = logging.getLogger(__name__)

IDENTITY = "fints"
"""Attribute of a study that says what it searches; it is set when its first points lie in the queue."""

KEPT = ("origin", "fixed")
"""What a trial that is tried again inherits."""

_BEGIN_SECONDS = 10.0
"""How long another process may take to begin a study before it counts as dead."""

_CLAIM_SECONDS = 60.0
"""After which a running trial without an owner counts as dead: its worker was killed between taking and signing it."""


def begin(store: StudyStore, identity: Identity, directions: Sequence[Direction], points: Sequence[Point]) -> Study:
    """Open a study, or begin it with the points that are tried first.

    Parameters
    ----------
    store : StudyStore
    identity : Identity
    directions : sequence of str
        What each objective is: see `Objective.directions`.
    points : sequence of Point

    Raises
    ------
    ConfigError
        If the name belongs to a study of another space, settings or data.
    StoreError
        If the storage cannot be reached.
    """
    import optuna

    with quiet():
        storage = store.open()
        try:
            study = optuna.create_study(storage=storage, study_name=store.name, directions=list(directions))
            fresh = True
        except optuna.exceptions.DuplicatedStudyError:
            study = optuna.load_study(storage=storage, study_name=store.name)
            fresh = False
        known = None if fresh else _wait_for_identity(study)
        if known is not None:
            identity.require_same(known, store.name)
            return study
        there = {trial.user_attrs.get("origin") for trial in study.get_trials(deepcopy=False)}
        for point in points:
            if point.origin not in there:
                enqueue(study, point)
        study.set_user_attr(IDENTITY, identity.to_dict())
        return study


def load(store: StudyStore, storage: BaseStorage | None = None) -> Study:
    """Load a study that is there.

    Raises
    ------
    StoreError
        If it is not.
    """
    import optuna

    try:
        with quiet():
            return optuna.load_study(storage=storage or store.open(), study_name=store.name)
    except KeyError as error:
        raise StoreError(f"{store.location} holds no study {store.name!r}; check the name") from error


def enqueue(study: Study, point: Point, **more: object) -> None:
    """Put a point into the queue."""
    study.enqueue_trial(dict(point.params), user_attrs={"origin": point.origin, "fixed": point.fixed, **more})


def summaries(store: StudyStore) -> tuple[TrialSummary, ...]:
    """Return the trials of a study.

    Raises
    ------
    StoreError
        If there is no such study, or the storage cannot be reached.
    """
    return tuple(TrialSummary.of(trial) for trial in load(store).get_trials(deepcopy=False))


def sweep(study: Study) -> int:
    """Fail the running trials whose process has ended, and put their points back into the queue.

    Of processes of other machines a database knows by their heartbeat; a journal does not.

    Returns
    -------
    int
        How many there were.
    """
    from optuna.trial import TrialState

    count = 0
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if _dead(trial) and put_back(study, trial, "its worker died"):
            count += 1
    if count:
        LOG.warning("%d trials of %r had lost their worker; they are tried again", count, study.study_name)
    return count


def put_back(study: Study, trial: FrozenTrial, why: str, *, counted: bool = True) -> bool:
    """Fail a running trial and put its point back into the queue, once, whoever else tries the same.

    Parameters
    ----------
    study : optuna.Study
    trial : FrozenTrial
    why : str
    counted : bool
        Whether this is one of the few times that a point may be tried again.

    Returns
    -------
    bool
        Whether this call did it.
    """
    import optuna

    storage = study._storage  # noqa: SLF001  (Optuna has no other way to a trial that is not one's own)
    try:
        with quiet():
            if counted and int(trial.user_attrs.get("retries", 0)) >= RETRIES:
                why = f"{why}, {RETRIES + 1} times"
                storage.set_trial_user_attr(trial._trial_id, "failure", why)  # noqa: SLF001
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    except (ValueError, optuna.exceptions.UpdateFinishedTrialError):
        return False
    enqueue_again(study, trial, counted=counted)
    return True


def enqueue_again(study: Study, trial: FrozenTrial, *, counted: bool = True) -> None:
    """Put the point of a failed trial back into the queue, unless it is there or was tried often enough.

    Parameters
    ----------
    study : optuna.Study
    trial : FrozenTrial
    counted : bool
        Whether this is one of the few times that a point may be tried again.
    """
    attrs: dict[str, Any] = trial.user_attrs
    if any(each.user_attrs.get("retry_of") == trial.number for each in study.get_trials(deepcopy=False)):
        return
    retries = int(attrs.get("retries", 0)) + int(counted)
    if retries > RETRIES:
        LOG.warning("trial %d of %r is given up: it was tried %d times", trial.number, study.study_name, retries)
        return
    kept = {key: attrs[key] for key in KEPT if key in attrs}
    # What was drawn is kept; a trial that had not drawn yet keeps what the queue had set.
    params = {**trial.system_attrs.get("fixed_params", {}), **trial.params}
    study.enqueue_trial(params, user_attrs={"origin": "sampled", **kept, "retry_of": trial.number, "retries": retries})


def _dead(trial: FrozenTrial) -> bool:
    owner = trial.user_attrs.get("owner")
    if owner is not None:
        return Owner.from_dict(owner).gone()
    began = trial.datetime_start
    return began is not None and time.time() - began.timestamp() > _CLAIM_SECONDS


def _wait_for_identity(study: Study) -> dict[str, Any] | None:
    """Return what a study says it searches; None if whoever began it seems to have died before saying so."""
    until = time.monotonic() + _BEGIN_SECONDS
    while True:
        known = study.user_attrs.get(IDENTITY)
        if known is not None:
            return dict(known)
        if study.get_trials(deepcopy=False) and not _ours(study):
            raise StoreError(f"the study {study.study_name!r} was not made by fints; give this search another name")
        if time.monotonic() > until:
            return None
        time.sleep(0.1)


def _ours(study: Study) -> bool:
    return any("origin" in trial.user_attrs for trial in study.get_trials(deepcopy=False))
