"""The real yfinance client, wired to a chart server on the loopback interface: no request can leave it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.bars.sources.loopback import ChartServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


@contextmanager
def wired(monkeypatch: pytest.MonkeyPatch, *, cookie: bool = True) -> Iterator[ChartServer]:
    """Point yfinance at a new chart server.

    Parameters
    ----------
    monkeypatch : pytest.MonkeyPatch
        Puts everything back.
    cookie : bool
        Whether the client has a cookie and a crumb already; without, it fetches them first.
    """
    with ChartServer() as server, pointed_at(server.address, monkeypatch, cookie=cookie):
        yield server


@contextmanager
def pointed_at(address: str, monkeypatch: pytest.MonkeyPatch, *, cookie: bool = True) -> Iterator[Any]:
    """Point yfinance at a chart server that runs at an address; yield its session."""
    import yfinance.base
    import yfinance.scrapers.history
    from yfinance import _http, data

    class Loopback(type(_http.new_session())):
        def request(self, method: str, url: str, *args: object, **kwargs: object) -> object:
            parts = urlsplit(url)
            if parts.hostname != "127.0.0.1":
                url = f"{address}{parts.path}" + (f"?{parts.query}" if parts.query else "")
            return super().request(method, url, *args, **kwargs)

    session = Loopback(impersonate="chrome")
    for module in (yfinance.base, yfinance.scrapers.history):
        monkeypatch.setattr(module, "_BASE_URL_", address)
    for module in (yfinance.base, data):
        monkeypatch.setattr(module, "new_session", lambda *args, **kwargs: session)
    client = data.YfData()
    monkeypatch.setattr(client, "_session", session)
    monkeypatch.setattr(client, "_cookie", True if cookie else None)
    monkeypatch.setattr(client, "_crumb", "crumb" if cookie else None)
    monkeypatch.setattr(client, "_cookie_strategy", "basic")
    data.YfData.cache_get.cache_clear()
    yield session
    session.close()
