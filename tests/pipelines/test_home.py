from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import pytest

from fints.errors import ConfigError, LockHeldError
from pipelines.home import Home

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_that_may_wait_is_next_and_one_that_may_not_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told, order = Event(), []

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.set()

    def patient() -> None:
        with Home(tmp_path).locked(60):
            order.append("second")

    logging.getLogger("pipelines.home").addHandler(handler := Watch())
    try:
        with ThreadPoolExecutor(1) as pool:
            with Home(tmp_path).locked():
                waiting = pool.submit(patient)
                assert told.wait(60)
                with pytest.raises(LockHeldError, match="another run is at work"), Home(tmp_path).locked():
                    pytest.fail("it was held")
                order.append("first")
            waiting.result(60)
    finally:
        logging.getLogger("pipelines.home").removeHandler(handler)
    assert order == ["first", "second"]
    assert "it is waited for, 60 s at most" in caplog.text


def test_patience_ends(tmp_path: Path) -> None:
    with (
        Home(tmp_path).locked(),
        pytest.raises(LockHeldError, match="set FINTS_HOME"),
        Home(tmp_path).locked(0.01),
    ):
        pytest.fail("it was held")


def test_a_home_whose_path_tables_cannot_lie_under_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"misread '\['"), Home(tmp_path / "data [old]").locked():
        pytest.fail("it was held")
    assert list(tmp_path.iterdir()) == []


def test_a_home_below_a_user_who_has_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINTS_HOME", "~nobody-of-that-name/fints")
    with pytest.raises(ConfigError, match="set FINTS_HOME to a full path"):
        Home.from_environment()
