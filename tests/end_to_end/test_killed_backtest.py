"""A backtest that is stopped, by whatever signal, and asked for again; the long version is run by ``make soak``."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked for in /proc"),
]

MODELS = "[{kind: transformer, encoding: rope}, har, naive]"
SETTINGS = [
    *("h=5", "input_size=40", "refit=true", "periods.detect=false", "tracking.enabled=false"),
    *("network={dim: 16, n_heads: 1, n_layers: 1}", f"models={MODELS}"),
    "training={max_steps: 6, batch_size: 8, validate_every: 2, validation_windows: 16}",
]
PATIENCE = 300.0


def command_of(windows, workers):
    settings = [*SETTINGS, f"n_windows={windows}", f"workers.count={workers}"]
    return ["backtest", *(f"--set={setting}" for setting in settings)]


def begin(home, file, windows):
    command = [sys.executable, "-m", "pipelines", *command_of(windows, workers=2), "--json", str(file)]
    environment = {**os.environ, "FINTS_HOME": str(home), "OMP_NUM_THREADS": "1"}
    with file.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(command, env=environment, start_new_session=True, stdout=log, stderr=log)


def finish(home, file, windows):
    process = begin(home, file, windows)
    assert process.wait(timeout=600) == 0, file.with_suffix(".log").read_text()[-2000:]
    return found(json.loads(file.read_text()))


def found(told):
    """Return what a backtest found, without what it cost, and which of its jobs it did not run."""
    result = told["targets"]["log_volume"]
    reused = [job["reused"] for job in result["jobs"]]
    return without_costs({key: value for key, value in result.items() if key != "jobs"}), reused


def without_costs(value):
    if isinstance(value, dict):
        return {key: without_costs(part) for key, part in value.items() if "seconds" not in key}
    return [without_costs(part) for part in value] if isinstance(value, list) else value


def kept(home):
    """Return when every outcome in the job store was written."""
    return {path.name: path.stat().st_mtime_ns for path in home.rglob("jobs/*.parquet")}


def left_behind(home):
    """Return the processes that work for a home."""
    mine, wanted = os.getpid(), f"FINTS_HOME={home}".encode()
    running = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            of_home = wanted in (place / "environ").read_bytes().split(b"\0")
            if of_home and int(place.name) != mine and (place / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                running.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200])
        except (OSError, PermissionError):
            continue
    return running


def wait_until(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def stop(process, sign, home):
    """Send a signal to the command alone, and see that all that it started goes away."""
    process.send_signal(sign)
    process.wait(timeout=PATIENCE)
    try:
        wait_until(lambda: not left_behind(home))
    except AssertionError:
        pytest.fail(f"after {sign.name} there are still {left_behind(home)}")


@pytest.fixture
def here(fints, monkeypatch):
    """Run a backtest to its end in this process, which has loaded the libraries already."""

    def run(home, windows):
        monkeypatch.setenv("FINTS_HOME", str(home))
        code, _, err, told = fints(*command_of(windows, workers=1), brief=False)
        assert code == 0, err
        return found(told)

    return run


def test_a_backtest_that_is_killed_and_one_that_is_terminated_are_resumed(tmp_path, here):
    home, windows = tmp_path / "killed", 3
    for jobs, sign in ((1, signal.SIGKILL), (3, signal.SIGTERM)):
        process = begin(home, tmp_path / "killed.json", windows)
        wait_until(lambda jobs=jobs, at_work=process: len(kept(home)) >= jobs or at_work.poll() is not None)
        assert process.poll() is None, (tmp_path / "killed.log").read_text()[-2000:]
        stop(process, sign, home)
    before = kept(home)
    assert 3 <= len(before) < 9
    resumed, reused = here(home, windows)
    assert sum(reused) == len(before)
    assert {name: kept(home)[name] for name in before} == before
    undisturbed, none = here(tmp_path / "other", windows)
    assert not any(none)
    assert resumed == undisturbed
    assert {path.name for path in home.rglob("jobs/*")} == set(kept(home))


@pytest.mark.soak
def test_killed_at_ten_random_moments_the_outcome_is_that_of_an_undisturbed_run(tmp_path):
    windows, rng = 12, random.Random(7)
    began = time.monotonic()
    undisturbed, _ = finish(tmp_path / "other", tmp_path / "undisturbed.json", windows)
    took = time.monotonic() - began
    home = tmp_path / "home"
    file, signs = tmp_path / "resumed.json", [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
    for _ in range(10):
        before = kept(home)
        process = begin(home, file, windows)
        time.sleep(rng.uniform(0, took))
        stop(process, rng.choice(signs), home)
        assert {name: kept(home)[name] for name in before} == before
    before = kept(home)
    resumed, reused = finish(home, file, windows)
    assert sum(reused) == len(before)
    assert {name: kept(home)[name] for name in before} == before
    assert resumed == undisturbed
