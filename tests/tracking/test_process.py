import os
import time

import pytest

from fints.tracking import process
from fints.tracking.process import alive


def test_this_process_is_alive():
    assert alive(str(os.getpid()), time.time())


@pytest.mark.parametrize("pid", [None, "", "none", "-1"])
def test_what_is_no_number_of_a_process_is_not_alive(pid):
    assert not alive(pid, time.time())


@pytest.mark.skipif(process._started(os.getpid()) is None, reason="this system does not tell when a process started")
def test_a_number_that_was_given_to_another_process_since_is_not_alive():
    assert not alive(str(os.getpid()), time.time() - 30 * 365 * 86400)


def test_where_the_system_does_not_tell_the_number_has_to_do(monkeypatch):
    monkeypatch.setattr(process, "_started", lambda _: None)
    assert alive(str(os.getpid()), 0)
