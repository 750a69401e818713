"""A browser on the MLflow server of a home with a real backtest."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from fints.tracking import Links, Tracking, answers
from pipelines.ui import find

PATIENCE = 90
"""Seconds that a page may take: on a busy machine the browser waits for its turn."""

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


@pytest.fixture(scope="session")
def chromium():
    """Path of the browser."""
    if CHROMIUM is None:
        if os.environ.get("FINTS_REQUIRE_BROWSER"):
            pytest.fail("CI must have a browser: .ci/run installs chromium")
        pytest.skip("no chromium on this machine; on Debian: apt-get install chromium")
    return CHROMIUM


@contextmanager
def serve(home, log):
    """Run the MLflow server of a home; gives the links that `fints ui` would print."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    tracking = Tracking(home)
    with log.open("w") as lines:
        command = tracking.server_command(port)
        server = subprocess.Popen(
            command, env={**os.environ, **tracking.server_environment()}, stdout=lines, stderr=lines
        )
    try:
        until = time.monotonic() + PATIENCE
        while not answers(port):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        yield find(tracking, Links.on(port))
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def served(chromium, tiny_backtest, tmp_path_factory):
    """The MLflow server of the home, and the links that `fints ui` would print."""
    with serve(tiny_backtest.home, tmp_path_factory.mktemp("server") / "log") as places:
        yield SimpleNamespace(places=places, run=tiny_backtest.run)


@pytest.fixture(scope="module")
def browser(chromium):
    """The browser; it keeps an event loop running, which other tests must not find."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield made
        made.close()


@pytest.fixture
def page(browser, request):
    """A fresh page; where the test asks for it by FINTS_SCREENSHOTS, its last state is kept in that folder."""
    made = browser.new_page(viewport={"width": 1600, "height": 1100})
    made.set_default_timeout(1000 * PATIENCE)
    yield made
    folder = os.environ.get("FINTS_SCREENSHOTS")
    if folder:
        made.screenshot(path=f"{folder}/{request.node.name}.png")
    made.close()
