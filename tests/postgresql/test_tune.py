"""Searches that share a database: several at once, and one that is killed."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import optuna
import pytest

from fints.tuning import StudyStore
from tests.conftest import HASTY_SEARCH

pytestmark = pytest.mark.filterwarnings("ignore")

NAME = "shared"
PATIENCE = 240.0
HEARTBEAT = "storage={{url: '{url}', heartbeat: 1, grace: 3}}"


class Machine:
    """A process with a home of its own, as one on another machine would be.

    Parameters
    ----------
    folder : Path
    url : str
        Of the database.
    """

    def __init__(self, folder, url, *settings):
        folder.mkdir()
        self.file, self.log = folder / "result.json", folder / "log"
        said = [*HASTY_SEARCH, "tracking.enabled=false", f"name={NAME}", HEARTBEAT.format(url=url), *settings]
        command = [sys.executable, "-m", "pipelines", "tune", *(f"--set={s}" for s in said), "--json", str(self.file)]
        environment = {**os.environ, "FINTS_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, env=environment, start_new_session=True, stdout=log, stderr=log)

    def finish(self):
        assert self.process.wait(PATIENCE) == 0, self.log.read_text()[-3000:]
        return json.loads(self.file.read_text())

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)


@pytest.fixture
def machine(tmp_path, database):
    """Start machines that share a database; none outlives the test."""
    started = []

    def start(name, *settings):
        started.append(Machine(tmp_path / name, database, *settings))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()


@pytest.fixture
def trials(database):
    """Look at the trials as Optuna has them; there are none before there is a study."""
    opened = []

    def look():
        opened[:] = opened or [StudyStore(NAME, database, heartbeat=1, grace=3).open()]
        try:
            return optuna.load_study(study_name=NAME, storage=opened[0]).get_trials()
        except KeyError:
            return []

    yield look
    for storage in opened:
        storage.remove_session()
        storage.engine.dispose()


def wait_for(condition, at_work):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert at_work.process.poll() is None, at_work.log.read_text()[-3000:]
        assert time.monotonic() < until
        time.sleep(0.1)


def points(found):
    """Return what every trial stands for: its parameters, and whether its periods stay where they start."""
    return [(one.user_attrs["fixed"], *sorted(one.params.items())) for one in found]


def test_two_machines_share_a_study_and_no_point_is_tried_twice(machine, trials):
    both = [machine(name, "trials=8") for name in ("one", "other")]
    results = [one.finish() for one in both]
    found = trials()
    assert all(one.state.is_finished() for one in found)
    assert 8 <= len(found) <= 9  # both may be within their last trial when the eighth is done
    assert len(set(points(found))) == len(points(found))
    assert len({one.user_attrs["owner"]["pid"] for one in found}) == 2
    assert {result["study"] for result in results} == {NAME}


def test_a_trial_whose_machine_was_killed_is_tried_again_and_the_study_ends_complete(machine, trials):
    settings = ("trials=4", "training.max_steps=100")
    killed = machine("killed", *settings)
    wait_for(lambda: any(one.state.name == "RUNNING" and len(one.params) == 2 for one in trials()), killed)
    killed.kill()
    before = trials()
    (lost,) = [one for one in before if one.state.name == "RUNNING"]
    time.sleep(3.5)  # the grace
    machine("next", *settings).finish()
    after = trials()
    assert all(one.state.is_finished() for one in after)
    assert after[lost.number].state.name == "FAIL"
    complete = [one for one in after if one.state.name == "COMPLETE"]
    assert len(complete) == 4
    assert points([lost])[0] in points(one for one in complete if one.number > lost.number)
    assert len(set(points(complete))) == len(complete)
    done = [one.number for one in before if one.state.is_finished()]
    assert [after[number].datetime_complete for number in done] == [before[number].datetime_complete for number in done]


@pytest.mark.soak
def test_killed_at_random_moments_the_study_ends_complete_and_no_finished_point_is_drawn_again(machine, trials):
    rng, settings = random.Random(3), ("trials=12",)
    for place in range(6):
        one = machine(f"killed-{place}", *settings)
        time.sleep(rng.uniform(5, 25))
        one.kill()
    time.sleep(3.5)
    machine("last", *settings).finish()
    found = trials()
    complete = [one for one in found if one.state.name == "COMPLETE"]
    assert len(complete) >= 12
    assert all(one.state.is_finished() for one in found)
    assert len(set(points(complete))) == len(complete)
