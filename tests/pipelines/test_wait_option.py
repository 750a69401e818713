"""``--wait-for-close`` by a clock that is told the time."""

from functools import partial

import pandas as pd
import pytest

from fints.errors import ConfigError
from fints.settings import load_settings
from pipelines import clock, wait_option, waiting


@pytest.fixture
def time(monkeypatch, tmp_path):
    """Let a clock stand at an instant, pass while it is slept, and be set a day back at the third step."""
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    state = {"now": pd.Timestamp("2018-12-04T20:00", tz="UTC"), "steps": 0, "back": pd.Timedelta(0)}

    def sleep(seconds):
        state["steps"] += 1
        state["now"] += pd.Timedelta(seconds=seconds) - (state["back"] if state["steps"] == 3 else pd.Timedelta(0))

    monkeypatch.setattr(clock, "now", lambda: state["now"])
    monkeypatch.setattr(waiting, "wait_until", partial(waiting.wait_until, sleep=sleep))
    return state


def test_it_waits_for_the_close_and_says_so(time, capsys):
    wait_option.wait_for_close(load_settings(None), None)
    assert time["now"] == pd.Timestamp("2018-12-04T21:15", tz="UTC")
    assert capsys.readouterr().err.count("waiting until Tue 2018-12-04 16:15 EST") == 1


def test_a_clock_that_is_set_back_is_told_and_followed(time, capsys):
    time["back"] = pd.Timedelta(days=1)
    wait_option.wait_for_close(load_settings(None), None)
    assert time["now"] == pd.Timestamp("2018-12-03T21:15", tz="UTC")
    assert "waiting until Mon 2018-12-03 16:15 EST" in capsys.readouterr().err


def test_on_a_closed_day_it_begins_at_once(time, capsys):
    time["now"] = pd.Timestamp("2018-12-05T15:00", tz="UTC")
    wait_option.wait_for_close(load_settings(None), None)
    assert time["steps"] == 0
    assert "the next night is Thu 2018-12-06 16:15 EST" in capsys.readouterr().err


def test_a_night_that_is_named_is_not_waited_for():
    with pytest.raises(ConfigError, match="leave one of them out"):
        wait_option.wait_for_close(load_settings(None), pd.Timestamp("2018-12-03"))
