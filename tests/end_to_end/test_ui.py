import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as reply:
            return reply.status == 200
    except OSError:
        return False


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.2)
    return False


def test_a_port_in_use_is_refused(fints, port):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        code, _, err, _ = fints("ui", "--port", str(port), brief=False)
    assert code == 2
    assert f"port {port}" in err


def test_the_server_answers_and_leaves_nothing_behind(home, port):
    command = [sys.executable, "-m", "pipelines", "ui", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ)
    try:
        assert f"http://127.0.0.1:{port}" in process.stdout.readline()
        assert wait_until(lambda: answers(port), 90)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert wait_until(lambda: not answers(port), 30)
