import threading
import time

import pytest

from fints.errors import FintsError, StoreError
from fints.settings import load_settings
from pipelines.patience import in_time


def tracking(*lines):
    return load_settings(None, list(lines)).tracking


AWAY = "tracking.uri=http://127.0.0.1:9"


@pytest.mark.parametrize("lines", [(), (AWAY,), ("tracking.uri=postgresql://db/x",)])
@pytest.mark.parametrize("given", [None, "", ("a", "b")])
def test_what_a_call_gives_is_returned(lines, given):
    assert in_time(lambda: given, 5.0, tracking(*lines)) == given


@pytest.mark.parametrize("lines", [(), (AWAY,)])
def test_what_a_call_raises_is_raised(lines):
    def fails():
        raise StoreError("as it is")

    with pytest.raises(StoreError, match="as it is"):
        in_time(fails, 5.0, tracking(*lines))


def test_a_server_that_is_never_done_is_given_up():
    begun, over = time.monotonic(), threading.Event()
    with pytest.raises(FintsError, match=r"not done within 0\.1 s"):
        in_time(lambda: over.wait(60), 0.1, tracking(AWAY))
    over.set()
    assert time.monotonic() - begun < 30


def test_a_database_has_limits_of_its_own():
    assert in_time(lambda: time.sleep(0.2) or "done", 0.01, tracking()) == "done"
