"""Bars from Yahoo Finance, through yfinance: one symbol per request, every fault told apart by its cause.

yfinance reports most faults as an empty frame that is logged as "possibly delisted". Its exceptions are switched on
here instead, and sorted into rate limited, transient, no such range and unknown symbol; whatever is not understood is
transient and never says that a symbol is gone. A null volume arrives as 0; a series whose every volume is 0 has none.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from fints.bars.schema import empty_bars
from fints.bars.sources.base import BarRequest, Delivery, Origin, clip_sessions, daily_bounds
from fints.bars.sources.stamps import local_times, place_on_grid
from fints.errors import (
    ConfigError,
    NoSuchRangeError,
    RateLimitedError,
    SourceError,
    TransientError,
    UnknownSymbolError,
)
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fints.bars.sources.config import YahooConfig

_LOG = logging.getLogger(__name__)
_LONGEST_PAUSE: Final = 60.0  # seconds

#: How far back Yahoo serves each interval; None is without limit.
LOOK_BACK: Final[Mapping[str, pd.Timedelta | None]] = MappingProxyType(
    {
        "1m": pd.Timedelta(days=7),
        "2m": pd.Timedelta(days=59),
        "5m": pd.Timedelta(days=59),
        "15m": pd.Timedelta(days=59),
        "30m": pd.Timedelta(days=59),
        "90m": pd.Timedelta(days=59),
        "1h": pd.Timedelta(days=729),
        "1d": None,
    }
)
#: Yahoo's exchange codes and our calendars.
EXCHANGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("NYQ", "NMS", "NGM", "NCM", "NAS", "PCX", "BTS", "BATS", "ASE", "PNK", "OQB", "OQX"), "XNYS"),
        **dict.fromkeys(("SNP", "NIM", "DJI", "WCB", "CXI", "NYS"), "XNYS"),  # US indices
        **dict.fromkeys(("LSE", "FGI", "IOB"), "XLON"),
        **dict.fromkeys(("GER", "FRA", "STU", "MUN", "DUS", "HAM", "BER"), "XETR"),
        "PAR": "XPAR",
        "AMS": "XAMS",
        "BRU": "XBRU",
        "LIS": "XLIS",
        "MIL": "XMIL",
        "MCE": "XMAD",
        "EBS": "XSWX",
        "STO": "XSTO",
        "CPH": "XCSE",
        "HEL": "XHEL",
        "OSL": "XOSL",
        "VIE": "XWBO",
        "ISE": "XDUB",
        "JPX": "XTKS",
        "OSA": "XTKS",
        "HKG": "XHKG",
        "SHH": "XSHG",
        "SHZ": "XSHG",
        "KSC": "XKRX",
        "KOE": "XKRX",
        "TAI": "XTAI",
        "TWO": "XTAI",
        "SES": "XSES",
        "NSI": "XNSE",
        "BSE": "XBOM",
        "ASX": "XASX",
        "NZE": "XNZE",
        "TOR": "XTSE",
        "VAN": "XTSE",
        "CNQ": "XTSE",
        "MEX": "XMEX",
        "SAO": "BVMF",
        "JNB": "XJSE",
        "TLV": "XTAE",
        "CCC": "24/7",
        "CCY": "FX",
    }
)
_COLUMNS: Final = MappingProxyType(
    {
        "Open": "open",
        "High": "high",
        "Low": "low",
        "Close": "close",
        "Adj Close": "adj_close",
        "Volume": "volume",
    }
)
_NOT_FOUND: Final = ("no data found", "not found", "delisted")
_OUT_OF_RANGE: Final = ("not available", "must be within", "doesn't exist for", "no data exists", "requested range")


class YahooSource:
    """Bars from Yahoo Finance.

    Parameters
    ----------
    config : YahooConfig
        Time-out, retries, cache.
    """

    name = "yahoo"
    live = True

    def __init__(self, config: YahooConfig) -> None:
        self.config = config
        self._prepared = False

    def symbols(self) -> list[str]:
        """Return nothing: Yahoo cannot list its symbols."""
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars of one symbol, with retries where another try may help.

        Raises
        ------
        RateLimitedError, TransientError
            The last try still failed.
        UnknownSymbolError, NoSuchRangeError
            Yahoo said so.
        SourceError
            It answered for another symbol, or from an exchange that is not known here.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

        if request.interval not in LOOK_BACK:
            raise NoSuchRangeError(
                f"Yahoo has no {request.interval!r} bars; choose from {', '.join(LOOK_BACK)} for {request.symbol!r}"
            )
        self._prepare()
        retrying = Retrying(
            stop=stop_after_attempt(self.config.attempts),
            wait=wait_random_exponential(multiplier=self.config.wait, max=_LONGEST_PAUSE),
            retry=retry_if_exception_type((RateLimitedError, TransientError)),
            reraise=True,
        )
        quotes, meta = retrying(self._ask, request)
        return Delivery(clip_sessions(self._bars(quotes, meta, request), request))

    def _prepare(self) -> None:
        """Give yfinance a cache of its own: one shared with other programs may be locked or read-only."""
        if self._prepared:
            return
        import yfinance

        cache = self.config.cache
        if cache is None:
            folder = tempfile.mkdtemp(prefix="fints-yfinance-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        else:
            cache.mkdir(parents=True, exist_ok=True)
            folder = str(cache)
        yfinance.set_tz_cache_location(folder)
        self._prepared = True

    def _ask(self, request: BarRequest) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        import yfinance
        from yfinance.data import YfData

        # it keeps answers of failed requests too, and would repeat them without asking again
        YfData.cache_get.cache_clear()
        ticker = yfinance.Ticker(request.symbol)
        with _faults(request):
            quotes = ticker.history(
                interval=request.interval,
                auto_adjust=False,
                actions=True,
                keepna=True,
                timeout=self.config.timeout,
                **_span(request),
            )
            return quotes, ticker.history_metadata

    def _bars(self, quotes: pd.DataFrame, meta: Mapping[str, Any], request: BarRequest) -> pd.DataFrame:
        answered = meta.get("symbol")
        if answered is not None and str(answered).casefold() != request.symbol.casefold():
            raise SourceError(f"Yahoo was asked for {request.symbol!r} and answered for {answered!r}; nothing was kept")
        rows = quotes.rename(columns=dict(_COLUMNS))
        prices = ["open", "high", "low", "close"]
        action = (rows[["Dividends", "Stock Splits"]] != 0).any(axis=1)
        rows = rows[~(action & rows[prices].isna().all(axis=1))]  # a dividend off the range is no bar
        if rows.empty:
            return empty_bars()
        calendar = get_calendar(self._exchange(meta, request))
        stamps = pd.Series(rows.index)
        if request.interval == "1d":
            bounds = daily_bounds(pd.DatetimeIndex(stamps.dt.tz_localize(None)).normalize(), calendar)
        else:
            bounds = place_on_grid(local_times(stamps, calendar, None), calendar, request.interval, "start")
        values = rows[list(_COLUMNS.values())].reset_index(drop=True)
        if not (values["volume"] > 0).any():
            values["volume"] = pd.Series(pd.NA, index=values.index, dtype="Int64")
        currency = str(meta.get("currency") or "unknown")
        origin = Origin(request.symbol, request.interval, calendar.mic, currency, self.name, pd.Timestamp.now("UTC"))
        return origin.stamp(pd.concat([bounds, values], axis=1))

    def _exchange(self, meta: Mapping[str, Any], request: BarRequest) -> str:
        """Return the exchange: as configured, as Yahoo's code says, else as the ingest says."""
        code, zone = str(meta.get("exchangeName", "")), str(meta.get("exchangeTimezoneName", ""))
        named = self.config.exchange or EXCHANGES.get(code) or request.exchange
        if named is None and zone == "America/New_York":
            named = "XNYS"
        if named is None:
            raise ConfigError(
                f"Yahoo places {request.symbol!r} on the exchange {code!r} ({zone}), which has no calendar here; "
                "set the option `exchange` of the source"
            )
        return named


