import socket
import time
from pathlib import Path

import pytest

from fints.errors import ConfigError, StoreError
from fints.tuning import StudyStore


def test_a_password_is_never_shown():
    store = StudyStore("mine", "postgresql://me:secret@db.example:5432/tuning")
    assert "secret" not in store.location
    assert "db.example:5432/tuning" in store.location
    assert store.location.startswith("postgresql+psycopg://")


def test_a_server_that_is_not_there_is_told_within_seconds_and_without_the_password():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(StoreError, match=f"127.0.0.1:{port}") as caught:
        StudyStore("mine", f"postgresql://me:secret@127.0.0.1:{port}/tuning").check()
    assert time.monotonic() - began < 10
    shown = "".join(str(error) for error in (caught.value, caught.value.__cause__))
    assert "secret" not in shown


def test_a_server_that_never_answers_is_given_up():
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        began = time.monotonic()
        with pytest.raises(StoreError, match="cannot be used"):
            StudyStore("mine", f"postgresql://me@127.0.0.1:{deaf.getsockname()[1]}/tuning").check()
        assert time.monotonic() - began < 15


@pytest.mark.parametrize("url", ["://", "nothing://here/db"])
def test_a_url_of_no_database_is_a_fault_of_the_settings(url):
    with pytest.raises(ConfigError, match=r"URL|package"):
        StudyStore("mine", url).check()


@pytest.mark.parametrize("name", ["", "../mine", "a/b", ".. /x"])
def test_a_name_that_is_a_path_is_refused(name):
    with pytest.raises(ConfigError, match="named"):
        StudyStore(name, Path("x.journal"))


def test_signs_of_life_come_more_often_than_a_trial_is_given_up():
    with pytest.raises(ConfigError, match="signs of life"):
        StudyStore("mine", "sqlite://", heartbeat=60, grace=60)


def test_another_study_lies_beside_a_journal_and_in_the_same_database(tmp_path):
    assert StudyStore("a", tmp_path / "a.journal").named("b").url == tmp_path / "b.journal"
    assert StudyStore("a", "sqlite:///x.db").named("b").url == "sqlite:///x.db"


def test_a_study_that_was_never_begun_does_not_exist_and_looking_makes_nothing(tmp_path):
    assert not StudyStore("a", tmp_path / "a.journal").exists()
    assert list(tmp_path.iterdir()) == []
