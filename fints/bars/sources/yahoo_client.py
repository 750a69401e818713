"""One chart from Yahoo through yfinance: which symbol goes on the wire, and what yfinance needs around it."""

from __future__ import annotations

import atexit
import logging
import shutil
import sqlite3
import tempfile
import warnings
from contextlib import closing
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from fints.bars.sources.yahoo_faults import CacheUnusableError, classified
from fints.bars.sources.yahoo_structure import Watched
from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import yfinance

    from fints.bars.sources.yahoo_span import Span

_LOG = logging.getLogger(__name__)
_COOKIES: Final = "cookies.db"
_ISIN: Final = 12  # characters


class YahooClient:
    """yfinance, made ready once.

    Parameters
    ----------
    timeout : float
        Seconds that one request may take.
    cache : pathlib.Path or None
        Where yfinance keeps cookies; None, or a folder that cannot be used, takes a folder of this process.
    """

    def __init__(self, timeout: float, cache: Path | None) -> None:
        self.timeout = timeout
        self.cache = cache
        self._lock = Lock()
        self._ready = False

    def prepare(self) -> None:
        """Give yfinance a cache of its own and see that it has a session.

        Raises
        ------
        ConfigError
            yfinance, or the library that it makes requests with, cannot be used.
        """
        with self._lock:
            if self._ready:
                return
            _check_session()
            # it calls pandas in ways that a later pandas will refuse, and says so once per symbol
            for category in (DeprecationWarning, FutureWarning):
                warnings.filterwarnings("ignore", category=category, module="yfinance")
            self._set_cache(self.cache if self.cache is not None and _usable(self.cache) else None)
            self._ready = True

    def chart(self, symbol: str, interval: str, span: Span, asked: str) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """Return the rows and what Yahoo says of the symbol; any thread may ask.

        Parameters
        ----------
        symbol : str
            See :func:`check_symbol`.
        interval : str
            As Yahoo spells it.
        span : Span
            What is wanted.
        asked : str
            What was asked of whom, for messages.

        Raises
        ------
        FintsError
            As :func:`~fints.bars.sources.yahoo_faults.classified` says.
        """
        self.prepare()
        try:
            return self._ask(symbol, interval, span, asked)
        except CacheUnusableError as error:
            _LOG.warning("%s; a private one takes its place", error)
            with self._lock:
                self._set_cache(None)
            return self._ask(symbol, interval, span, asked)

    def _ask(self, symbol: str, interval: str, span: Span, asked: str) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        with classified(asked):
            ticker = _ticker_class()(quote(symbol, safe=""))
            rows = ticker.history(
                interval=interval,
                auto_adjust=False,
                actions=True,
                keepna=True,
                timeout=self.timeout,
                **span.instants(),
            )
            return rows, ticker.history_metadata

    def _set_cache(self, folder: Path | None) -> None:
        import yfinance
        from yfinance import cache as caches

        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="fints-yfinance-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        yfinance.set_tz_cache_location(str(folder))
        # a place set later is heeded only by a cache that has not been opened yet
        caches._CookieCacheManager._Cookie_cache = None  # noqa: SLF001


def check_symbol(symbol: str) -> None:
    """Refuse what yfinance or the way to Yahoo would turn into another symbol.

    Any other text is safe: it goes into the address percent-encoded.

    Raises
    ------
    ConfigError
        The symbol is empty, a path step, padded with spaces, an ISIN, or not in capitals.
    """
    if not symbol.strip() or symbol != symbol.strip() or not symbol.isprintable():
        raise ConfigError(f"the symbol {symbol!r} is empty, padded or unprintable; write it as Yahoo does")
    if not symbol.strip("."):
        raise ConfigError(f"the symbol {symbol!r} is a step of a path; no request was sent")
    if symbol != symbol.upper():
        raise ConfigError(
            f"the symbol {symbol!r} is not in capitals, and Yahoo would be asked for {symbol.upper()!r}; write that"
        )
    if len(symbol) == _ISIN and symbol.isalnum() and symbol[:2].isalpha() and symbol[-1].isdigit():
        raise ConfigError(f"{symbol!r} is an ISIN, which yfinance would look up; name the symbol that Yahoo uses")


@cache
def _ticker_class() -> type[yfinance.Ticker]:
    import yfinance

    class Ticker(yfinance.Ticker):  # type: ignore[misc]  # yfinance is untyped
        """A ticker whose answers are looked at, and whose time zone is not looked up first.

        The look-up is one more request per symbol, and whatever Yahoo answers to it means "delisted" to yfinance. It
        serves to read dates that are given without a zone; ours have one.
        """

        _data: Any

        def __init__(self, symbol: str) -> None:
            super().__init__(symbol)
            self._data = Watched(self._data)

        def _get_ticker_tz(self, timeout: float) -> str:
            del timeout
            return "UTC"

    return Ticker


def _check_session() -> None:
    try:
        from yfinance.data import YfData

        YfData()
    except Exception as error:
        raise ConfigError(
            f"yfinance cannot make requests here ({type(error).__name__}: {error}); nothing was asked. Install it "
            "anew with what it needs: pip install --upgrade yfinance curl_cffi"
        ) from error


def _usable(folder: Path) -> bool:
    """Try to write where yfinance will; another program may hold the database there, or the disk be read-only."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(folder / _COOKIES, timeout=1.0, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("CREATE TABLE IF NOT EXISTS tried (here INTEGER)")
            database.execute("ROLLBACK")
    except (OSError, sqlite3.Error) as error:
        _LOG.warning("the cache folder %s cannot be used (%s); a private one takes its place", folder, error)
        return False
    return True
