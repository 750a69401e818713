"""Bars from any provider that answers with CSV or JSON over HTTP, described by a URL template and a column mapping."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.rounds import Patience
from fints.bars.schema import empty_bars
from fints.bars.sources.base import BarRequest, Delivery
from fints.bars.sources.http_address import fill, names_token
from fints.bars.sources.http_tables import parse_table
from fints.bars.sources.http_transport import SlowDownError, Transport
from fints.bars.sources.reading import Reading
from fints.errors import NoSuchRangeError, RateLimitedError, SourceError

if TYPE_CHECKING:
    from fints.bars.sources.config import HttpConfig

_LONGEST_PAUSE: Final = 60.0  # seconds
_DAY: Final = pd.Timedelta(days=1)


class HttpSource:
    """Bars from a provider over HTTP; several threads may fetch at once.

    Parameters
    ----------
    config : HttpConfig
        Address, token, and how to read what comes.
    """

    live = True

    def __init__(self, config: HttpConfig) -> None:
        self.config = config
        self.name = config.name
        self._reading = Reading(config, config.name, f"the answers of {config.name!r}")
        self._transport = Transport(config)
        self._until = time.monotonic()  # from which on the provider may be asked
        self._spare = config.budget  # seconds by which pauses may be lengthened
        self.patience = Patience(config.workers, config.attempts, config.wait, config.budget, self._sleep)

    def symbols(self) -> list[str]:
        """Return nothing: there is no common way to ask for a list.

        Raises
        ------
        ConfigError
            The token is missing; it is known before the first request.
        """
        self._transport.token()
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars of one symbol; it is asked for once, see :attr:`patience`.

        Raises
        ------
        RateLimitedError, TransientError
            Another try may help.
        UnknownSymbolError, NoSuchRangeError
            The provider does not have it.
        ConfigError
            The token is missing or refused, or the answer's columns are not understood.
        SourceError
            The answer is for another symbol, or nothing that can be read.
        """
        config = self.config
        self._reading.check_interval(request)
        asked = f"{config.name}, {request.symbol!r} ({request.interval})"
        values = self._values(request)
        if names_token(config.url):
            values["token"] = self._transport.token() or ""
        address = fill(config.url, values)
        raw = self._ask(address, asked)
        if raw.empty:
            return Delivery(empty_bars())
        contents = self._reading.contents(raw, request.symbol, asked)
        (answered, *others) = contents.symbols() or [request.symbol]
        if others or answered.casefold() != request.symbol.casefold():
            raise SourceError(
                f"{asked}: the answer is for {', '.join((answered, *others)[:3])}; nothing of it was kept"
            )
        return Delivery(self._reading.bars(contents.rows, request))

    def _values(self, request: BarRequest) -> dict[str, str | pd.Timestamp]:
        config = self.config
        if config.intervals and request.interval not in config.intervals:
            raise NoSuchRangeError(
                f"{config.name} has no {request.interval!r} bars; `intervals` names {', '.join(config.intervals)}"
            )
        end = pd.Timestamp.now("UTC").tz_localize(None).normalize() if request.end is None else request.end
        return {
            "symbol": request.symbol,
            "start": pd.Timestamp(config.since) if request.start is None else request.start,
            "end": end if config.end == "inclusive" else end + _DAY,
            "interval": config.intervals.get(request.interval, request.interval),
        }

    def _ask(self, address: str, asked: str) -> pd.DataFrame:
        """Send one request; while the provider wants to be left alone for long, none is sent."""
        if self._rest() > _LONGEST_PAUSE:
            raise RateLimitedError(f"{asked}: not asked for: too many requests before; wait {self._rest():.0f} s")
        try:
            return parse_table(self._transport.ask(address, asked), self.config, asked)
        except SlowDownError as error:
            self._until = time.monotonic() + error.pause
            raise

    def _rest(self) -> float:
        """Return the seconds for which the provider still wants to be left alone."""
        return self._until - time.monotonic()

    def _sleep(self, seconds: float) -> None:
        """Pause between two rounds: longer where the provider asks for it and a run may sit it out."""
        rest = self._rest()
        more = min(max(rest - seconds, 0.0), self._spare) if rest <= _LONGEST_PAUSE else 0.0
        self._spare -= more
        time.sleep(seconds + more)
