"""Exchange names: every common name, code and MIC of one market → its one canonical calendar."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

# One line per market: canonical name, then what people, vendors and quote feeds call it.
_ALIASES = """
XNYS  NYSE NASDAQ AMEX ARCA NYSEARCA BATS CBOE IEX INVESTORS_EXCHANGE STOCK DJIA DOW US XNAS XNGS XNMS XNCM XASE ARCX
XNYS  BATY EDGA EDGX IEXG XBOS XPHL XCIS OOTC OTCM NYQ NMS NGM NCM PCX ASE BTS PNK SNP DJI NIM
XLON  LSE LONDON FTSE UK
XTKS  JPX TSE TOKYO XJPX TYO JAPAN
XHKG  HKEX HKG HKSE HONGKONG HSI
XETR  XETRA GER
XFRA  FWB FRA FRANKFURT
XEUR  EUREX
XPAR  PAR PARIS EURONEXT_PARIS
XAMS  AMS AMSTERDAM EURONEXT_AMSTERDAM
XBRU  BRU BRUSSELS
XLIS  LIS LISBON
XMIL  MIL MILAN BORSA_ITALIANA MTAA
XMAD  MCE MADRID BME
XSWX  SIX EBS SWISS
XOSL  OSE OSL OSLO
XSTO  STO STOCKHOLM
XCSE  CPH COPENHAGEN
XHEL  HELSINKI
XTSE  TSX TSXV TOR TORONTO XTSX XTNX
XASX  ASX SYDNEY
XNZE  NZX NZE
XSHG  SSE SHH SHANGHAI XSHE SZSE SHZ SHENZHEN
XTAI  TWSE TAI TAIWAN
XKRX  KRX KSC KOSPI KOE KOREA
XSES  SGX SES SINGAPORE
XBOM  BSE BOMBAY
XNSE  NSE NSI
XTAE  TASE TLV
XIDX  JKT IDX
XKLS  KLS KLSE
XBKK  SET
XBSE  BVB
XLUX  LUXSE
BVMF  BMF B3 SAO
XMEX  BMV MEX
XJSE  JSE JNB
XCBF  CFE CBOE_FUTURES
IEPA  ICE ICEUS NYFE NYB
CMES  CME CBOT COMEX NYMEX GLOBEX
24/7  CRYPTO CCC ALWAYS 247
FX  FOREX CCY CURRENCY
"""

# Where the package's own class is better than, or bears another name than, its mirror of exchange-calendars:
# NYSE knows Saturdays and one-off hours, JPX the holidays before 1997; native HKEX is wrong and never used.
LIBRARY_NAMES: Mapping[str, str] = MappingProxyType({"XNYS": "NYSE", "XTKS": "JPX"})


@lru_cache(maxsize=1)
def known_names() -> Mapping[str, str]:
    """Every accepted name in upper case, with the canonical calendar it means.

    Returns
    -------
    Mapping of str to str
        Aliases and MICs first, then every further name that pandas-market-calendars offers.
    """
    import pandas_market_calendars as pmc

    names = {
        alias: canonical
        for canonical, *aliases in map(str.split, _ALIASES.strip().splitlines())
        for alias in (canonical, *aliases)
    }
    for name in pmc.get_calendar_names():
        first = _first_alias(pmc, name)
        names.setdefault(name.upper(), names.get(first.upper(), first))
    return MappingProxyType(names)


def _first_alias(pmc: object, name: str) -> str:
    """Return the name by which the package lists the class first, so that each class has one calendar."""
    registry = pmc.MarketCalendar._regmeta_class_registry  # type: ignore[attr-defined]  # noqa: SLF001
    aliases: list[str] = registry[name].aliases
    return aliases[0]


def canonical_name(exchange: str) -> str:
    """Return the canonical calendar of an exchange.

    Parameters
    ----------
    exchange : str
        A MIC or a common name, in any case.

    Raises
    ------
    UnknownNameError
        If no calendar has this name.
    """
    names = known_names()
    found = names.get(str(exchange).strip().upper().replace(" ", "_")) or names.get(str(exchange).strip().upper())
    if found is None:
        raise UnknownNameError("exchange", str(exchange), names)
    return found
