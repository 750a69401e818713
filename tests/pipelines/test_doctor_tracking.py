"""What the doctor says of a tracking server that asks who calls, or is none."""

import base64
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pipelines import doctor_data
from tests.pipelines.test_doctor import patient


class Guarded(BaseHTTPRequestHandler):
    """A tracking server that asks who calls, and remembers what it was asked."""

    def do_GET(self):
        who = f"Basic {base64.b64encode(b'me:s3/cr@t').decode()}"
        asked = self.headers.get("Authorization", "")
        self.server.asked.append((self.path, asked))
        moved = self.path.startswith("/moved/")
        self.send_response(302 if moved else 200 if asked == who and self.path == "/mlflow/health" else 401)
        if moved:
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def guarded():
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        server.asked = []
        worker = threading.Thread(target=server.serve_forever, daemon=True)
        worker.start()
        yield server
        server.shutdown()
        worker.join()


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)


def at(tmp_path, uri):
    return doctor_data.tracking(patient(tmp_path, f"tracking.uri={uri}", offline=False))


def test_a_tracking_server_is_told_who_asks_by_the_address_or_by_mlflows_variables(tmp_path, guarded, monkeypatch):
    place = f"127.0.0.1:{guarded.server_port}"
    found = at(tmp_path, f"http://me:s3%2Fcr%40t@{place}/mlflow/")
    assert (found.state, found.sentence) == ("ok", f"the tracking server http://{place} answers")
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "s3/cr@t")
    assert at(tmp_path, f"http://{place}/mlflow").state == "ok"
    assert [path for path, _ in guarded.asked] == ["/mlflow/health"] * 2


def test_a_tracking_server_that_refuses_is_not_called_away(tmp_path, guarded):
    for who in ("", "me:wrong@"):
        found = at(tmp_path, f"http://{who}127.0.0.1:{guarded.server_port}/mlflow")
        assert found.state == "failed"
        assert "refuses this user (401)" in found.sentence
        assert "wrong" not in found.sentence


def test_a_password_follows_no_redirect(tmp_path, guarded):
    at(tmp_path, f"http://me:s3%2Fcr%40t@127.0.0.1:{guarded.server_port}/moved")
    (first, told), (second, told_there) = guarded.asked
    assert (first, second) == ("/moved/health", "/elsewhere")
    assert told
    assert told_there == ""


def test_an_address_without_a_port_is_asked_without_its_password(tmp_path, monkeypatch):
    asked = []

    def away(request, timeout):
        asked.append(request.full_url)
        raise ConnectionRefusedError

    monkeypatch.setattr("pipelines.doctor_data.urlopen", away)
    found = at(tmp_path, "http://me:s3cret@tracking.example")
    assert (found.state, asked) == ("failed", ["http://tracking.example/health"])
    assert found.sentence == "the tracking server http://tracking.example does not answer (nobody there)"
    at(tmp_path, "http://me:s3cret@[::1]:5000/x")
    assert asked[1:] == ["http://[::1]:5000/x/health"]


def test_what_is_no_web_server_does_not_answer(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def mumble():
            caller, _ = server.accept()
            with caller:
                caller.recv(1000)
                caller.sendall(b"SSH-2.0-none\r\n")

        worker = threading.Thread(target=mumble, daemon=True)
        worker.start()
        found = at(tmp_path, f"http://me:s3cret@127.0.0.1:{server.getsockname()[1]}")
        worker.join()
    assert found.state == "failed"
    assert "does not answer (nobody there)" in found.sentence
