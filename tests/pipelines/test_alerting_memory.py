"""What is remembered of alerts from night to night, where not all of it can be read or looked at."""

from pathlib import Path

import pandas as pd
import pytest

from fints.settings import load_settings
from fints.verification import Alert, Verification
from pipelines.alerting import tell
from pipelines.home import Home

ERROR = Alert("error", "log_volume, 1 ahead", "log_volume: the error is 40 % above what was promised.", 2)


@pytest.fixture
def posted(monkeypatch):
    """What a webhook was given, which takes everything."""
    messages = []
    monkeypatch.setattr("pipelines.alerting.post", lambda message, _: messages.append(message) or "")
    return messages


def settings_of():
    return load_settings(None, ["dataset=made"])


def night(day, *alerts):
    return Verification(pd.Timestamp(f"2018-12-{day:02d}"), alerts=alerts)


def told(posted):
    return [[alert.sentence for alert in message.alerts] or [*message.resolved] for message in posted]


def test_a_memory_that_cannot_be_opened_for_a_moment_is_left_as_it_is(tmp_path, posted, monkeypatch):
    """Alerts are told again rather than not at all, and what stood before can still be resolved."""

    def busy(*_args, **_how):
        raise OSError(24, "Too many open files")

    tell(night(3, ERROR), Home(tmp_path), settings_of())
    file = tmp_path / "verification" / "made" / "1d" / "alerts.json"
    before = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", busy)
        resolved, (warning,) = tell(night(4, ERROR), Home(tmp_path), settings_of())
    assert resolved == ()
    assert "Too many open files" in warning
    assert file.read_bytes() == before
    assert tell(night(5), Home(tmp_path), settings_of()) == ((ERROR.key,), ())
    assert told(posted) == [[ERROR.sentence], [ERROR.sentence], [ERROR.key]]


def test_what_was_not_looked_at_stands_on_as_it_was_told(tmp_path, posted):
    """Neither resolved, nor told again, nor forgotten where there was nothing to tell at all."""
    home, settings = Home(tmp_path), settings_of()
    book = Alert("book", "log_volume", "The book of decisions cannot be read.")
    tell(night(3, ERROR), home, settings)
    assert tell(night(4, book), home, settings, whole=False) == ((), ())
    assert tell(night(5), home, settings, whole=False) == ((), ())
    assert told(posted) == [[ERROR.sentence], [book.sentence]]
    assert posted[1].standing == 2
    assert tell(night(6, ERROR), home, settings) == ((book.key,), ())
    assert told(posted)[2:] == [[book.key]]
