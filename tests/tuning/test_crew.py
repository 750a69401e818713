"""Workers in processes of their own: killed, replaced, stopped."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from fints.errors import StoreError, TuningError
from fints.tuning import Budget, StudyStore, search, summaries
from fints.tuning.study import begin, load, sweep
from tests.tuning.conftest import FOLDS

SCRIPT = textwrap.dedent("""
    import sys
    from fints.tuning import Budget, StudyStore, search
    from tests.tuning.conftest import tiny_tuner

    if __name__ == "__main__":
        store = StudyStore("valley", sys.argv[1], heartbeat=1, grace=3)
        search(tiny_tuner(), store, budget=Budget(int(sys.argv[2])), workers=int(sys.argv[3]))
""")


def started(store, trials, workers=1):
    """A search in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(store.url), str(trials), str(workers)],
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        text=True,
    )


def seen(store, wanted, seconds=60.0):
    """Wait until the trials of a study are as wanted."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            found = summaries(store)
        except StoreError:
            found = ()
        if wanted(found):
            return found
        time.sleep(0.05)
    raise AssertionError("the study did not come that far")


def running(found):
    return [each for each in found if each.state == "running" and each.params]


def require_whole(found, trials):
    """Every point was finished once, and what was killed was tried again."""
    finished = [each for each in found if each.finished]
    assert len(finished) == trials
    assert not [each for each in found if each.state == "running"]
    points = [(tuple(sorted(each.params.items())), each.fixed) for each in finished]
    assert len(set(points)) == len(points)


def test_a_trial_whose_worker_was_killed_is_tried_again_by_the_next_one(store):
    process = started(store, 6)
    found = seen(store, lambda found: sum(each.finished for each in found) >= 2 and running(found))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    lost = running(summaries(store)) or running(found)
    from tests.tuning.conftest import tiny_tuner

    found = search(tiny_tuner(), store, budget=Budget(trials=6))
    require_whole(found, 6)
    again = {tuple(each.params.items()) for each in found if each.finished}
    assert all(tuple(each.params.items()) in again for each in lost)
    assert [each.state for each in found].count("failed") == 1


def test_workers_share_a_study_and_one_that_is_killed_is_replaced(store):
    process = started(store, 8, workers=2)
    found = seen(store, lambda found: len({each.owner for each in found if each.owner}) == 2 and running(found))
    victim = int(running(found)[0].owner.rpartition(":")[2])
    os.kill(victim, signal.SIGKILL)
    assert process.wait(timeout=120) == 0, process.stderr.read()
    process.stderr.close()
    found = summaries(store)
    require_whole(found, 8)
    assert len({each.owner for each in found if each.finished}) >= 2


def test_workers_end_when_the_process_that_started_them_is_killed(store):
    process = started(store, 500, workers=2)
    found = seen(store, lambda found: len({each.owner for each in found if each.owner}) == 2)
    workers = [int(owner.rpartition(":")[2]) for owner in {each.owner for each in found if each.owner}]
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    until = time.monotonic() + 30
    while time.monotonic() < until and any(alive(pid) for pid in workers):
        time.sleep(0.1)
    assert not any(alive(pid) for pid in workers)
    left = summaries(store)
    assert not [each for each in left if each.state == "running"]  # they gave their points back


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_ends_a_worker_ends_the_search(tuner, store, monkeypatch):
    """A storage that is gone when the workers come to it."""
    elsewhere = StudyStore(store.name, store.url.with_name("gone") / "valley.journal")
    from fints.tuning.crew import work

    with pytest.raises(StoreError, match="no study"):
        work(tuner, elsewhere, Budget(4), 2, lambda: None, lambda: False)


def test_workers_that_are_killed_again_and_again_are_not_replaced_for_ever(tuner, store, monkeypatch):
    from fints.tuning import crew

    begin(store, tuner.identity(), tuner.objective.directions, tuner.space.points())
    monkeypatch.setattr(crew, "_labour", _dies)
    monkeypatch.setattr(crew, "_RESTARTS", 1)
    with pytest.raises(TuningError, match="killed 3 times"):
        crew.work(tuner, store, Budget(4), 2, lambda: None, lambda: False)


def _dies(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_point_is_given_up_when_it_has_cost_three_workers(tuner, store, formula):
    begin(store, tuner.identity(), tuner.objective.directions, tuner.space.points())
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for attempt in range(3):
        from fints.tuning.quiet import quiet

        with quiet():
            study = load(store)
            trial = study.ask()
            assert trial.user_attrs["origin"] == ("as it stands" if attempt == 0 else trial.user_attrs["origin"])
            trial.set_user_attr("owner", {"host": os.uname().nodename, "pid": dead.pid, "started": "x"})
            assert sweep(load(store)) == 1
        if attempt < 2:
            (waiting,) = [t for t in load(store).get_trials() if t.user_attrs.get("retry_of") == trial.number]
            assert waiting.user_attrs["retries"] == attempt + 1
        # what waits longest comes first, so the other point is taken out of the way
        _finish_others(load(store), trial)
    found = search(tuner, store, budget=Budget(trials=4))
    given_up = [each for each in found if "its worker died" in each.failure]
    assert len(given_up) == 1
    assert len([each for each in found if each.finished]) == 3  # it counts, or a search could go on for ever


def _finish_others(study, trial):
    from fints.tuning.quiet import quiet

    with quiet():
        for each in study.get_trials():
            if each.state.name == "WAITING" and "retry_of" not in each.user_attrs:
                taken = study.ask()
                assert taken.number == each.number
                study.tell(taken, 1.0)


def test_folds_of_the_conftest_hold(tuner):
    assert len(tuner.stages.inner) == FOLDS.n_folds * FOLDS.block
