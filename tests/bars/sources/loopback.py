"""A chart server on the loopback interface, in the place of Yahoo's, for the real yfinance client.

It speaks as much of the chart protocol as a fetch of bars needs. Answers are scripted per symbol as a list that is used
up one request at a time, the last one repeated; an answer is a chart (dict), the name of a fault, raw bytes, or a
function of the query that returns one of these (:func:`honest` makes one that keeps to the dates asked for).
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

Query = dict[str, str]
Answer = dict[str, Any] | str | bytes | Callable[[Query], "Answer"]


def refusal(code: str, description: str) -> dict[str, Any]:
    """Return an answer in which the server says why it has no prices."""
    return {"chart": {"result": None, "error": {"code": code, "description": description}}}


def _spelled(answer: object) -> bytes:
    return json.dumps(answer).encode()


#: Status and body of the faults that are a matter of what is said.
REFUSALS: dict[str, tuple[int, bytes]] = {
    "rate limit": (429, b"Too Many Requests"),
    "server error": (500, b"<html>Internal Server Error</html>"),
    "bad gateway": (502, _spelled(refusal("Bad Gateway", "upstream"))),
    "unauthorised": (
        401,
        _spelled({"finance": {"result": None, "error": {"code": "Unauthorized", "description": "Invalid Crumb"}}}),
    ),
    "not found page": (404, b"<html>Not Found</html>"),
    "no body": (200, b""),
    "maintenance": (200, b"<html>back soon</html>"),
    "down": (200, b"<html>Will be right back...</html>"),
    "no result": (200, b'{"chart": {"result": [], "error": null}}'),
    "null": (200, b'{"chart": {"result": null, "error": null}}'),
    "half an answer": (200, b'{"chart": {"result": [{"meta": {"cur'),
    "a list": (200, b"[]"),
    "a number": (200, b"17"),
    "no quote": (200, _spelled({"chart": {"result": [{"meta": {}, "indicators": {"quote": [{}]}}], "error": None}})),
}
#: Faults of the connection: a body shorter than announced, a connection closed or kept open without a word.
CUTS = ("short read", "reset", "hang")


def chart(
    symbol: str,
    rows: pd.DataFrame,
    *,
    dividends: dict[str, float] | None = None,
    splits: dict[str, tuple[float, float]] | None = None,
    gains: dict[str, float] | None = None,
    **meta: Any,
) -> dict[str, Any]:
    """Return a chart of rows with columns ``stamp`` (aware), open, high, low, close, adjclose and volume.

    Events are told by their local time.
    """
    about = {
        "symbol": symbol,
        "currency": "USD",
        "exchangeName": "NYQ",
        "instrumentType": "EQUITY",
        "exchangeTimezoneName": "America/New_York",
        "gmtoffset": -18000,
        "timezone": "EST",
        "priceHint": 2,
        "dataGranularity": "1d",
        "range": "",
        "validRanges": ["1d", "5d", "1mo", "1y", "max"],
    } | meta
    columns = {name: [None if pd.isna(v) else v for v in rows[name].tolist()] for name in rows if name != "stamp"}
    adjusted = columns.pop("adjclose")
    result: dict[str, Any] = {
        "meta": about,
        "timestamp": [int(stamp.timestamp()) for stamp in rows["stamp"]],
        "indicators": {"quote": [columns], "adjclose": [{"adjclose": adjusted}]},
    }

    def moment(text: str) -> int:
        return int(pd.Timestamp(text, tz=about["exchangeTimezoneName"]).timestamp())

    events = {
        "dividends": {moment(at): {"amount": amount} for at, amount in (dividends or {}).items()},
        "splits": {moment(at): {"numerator": n, "denominator": d} for at, (n, d) in (splits or {}).items()},
        "capitalGains": {moment(at): {"amount": amount} for at, amount in (gains or {}).items()},
    }
    if any(events.values()):
        result["events"] = {
            kind: {str(at): {"date": at, **said} for at, said in told.items()} for kind, told in events.items() if told
        }
    return {"chart": {"result": [result], "error": None}}


def intraday(answer: dict[str, Any], hours: list[tuple[str, str]], granularity: str = "1h") -> dict[str, Any]:
    """Turn a chart into one of intraday bars, with the trading periods of its sessions (local start and end)."""
    meta = answer["chart"]["result"][0]["meta"]
    zone = meta["exchangeTimezoneName"]
    meta["dataGranularity"] = granularity
    meta["tradingPeriods"] = [
        [
            {
                "timezone": "X",
                "gmtoffset": 0,
                "start": int(pd.Timestamp(start, tz=zone).timestamp()),
                "end": int(pd.Timestamp(end, tz=zone).timestamp()),
            }
        ]
        for start, end in hours
    ]
    return answer


def honest(answer: dict[str, Any]) -> Callable[[Query], dict[str, Any]]:
    """Return an answer that holds the rows and events from ``period1`` up to but not including ``period2``."""

    def reply(query: Query) -> dict[str, Any]:
        first, last = (float(query.get(name, bound)) for name, bound in (("period1", "-inf"), ("period2", "inf")))
        (result,) = answer["chart"]["result"]
        keep = [first <= stamp < last for stamp in result["timestamp"]]
        if not any(keep):
            return refusal("Bad Request", "Data doesn't exist for startDate = 1, endDate = 2")

        def kept(values: list[Any]) -> list[Any]:
            return [value for value, inside in zip(values, keep, strict=True) if inside]

        indicators = {
            kind: [{name: kept(values) for name, values in columns.items()} for columns in parts]
            for kind, parts in result["indicators"].items()
        }
        events = {
            kind: {at: said for at, said in told.items() if first <= said["date"] < last}
            for kind, told in result.get("events", {}).items()
        }
        told = {"meta": result["meta"], "timestamp": kept(result["timestamp"]), "indicators": indicators}
        return {"chart": {"result": [told | ({"events": events} if events else {})], "error": None}}

    return reply


@dataclass
class ChartServer:
    """The server and its script.

    Attributes
    ----------
    answers : dict of str to list
        Per symbol, what it says to one request after another.
    queries : dict of str to list
        Per symbol, the queries that it was sent.
    targets : list of str
        Every target that was requested, as it was written on the wire.
    latency : float
        Seconds that each chart takes.
    busiest : int
        Most charts that were in the making at once.
    crumb : str
        What is answered to a request for a crumb; ``"rate limit"`` is the fault.
    """

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    queries: dict[str, list[Query]] = field(default_factory=lambda: defaultdict(list))
    targets: list[str] = field(default_factory=list)
    latency: float = 0.0
    busiest: int = 0
    crumb: str = "crumb"
    lock: Lock = field(default_factory=Lock)
    over: Event = field(default_factory=Event)
    _busy: int = 0

    def __enter__(self) -> ChartServer:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                with owner.in_the_making():
                    status, body = owner.reply(self.path)
                    cut = body.decode() if status == 0 else ""
                    if cut == "hang":
                        owner.over.wait(30)
                if cut in {"reset", "hang"}:
                    self.close_connection = True
                    return
                body = body if not cut else b'{"chart": {"result": [{"meta": {'
                self.send_response(status or 200)
                if urlsplit(self.path).path == "/":
                    self.send_header("Set-Cookie", "A3=loopback; Path=/; Max-Age=31536000")
                self.send_header("Content-Length", str(len(body) + (1000 if cut else 0)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = bool(cut)

            def log_message(self, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @contextmanager
    def in_the_making(self) -> Iterator[None]:
        """Count an answer while it is made."""
        with self.lock:
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            yield
        finally:
            with self.lock:
                self._busy -= 1

    def reply(self, target: str) -> tuple[int, bytes]:
        """Answer one request: status and body, or 0 and the name of a cut."""
        with self.lock:
            self.targets.append(target)
        url = urlsplit(target)
        if url.path.endswith("getcrumb"):
            return REFUSALS[self.crumb] if self.crumb in REFUSALS else (200, self.crumb.encode())
        if not url.path.startswith("/v8/finance/chart/"):
            return 404, b"{}"
        if self.latency:
            time.sleep(self.latency)
        symbol = unquote(url.path.removeprefix("/v8/finance/chart/"))
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        with self.lock:
            script = self.answers.get(symbol, [refusal("Not Found", "No data found, symbol may be delisted")])
            self.queries[symbol].append(query)
            answer = script[0] if len(script) == 1 else script.pop(0)
        if callable(answer):
            answer = answer(query)
        if isinstance(answer, bytes):
            return 200, answer
        if isinstance(answer, str):
            return (0, answer.encode()) if answer in CUTS else REFUSALS[answer]
        return (404 if answer["chart"]["error"] else 200), json.dumps(answer).encode()
