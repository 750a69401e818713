"""What the registry of models may do to a night: nothing, where it is switched off or cannot be reached."""

import socket
import threading
from contextlib import suppress

import pytest

from fints.settings import load_settings
from pipelines.registration import fetch, moved_by_hand, synchronise, wanted
from pipelines.succession import Succession

TARGET = "log_volume"
TOLD = '{"registered": ["a/2018-01-02-0123456789ab"], "aliases": {"champion": "a/2018-01-02-0123456789ab"}}'


def settings_of(*lines):
    return load_settings(None, ["dataset=made", f"targets=[{TARGET}]", *lines])


@pytest.fixture
def models(tmp_path):
    """A home's models, whose registry has been told of a champion before."""
    folder = tmp_path / "home" / "models" / "made" / "1d" / TARGET
    folder.mkdir(parents=True)
    (folder / "registry.json").write_text(TOLD)
    return tmp_path / "home" / "models"


@pytest.fixture
def closed_port():
    """A port of this machine at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("line", ["tracking.enabled=false", "champion.enabled=false", "champion.register_fits=false"])
def test_a_registry_that_is_switched_off_is_not_touched(models, monkeypatch, line):
    monkeypatch.setattr("pipelines.registration.Registry", lambda *_: pytest.fail("the registry was opened"))
    before = {path: path.read_bytes() for path in models.parent.rglob("*") if path.is_file()}
    settings = settings_of(line)
    assert not wanted(settings)
    assert moved_by_hand(settings, models) == ({}, [])
    assert synchronise(settings, models, [TARGET]) == []
    assert not fetch(settings, models, TARGET, "a/2018-01-02-0123456789ab")
    assert {path: path.read_bytes() for path in models.parent.rglob("*") if path.is_file()} == before


@pytest.mark.filterwarnings("ignore")  # of mlflow about itself
def test_a_registry_that_is_not_there_is_told_in_words(models, closed_port):
    settings = settings_of(f"tracking.uri=http://127.0.0.1:{closed_port}")
    moved, (said,) = moved_by_hand(settings, models)
    assert moved == {}
    assert said.startswith("the model registry could not be asked, and the local book is followed")
    assert not fetch(settings, models, TARGET, "a/2018-01-02-0123456789ab")


@pytest.mark.parametrize("content", ["", "\0" * 80, "[]", "null", "[" * 100_000])
def test_a_record_of_what_the_registry_was_told_that_is_spoiled_says_nothing(models, content):
    (models / "made" / "1d" / TARGET / "registry.json").write_text(content)
    assert moved_by_hand(settings_of(), models) == ({}, [])


@pytest.fixture
def dripping_port():
    """A port of this machine at which somebody begins to answer, and sends a byte now and then."""
    over = threading.Event()

    def drip(connection):
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while not over.wait(0.1):
                connection.sendall(b" ")

    def listen(place):
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(place.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as place:
        threading.Thread(target=listen, args=(place,), daemon=True).start()
        yield place.getsockname()[1]
        over.set()


@pytest.mark.filterwarnings("ignore")  # of mlflow about itself
def test_a_registry_that_is_never_done_with_its_answer_is_given_up_and_told(models, dripping_port, monkeypatch):
    for limit in ("ASK", "SEND"):
        monkeypatch.setattr(f"pipelines.registration.{limit}", 1.0)
    settings = settings_of(f"tracking.uri=http://127.0.0.1:{dripping_port}")
    moved, (said,) = moved_by_hand(settings, models)
    assert moved == {}
    assert "the local book is followed: the tracking server began to answer and was not done within 1 s" in said
    assert not fetch(settings, models, TARGET, "a/2018-01-02-0123456789ab")


class Shared:
    """A registry on a server that several homes share."""

    named, noted = "line/2018-01-02-aaaaaaaaaaaa", "line/2018-01-02-aaaaaaaaaaaa"

    def __init__(self, *_):
        pass

    def aliased(self):
        return self.named

    def set_by_night(self):
        return self.noted


def test_what_a_night_of_another_home_has_set_is_nobodys_wish(models, monkeypatch):
    settings = settings_of()
    monkeypatch.setattr("pipelines.registration.Registry", Shared)
    assert moved_by_hand(settings, models) == ({}, [])
    monkeypatch.setattr(Shared, "named", "line/2018-06-01-bbbbbbbbbbbb")
    assert moved_by_hand(settings, models) == ({TARGET: "line/2018-06-01-bbbbbbbbbbbb"}, [])


def test_a_target_whose_decisions_cannot_be_read_keeps_no_other_from_being_registered(models, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "pipelines.registration._synchronise", lambda _s, _m, target: asked.append(target) or read(target)
    )

    def read(target):
        Succession.book_under(models, ("made", "1d", target)).read()

    (models / "made" / "1d" / TARGET / "book.jsonl").write_text("{\n")
    settings = load_settings(None, ["dataset=made", f"targets=[{TARGET}, log_range]"])
    assert synchronise(settings, models, [TARGET, "log_range"]) == []  # the night itself says so
    assert asked == [TARGET, "log_range"]
