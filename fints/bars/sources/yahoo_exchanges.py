"""On which exchange Yahoo's symbols trade: its codes, and the calendars that answer for them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from fints.errors import ConfigError, TransientError
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.bars.sources.base import BarRequest
    from fints.sessions.calendars import ExchangeCalendar

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
"""Yahoo's exchange codes and our calendars."""

_FAR: Final = pd.Timedelta(hours=6)
"""A daily bar is stamped at its open, which no zone this near moves to another date."""


def place(meta: Mapping[str, Any], configured: str | None, request: BarRequest) -> ExchangeCalendar:
    """Return the calendar of a symbol: as configured, as Yahoo's code says, else as the ingest says.

    Parameters
    ----------
    meta : mapping
        What Yahoo says of the symbol.
    configured : str or None
        The option ``exchange`` of the source.
    request : BarRequest
        Its ``exchange`` is the last resort.

    Raises
    ------
    ConfigError
        None of them names an exchange.
    """
    code, zone = str(meta.get("exchangeName", "")), str(meta.get("exchangeTimezoneName", ""))
    named = configured or EXCHANGES.get(code) or request.exchange
    if named is None and zone == "America/New_York":
        named = "XNYS"
    if named is None:
        raise ConfigError(
            f"Yahoo places {request.symbol!r} on the exchange {code!r} ({zone}), which has no calendar here; "
            "set the option `exchange` of the source"
        )
    return get_calendar(named)


def check_zone(stamps: pd.DatetimeIndex, calendar: ExchangeCalendar, asked: str) -> None:
    """Refuse dates told in a zone so far from the exchange's that they may be those of another day.

    yfinance turns the instants of daily bars into dates of the zone that Yahoo names; a wrong zone would move every
    session by one without any other sign.

    Raises
    ------
    TransientError
        The zone is six hours or more from the exchange's.
    """
    there = stamps.tz_convert(calendar.timezone).tz_localize(None)
    apart = np.abs((stamps.tz_localize(None) - there).to_numpy())
    if (apart >= _FAR.to_timedelta64()).any():
        raise TransientError(
            f"{asked}: the answer is told in the time zone {stamps.tz}, but {calendar.mic} lies in "
            f"{calendar.timezone}; nothing was kept. If the exchange is wrong, set the option `exchange` of the source"
        )
