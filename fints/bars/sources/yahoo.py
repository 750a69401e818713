"""Bars from Yahoo Finance, through yfinance: one symbol per request, every fault told apart by its cause.

A null volume arrives as 0; a series whose every volume is 0 has none, which the whole history tells. A request is tried
once: when and how often it is tried again is decided for all symbols together (:mod:`fints.bars.rounds`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.rounds import Patience
from fints.bars.sources.base import BarRequest, Delivery
from fints.bars.sources.yahoo_answer import read_answer
from fints.bars.sources.yahoo_client import YahooClient, check_symbol
from fints.bars.sources.yahoo_exchanges import EXCHANGES, place
from fints.bars.sources.yahoo_faults import classified
from fints.bars.sources.yahoo_span import LOOK_BACK, Span
from fints.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.bars.sources.config import YahooConfig

__all__ = ["EXCHANGES", "LOOK_BACK", "YahooSource"]


class YahooSource:
    """Bars from Yahoo Finance; several threads may fetch at once.

    Parameters
    ----------
    config : YahooConfig
        Time-out, patience, cache.
    """

    name = "yahoo"
    live = True

    def __init__(self, config: YahooConfig) -> None:
        self.config = config
        self.patience = Patience(
            workers=config.workers, attempts=config.attempts, pause=config.wait, budget=config.budget
        )
        self._client = YahooClient(config.timeout, config.cache)

    def symbols(self) -> list[str]:
        """Return nothing: Yahoo cannot list its symbols."""
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars and actions of one symbol.

        Raises
        ------
        ConfigError
            The symbol or the exchange has to be configured otherwise, or yfinance cannot be used.
        RateLimitedError, TransientError
            Another try may help; so it may where the answer was one for another symbol.
        UnknownSymbolError, NoSuchRangeError
            Yahoo said so, or the request lies before what it serves.
        """
        check_symbol(request.symbol)
        span = Span.of(request, self.config.exchange, pd.Timestamp.now("UTC"))
        asked = f"Yahoo, {request.symbol!r} ({request.interval})"
        quotes, meta = self._client.chart(request.symbol, request.interval, span, asked)
        with classified(asked):
            _check_answered(meta, request)
            calendar = place(meta, self.config.exchange, request)
            bars, actions = read_answer(quotes, meta, request, calendar)
            return Delivery(bars, actions, span.notes(calendar.mic, request.interval))


def _check_answered(meta: Mapping[str, object], request: BarRequest) -> None:
    answered = meta.get("symbol")
    if str(answered).casefold() != request.symbol.casefold():
        raise TransientError(f"Yahoo was asked for {request.symbol!r} and answered for {answered!r}; nothing was kept")
