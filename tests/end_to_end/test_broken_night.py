"""A night in which something fails or that is stopped: what is left of it, and what is said."""

import signal
import socket
import subprocess
import sys
import time
from threading import Thread

import pytest

from fints.bars.store import BarStore
from tests.end_to_end.conftest import BRIEF
from tests.end_to_end.test_nightly import NEWEST, ONE, PLAIN

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # mlflow and its libraries warn about themselves
    pytest.mark.usefixtures("short_sample", "no_page"),
]


@pytest.mark.parametrize("uri", ["nonsense://x", "sqlite:////proc/none/mlflow.db"])
def test_a_night_that_cannot_be_tracked_keeps_its_forecasts_and_says_so(fints, home, uri):
    code, out, err, result = fints("nightly", *ONE, "--set=tracking.enabled=true", f"--set=tracking.uri={uri}")
    assert code == 0, err
    assert "could not be logged to MLflow" in out
    assert "Traceback" not in err
    assert len(BarStore(home / "store").read_forecasts()) == len(result["forecasts"]) == 40


def test_a_tracking_server_that_hangs_up_stops_no_night_and_is_asked_a_few_times_only(fints, home):
    """What bounds the time is the number of tries: MLflow by itself would try each question for minutes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = []

        def hang_up():
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:  # closed
                    return
                asked.append(caller)
                caller.close()

        Thread(target=hang_up, daemon=True).start()
        uri = f"--set=tracking.uri=http://127.0.0.1:{server.getsockname()[1]}"
        code, out, err, result = fints("nightly", *ONE, "--set=tracking.enabled=true", uri)
        server.shutdown(socket.SHUT_RDWR)
    assert code == 0, err
    assert len(BarStore(home / "store").read_forecasts()) == len(result["forecasts"]) == 40
    said = " ".join(out.split())
    assert "the model registry could not be brought up to date for log_volume" in said
    assert "could not be logged to MLflow" in said
    assert 0 < len(asked) <= 10
    assert "model registry" in err
    assert "model registry" not in fints("nightly", *ONE, "--again")[2]  # tracking is off, and so is the registry


def test_a_target_that_cannot_be_trained_is_named_and_the_other_goes_on(fints, monkeypatch):
    from fints.errors import TrainingError
    from pipelines import targets

    def trained(reading, target, *rest, **how):
        if target == "log_range":
            raise TrainingError("the loss of step 3 is nan")
        return forecast_target(reading, target, *rest, **how)

    forecast_target = targets.forecast_target
    monkeypatch.setattr(targets, "forecast_target", trained)
    code, out, err, result = fints("nightly", *PLAIN)
    assert code == 3, err
    assert {f["target"] for f in result["forecasts"]} == {"log_volume"}
    assert "log_range: the loss of step 3 is nan" in out


def test_a_foreign_store_is_left_alone(fints, home):
    (home / "store").mkdir()
    (home / "store" / "thesis.txt").write_text("mine")
    code, _, err, _ = fints("nightly", *ONE)
    assert code == 1
    assert "no fints store" in err
    assert [p.name for p in (home / "store").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(("broken", "left"), [("HAR", "CycleTransformer"), ("CycleTransformer", "HAR-calendar")])
def test_a_member_that_fails_is_named_and_the_others_go_on(fints, monkeypatch, broken, left):
    from fints.baselines import HAR
    from fints.errors import TrainingError
    from fints.transformer import CycleTransformer

    def fails(self, panel, *rest, **options):
        raise TrainingError("the loss of step 3 is nan")

    monkeypatch.setattr({"HAR": HAR, "CycleTransformer": CycleTransformer}[broken], "fit", fails)
    code, out, err, result = fints("nightly", *ONE, NEWEST)
    assert code == 0, err
    assert {row["model"] for row in result["forecasts"]} == {left}
    (cause,) = result["combination"]["log_volume"]["dropped"].values()
    assert cause == "TrainingError: the loss of step 3 is nan"
    assert "was dropped from" in " ".join(out.split())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_night_that_is_stopped_leaves_a_sound_store(fints, home, number):
    settings = [f"--set={s}" for s in BRIEF if "max_steps" not in s]
    slow = ["--set=training.max_steps=100000", "--set=training.validate_every=50000"]
    command = [sys.executable, "-m", "pipelines", "nightly", *settings, *slow, *ONE]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in process.stderr:
        if "hold-out" in line:
            break
    time.sleep(1)  # well into training: nothing tells from outside when a step is taken
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert "stopped by" in err
    assert fints("data", "verify", brief=False)[0] == 0
    code, _, err, result = fints("nightly", *ONE)
    assert code == 0, err
    assert len(result["forecasts"]) == 40
