"""Bars from any provider that answers with CSV or JSON over HTTP, described by a URL template and a column mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.schema import empty_bars
from fints.bars.sources.base import BarRequest, Delivery
from fints.bars.sources.http_address import fill
from fints.bars.sources.http_tables import parse_table
from fints.bars.sources.http_transport import SlowDownError, Transport
from fints.bars.sources.reading import Reading
from fints.errors import NoSuchRangeError, RateLimitedError, SourceError, TransientError

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from fints.bars.sources.config import HttpConfig

_LONGEST_PAUSE: Final = 60.0  # seconds
_DAY: Final = pd.Timedelta(days=1)


class HttpSource:
    """Bars from a provider over HTTP.

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
        """Return the bars of one symbol, with retries where another try may help.

        Raises
        ------
        RateLimitedError, TransientError
            The last try still failed.
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
        address = fill(config.url, self._values(request))
        raw = self._patiently(address, asked)
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

    def _patiently(self, address: str, asked: str) -> pd.DataFrame:
        from tenacity import Retrying, retry_if_exception, stop_after_attempt

        retrying = Retrying(
            stop=stop_after_attempt(self.config.attempts),
            wait=self._pause,
            retry=retry_if_exception(_may_pass),
            reraise=True,
        )
        return retrying(lambda: parse_table(self._transport.ask(address, asked), self.config, asked))

    def _pause(self, state: RetryCallState) -> float:
        """Wait as long as the provider asks, else a random time whose limit doubles with each try."""
        from tenacity import wait_random_exponential

        error = state.outcome.exception() if state.outcome is not None else None
        own = wait_random_exponential(multiplier=self.config.wait, max=_LONGEST_PAUSE)(state)
        return max(own, error.pause) if isinstance(error, SlowDownError) else own


def _may_pass(error: BaseException) -> bool:
    """Try again, unless the provider asks for a pause that a run should not sit out."""
    if isinstance(error, SlowDownError):
        return error.pause <= _LONGEST_PAUSE
    return isinstance(error, RateLimitedError | TransientError)
