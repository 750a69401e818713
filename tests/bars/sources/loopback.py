"""A chart server on the loopback interface, in the place of Yahoo's, for the real yfinance client.

It speaks as much of the chart protocol as a fetch of bars needs. Answers are scripted per symbol as a list that is used
up one request at a time, the last one repeated; an answer is a chart (dict) or the name of a fault.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pandas as pd

Answer = dict[str, Any] | str

RATE_LIMITED = (429, b"Too Many Requests")
REFUSALS: dict[str, tuple[int, bytes]] = {
    "rate limit": RATE_LIMITED,
    "server error": (500, b"<html>Internal Server Error</html>"),
    "no body": (200, b""),
    "maintenance": (200, b"<html>back soon</html>"),
    "no result": (200, b'{"chart": {"result": [], "error": null}}'),
    "half an answer": (200, b'{"chart": {"result": [{"meta": {"cur'),
}


def refusal(code: str, description: str) -> Answer:
    """Return an answer in which the server says why it has no prices."""
    return {"chart": {"result": None, "error": {"code": code, "description": description}}}


def chart(symbol: str, rows: pd.DataFrame, **meta: Any) -> Answer:
    """Return a chart of rows with columns ``stamp`` (aware), open, high, low, close, adjclose and volume."""
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
    }
    columns = {name: [None if pd.isna(v) else v for v in rows[name].tolist()] for name in rows if name != "stamp"}
    adjusted = columns.pop("adjclose")
    result = {
        "meta": about | meta,
        "timestamp": [int(stamp.timestamp()) for stamp in rows["stamp"]],
        "indicators": {"quote": [columns], "adjclose": [{"adjclose": adjusted}]},
    }
    return {"chart": {"result": [result], "error": None}}


@dataclass
class ChartServer:
    """The server and its script.

    Attributes
    ----------
    answers : dict of str to list
        Per symbol, what it says to one request after another.
    queries : dict of str to list
        Per symbol, the queries it was sent, time-zone look-ups left out.
    """

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    queries: dict[str, list[dict[str, str]]] = field(default_factory=lambda: defaultdict(list))
    lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> ChartServer:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body = owner.reply(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def reply(self, target: str) -> tuple[int, bytes]:
        """Answer one request."""
        url = urlsplit(target)
        if url.path.endswith("getcrumb"):
            return 200, b"crumb"
        if not url.path.startswith("/v8/finance/chart/"):
            return 404, b"{}"
        symbol = unquote(url.path.rsplit("/", 1)[1])
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        with self.lock:
            script = self.answers.get(symbol, [refusal("Not Found", "No data found, symbol may be delisted")])
            look_up = query.get("range") == "1d" and isinstance(script[0], dict)
            if not look_up:
                self.queries[symbol].append(query)
            answer = script[0] if look_up or len(script) == 1 else script.pop(0)
        if isinstance(answer, str):
            return REFUSALS[answer]
        return (404 if answer["chart"]["error"] else 200), json.dumps(answer).encode()
