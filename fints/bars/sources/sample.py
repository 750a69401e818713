"""The embedded sample: real daily bars of two indices 1999 to 2018, offline, from the package ``arch``.

``^GSPC`` (S&P 500) and ``^IXIC`` (NASDAQ Composite) have prices and volume; ``^VIX`` and ``WTI`` have a close only and
are delivered on request. The volume of ^IXIC is 0 on 2015-05-12 and 2018-01-09, which the quality checks report.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.sources.base import BarRequest, Delivery, Origin, clip_sessions, daily_bounds
from fints.errors import NoSuchRangeError, UnknownNameError
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# the files are part of a package: "fetched" is the instant from which all of them could be known, not the import's
_CUT: Final = pd.Timestamp("2019-01-04", tz="UTC")
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


@dataclass(frozen=True, slots=True)
class _Series:
    dataset: str
    close: str | None
    doc: str


SAMPLE: Final[Mapping[str, _Series]] = MappingProxyType(
    {
        "^GSPC": _Series("sp500", None, "S&P 500, daily prices and volume"),
        "^IXIC": _Series("nasdaq", None, "NASDAQ Composite, daily prices and volume"),
        "^VIX": _Series("vix", "vix", "CBOE volatility index, close only"),
        "WTI": _Series("wti", "DCOILWTICO", "West Texas Intermediate spot price, close only"),
    }
)
DEFAULT_SYMBOLS: Final = ("^GSPC", "^IXIC")


class SampleSource:
    """Bars of the embedded sample."""

    name = "sample"
    live = False

    def symbols(self) -> list[str]:
        """Return every symbol of the sample, close-only ones included."""
        return list(SAMPLE)

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the daily bars of one sample symbol.

        Raises
        ------
        UnknownNameError
            The sample has no such symbol.
        NoSuchRangeError
            Another interval than ``1d`` was asked for.
        """
        if request.symbol not in SAMPLE:
            raise UnknownNameError("symbol", request.symbol, SAMPLE)
        if request.interval != "1d":
            raise NoSuchRangeError(
                f"the embedded sample has daily bars only; {request.symbol!r} was asked at {request.interval!r}. "
                "Ask for interval '1d', or use the source 'files', 'synthetic' or 'yahoo'"
            )
        return Delivery(clip_sessions(_load(request.symbol), request))


def sample_bars(symbols: Iterable[str] | None = None) -> pd.DataFrame:
    """Return real daily bars, offline.

    Parameters
    ----------
    symbols : iterable of str, optional
        Of ``^GSPC``, ``^IXIC``, ``^VIX``, ``WTI``; by default the first two, 5,031 sessions each
        (1999-01-04 to 2018-12-31).

    Returns
    -------
    pandas.DataFrame
        Bars frame (:mod:`fints.bars.schema`), sorted by symbol and session.

    Raises
    ------
    UnknownNameError
        A symbol is not in the sample.

    Examples
    --------
    >>> import fints
    >>> fints.sample_bars().groupby("symbol").size().to_dict()
    {'^GSPC': 5031, '^IXIC': 5031}
    """
    source = SampleSource()
    wanted = DEFAULT_SYMBOLS if symbols is None else sorted(set(symbols))
    return pd.concat([source.fetch(BarRequest(symbol)).bars for symbol in wanted], ignore_index=True)


@cache
def _load(symbol: str) -> pd.DataFrame:
    """Read one series; callers get a filtered copy, so the cached frame is never changed."""
    series = SAMPLE[symbol]
    raw = _read(series.dataset)
    if series.close is not None:
        raw = raw[[series.close]].rename(columns={series.close: "Close"}).dropna()
        raw = raw.assign(Open=raw["Close"], High=raw["Close"], Low=raw["Close"])
        raw["Volume"] = pd.NA
        raw["Adj Close"] = raw["Close"]
    calendar = get_calendar("XNYS")
    rows = raw.rename(columns=_COLUMNS)[list(_COLUMNS.values())].reset_index(drop=True)
    bounds = daily_bounds(pd.DatetimeIndex(raw.index), calendar)
    origin = Origin(symbol, "1d", calendar.mic, "USD", "sample", _CUT)
    return origin.stamp(pd.concat([bounds, rows], axis=1))


def _read(dataset: str) -> pd.DataFrame:
    """Read a dataset of `arch`: its file where it has always been, since loading the package takes a second."""
    from importlib import import_module
    from importlib.util import find_spec

    package = find_spec("arch")
    for folder in (package and package.submodule_search_locations) or ():
        file = Path(folder) / "data" / dataset / f"{dataset}.csv.gz"
        if file.exists():
            rows: pd.DataFrame = pd.read_csv(file, parse_dates=["Date"], index_col="Date")
            for name in rows:
                rows[name] = pd.to_numeric(rows[name], errors="coerce")
            return rows
    loaded: pd.DataFrame = import_module(f"arch.data.{dataset}").load()
    return loaded
