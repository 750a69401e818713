"""A provider of bars over HTTP on the loopback interface; it answers by a script and remembers what it was sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass(frozen=True)
class Reply:
    """One answer; `length` is what the header claims, None leaves the header out, "chunked" sends in chunks."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | str | None = -1
    hang: bool = False


class _Quiet(ThreadingHTTPServer):
    """A server to which it is nothing that a client has left."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class Provider:
    """A server that uses up its replies one request at a time; the last one is repeated."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.closing = Event()

    def __enter__(self) -> Provider:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked.append((self.path, dict(self.headers)))
                reply = owner.replies[0] if len(owner.replies) == 1 else owner.replies.pop(0)
                if reply.hang:
                    owner.closing.wait(20)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                _send(self, reply)

            def log_message(self, *args: object) -> None:
                pass

        self._http = _Quiet(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    if reply.length == "chunked":
        handler.send_header("Transfer-Encoding", "chunked")
    elif reply.length is not None:
        handler.send_header("Content-Length", str(len(reply.body) if reply.length == -1 else reply.length))
    handler.send_header("Connection", "close")
    handler.end_headers()
    # of chunks the last, empty one never comes
    chunked = reply.length == "chunked"
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(reply.body), reply.body) if chunked else reply.body)
    handler.close_connection = True