def _span(request: BarRequest) -> dict[str, str]:
    """Return the dates in yfinance's terms: its end is exclusive, and intraday history is limited."""
    limit = LOOK_BACK[request.interval]
    start = request.start
    if start is not None and limit is not None:
        earliest = pd.Timestamp.now("UTC").tz_localize(None).normalize() - limit
        if start < earliest:
            _LOG.warning(
                "%s: Yahoo serves %s bars back to %s; asked from there",
                request.symbol,
                request.interval,
                earliest.date(),
            )
            start = earliest
    span = {"period": "max"} if start is None else {"start": f"{start:%Y-%m-%d}"}
    if request.end is not None:
        span["end"] = f"{request.end + pd.Timedelta(days=1):%Y-%m-%d}"
    return span


@contextmanager
def _faults(request: BarRequest) -> Iterator[None]:
    """Turn what yfinance raises into our errors."""
    import yfinance
    from yfinance.exceptions import YFInvalidPeriodError, YFPricesMissingError, YFRateLimitError, YFTzMissingError

    debug = yfinance.config.debug
    hidden = debug.hide_exceptions
    debug.hide_exceptions = False
    asked = f"Yahoo, {request.symbol!r} ({request.interval})"
    try:
        yield
    except YFRateLimitError as error:
        raise RateLimitedError(f"{asked}: too many requests; try again later") from error
    except YFTzMissingError as error:
        raise UnknownSymbolError(f"{asked}: the symbol is not known") from error
    except YFInvalidPeriodError as error:
        raise NoSuchRangeError(f"{asked}: {error}") from error
    except YFPricesMissingError as error:
        raise _missing(asked, error.yahoo_reason) from error
    except Exception as error:
        raise TransientError(f"{asked}: the request failed ({type(error).__name__}: {error})") from error
    finally:
        debug.hide_exceptions = hidden


def _missing(asked: str, reason: str | None) -> SourceError:
    """Return the error for an answer without prices, by the reason that Yahoo gave."""
    text = (reason or "").casefold()
    if any(part in text for part in _OUT_OF_RANGE):
        return NoSuchRangeError(f"{asked}: {reason}")
    if any(part in text for part in _NOT_FOUND):
        return UnknownSymbolError(f"{asked}: {reason}")
    return TransientError(f"{asked}: an answer without prices ({reason or 'no reason given'})")
