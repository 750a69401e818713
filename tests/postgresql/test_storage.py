"""A study in a database: two workers share it, one of them is killed, and the server goes away."""

import signal
import warnings

import pytest

from fints.errors import StoreError
from fints.tuning import Budget, StudyStore, search, summaries
from tests.tuning.conftest import tiny_tuner
from tests.tuning.test_crew import require_whole, running, seen, started


def test_two_processes_share_a_study_without_duplicates_and_a_killed_trial_is_tried_again(database):
    store = StudyStore("valley", database, heartbeat=1, grace=3)
    crew = [started(store, 10), started(store, 10)]
    found = seen(store, lambda found: len({each.owner for each in found if each.owner}) == 2 and running(found), 120)
    victim = next(each for each in running(found))
    killed = next(each for each in crew if each.pid == int(victim.owner.rpartition(":")[2]))
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    (other,) = [each for each in crew if each is not killed]
    assert other.wait(timeout=180) == 0, other.stderr.read()
    for each in crew:
        each.stderr.close()
    found = summaries(store)
    require_whole(found, 10)
    assert [each.state for each in found].count("failed") == 1


def test_a_heartbeat_that_stopped_on_another_machine_frees_its_trial(database):
    from fints.tuning.quiet import quiet
    from fints.tuning.study import begin, load

    tuner, store = tiny_tuner(), StudyStore("elsewhere", database, heartbeat=1, grace=2)
    begin(store, tuner.identity(), tuner.objective.directions, tuner.space.points())
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the heart that beats outside of Optuna's loop is meant to stop
        study = load(store)
        trial = study.ask()
        trial.set_user_attr("owner", {"host": "another machine", "pid": 1, "started": ""})
        study._storage.record_heartbeat(trial._trial_id)
    found = search(tuner, store, budget=Budget(trials=3))
    assert [each.number for each in found if each.state == "failed"] == [trial.number]
    assert sum(each.finished for each in found) == 3
    assert [each.origin for each in found if each.finished].count("as it stands") == 1


def test_a_wrong_password_or_database_is_told_before_anything_else(database):
    with pytest.raises(StoreError, match="nowhere"):
        StudyStore("valley", database.rpartition("/")[0] + "/nowhere").check()


def test_a_server_that_goes_away_during_the_search_is_told_and_the_search_goes_on_later(database, formula, monkeypatch):
    from fints.tuning import objective

    tuner, store = tiny_tuner(), StudyStore("lost", database)
    works, calls = objective.run_fold, []

    def run_fold(*args):
        calls.append(1)
        if len(calls) == 6:
            patched.setattr("optuna.storages._rdb.storage._create_scoped_session", _lost)
        return works(*args)

    with monkeypatch.context() as patched:  # what is patched in the middle of the search ends with it
        patched.setattr(objective, "run_fold", run_fold)
        with pytest.raises(StoreError, match=r"was lost: .* goes on from there"):
            search(tuner, store, budget=Budget(trials=4))
    found = search(tuner, store, budget=Budget(trials=3))
    require_whole(found, 3)  # the trial that was cut off belongs to this process, so it is not waited for


def _lost(*_, **__):
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import OperationalError

    raise StorageInternalError("lost") from OperationalError(
        "select", {}, Exception("the server closed the connection")
    )
