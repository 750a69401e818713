"""Nights killed at random moments; run by ``make soak``."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.end_to_end.conftest import BRIEF

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore")]

NIGHTS = 20


def test_a_night_killed_anywhere_leaves_a_sound_store_and_the_next_completes(fints, home):
    """SIGKILL and SIGTERM at random moments, one home for all nights."""
    rng = random.Random(5)
    command = [sys.executable, "-m", "pipelines", "nightly", *(f"--set={s}" for s in BRIEF)]
    for _ in range(NIGHTS):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=os.environ)
        time.sleep(rng.uniform(0.5, 25))
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM]))
        process.wait(timeout=60)
        code, out, _, _ = fints("data", "verify", brief=False)
        assert code == 0, out
    code, _, err, result = fints("nightly")
    assert code == 0, err
    assert len(result["forecasts"]) == 80
