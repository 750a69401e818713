"""A search that is stopped, by a person or by force, and asked for again."""

import os
import signal
import subprocess
import sys
import time

import optuna.storages.journal  # noqa: F401 - now, or a short search may be over before its journal is first read
import pytest

from fints.errors import StoreError
from fints.tuning import StudyStore, summaries
from tests.conftest import HASTY_SEARCH

pytestmark = pytest.mark.filterwarnings("ignore")

NAME = "stopped"
SETTINGS = (*HASTY_SEARCH, "tracking.enabled=false", f"name={NAME}", "trials=4", "training.max_steps=300")
PATIENCE = 240.0


def begin(folder, command):
    command = [sys.executable, "-m", "pipelines", *command]
    environment = {**os.environ, "FINTS_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, env=environment, start_new_session=True, stdout=log, stderr=log)


def finished(folder):
    """Return the finished trials by number; none before there is a study."""
    journal = folder / "home" / "tuning" / f"{NAME}.journal"
    if not journal.exists():
        return {}
    try:
        return {one.number: one for one in summaries(StudyStore(NAME, journal)) if one.state == "complete"}
    except StoreError:
        return {}


@pytest.mark.parametrize(
    ("sign", "workers"),
    [
        (signal.SIGINT, 1),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.soak),
        pytest.param(signal.SIGKILL, 1, marks=pytest.mark.soak),
        pytest.param(signal.SIGKILL, 2, marks=pytest.mark.soak),
    ],
)
def test_what_was_finished_is_kept_and_the_same_command_goes_on(fints, tmp_path, sign, workers):
    command = ("tune", *(f"--set={setting}" for setting in (*SETTINGS, f"workers={workers}")))
    process = begin(tmp_path, command)
    until = time.monotonic() + PATIENCE
    while not finished(tmp_path):
        assert process.poll() is None, (tmp_path / "log").read_text()[-3000:]
        assert time.monotonic() < until
        time.sleep(0.1)
    process.send_signal(sign)
    process.wait(PATIENCE)
    said = (tmp_path / "log").read_text()
    if sign == signal.SIGINT:
        assert process.returncode == 130
        assert "the same command goes on" in said
    before = finished(tmp_path)
    assert before
    code, _, err, found = fints(*command, brief=False)
    assert code == 0, err
    after = finished(tmp_path)
    assert len(after) == 4
    assert {number: after[number].seconds for number in before} == {n: one.seconds for n, one in before.items()}
    points = [(one.fixed, *one.params.values()) for one in after.values()]
    assert len(set(points)) == len(points)
    assert found["study"] == NAME
