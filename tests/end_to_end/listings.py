"""Symbols whose past is known, told as Yahoo tells it at any instant: bars in progress, splits, dividends, mistakes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from fints.sessions import get_calendar
from tests.bars.sources.loopback import chart, honest, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.bars.sources.loopback import Answer, Query

FIRST, LAST = pd.Timestamp("2024-06-03"), pd.Timestamp("2025-12-31")
"""Sessions that there are."""

_PRICES: Final = ["open", "high", "low", "close"]
_SETTLED: Final = pd.Timedelta(hours=20)
"""After its close Yahoo's volume of a session is preliminary for so long, for symbols where it is."""

EXCHANGES: Final[Mapping[str, dict[str, str]]] = MappingProxyType(
    {
        "XNYS": {"exchangeName": "NYQ", "exchangeTimezoneName": "America/New_York", "currency": "USD"},
        "XLON": {"exchangeName": "LSE", "exchangeTimezoneName": "Europe/London", "currency": "GBp"},
        "XTKS": {"exchangeName": "JPX", "exchangeTimezoneName": "Asia/Tokyo", "currency": "JPY"},
        "XHKG": {"exchangeName": "HKG", "exchangeTimezoneName": "Asia/Hong_Kong", "currency": "HKD"},
        "24/7": {
            "exchangeName": "CCC",
            "exchangeTimezoneName": "UTC",
            "currency": "USD",
            "instrumentType": "CRYPTOCURRENCY",
        },
    }
)


@dataclass(frozen=True, slots=True)
class Listing:
    """A symbol and what happens to it.

    Parameters
    ----------
    symbol, mic : str
    split : tuple of str and float, optional
        First session on the new basis, and new shares for an old one.
    dividend : tuple of str and float, optional
        First session without it, and the amount on the basis before any split.
    until : str, optional
        Last session that it trades under this symbol.
    gone : str, optional
        From this date Yahoo does not know the symbol.
    bars_of : str, optional
        The symbol that its bars are drawn for: that of the company, which a rename does not change.
    known_from : str, optional
        From this date Yahoo knows the symbol.
    late : tuple of two str, optional
        A session whose bar Yahoo has from a later date only.
    glitch : str, optional
        A session whose prices are a hundred times too high until the next day.
    preliminary : bool
        Whether volumes are too low until the day after.
    """

    symbol: str
    mic: str
    split: tuple[str, float] | None = None
    dividend: tuple[str, float] | None = None
    until: str | None = None
    gone: str | None = None
    bars_of: str | None = None
    known_from: str | None = None
    late: tuple[str, str] | None = None
    glitch: str | None = None
    preliminary: bool = False

    @property
    def zone(self) -> str:
        """Of its exchange."""
        return EXCHANGES[self.mic]["exchangeTimezoneName"]

    def known(self, at: pd.Timestamp) -> bool:
        """Whether Yahoo knows the symbol at an instant."""
        came = self.known_from is None or at >= self._midnight(self.known_from)
        return came and (self.gone is None or at < self._midnight(self.gone))

    def traded(self) -> pd.DataFrame:
        """Return its bars on the newest basis: ``session, open_at, close_at``, prices and volume."""
        bars = _drawn(self.bars_of or self.symbol, self.mic)
        return bars if self.until is None else bars[bars["session"] <= pd.Timestamp(self.until)].reset_index(drop=True)

    def told(self, at: pd.Timestamp) -> pd.DataFrame:
        """Return what Yahoo says of it at an instant: ``session, stamp``, prices, ``adjclose, volume``."""
        bars = self.traded()
        bars = bars[bars["open_at"] <= at].copy()
        if self.late is not None and at < self._midnight(self.late[1]):
            bars = bars[bars["session"] != pd.Timestamp(self.late[0])]
        if self.preliminary:
            fresh = bars["close_at"] + _SETTLED > at
            bars.loc[fresh, "volume"] = (0.97 * bars.loc[fresh, "volume"]).round()
        under_way = bars["close_at"] > at
        bars.loc[under_way, "volume"] = (0.4 * bars.loc[under_way, "volume"]).round()
        bars.loc[under_way, "close"] = bars.loc[under_way, "low"]
        self._undo_the_split(bars, at)
        bars["adjclose"] = bars["close"]
        self._take_out_the_dividend(bars, at)
        if self.glitch is not None and at < self._midnight(self.glitch) + pd.Timedelta(days=1):
            bars.loc[bars["session"] == pd.Timestamp(self.glitch), [*_PRICES, "adjclose"]] *= 100
        columns = [*_PRICES, "adjclose"]
        bars[columns] = bars[columns].round(4)
        return bars.rename(columns={"open_at": "stamp"}).drop(columns="close_at").reset_index(drop=True)

    def answer(self, at: pd.Timestamp) -> dict[str, Any]:
        """Return Yahoo's chart of all of it at an instant."""
        if not self.known(at):
            return refusal("Not Found", "No data found, symbol may be delisted")
        events: dict[str, Any] = {}
        if self.dividend is not None and at >= self._midnight(self.dividend[0]):
            events["dividends"] = {self._opens(self.dividend[0]): self._paid(at)}
        if self.split is not None and at >= self._midnight(self.split[0]):
            events["splits"] = {self._opens(self.split[0]): (self.split[1], 1.0)}
        return chart(self.symbol, self.told(at).drop(columns="session"), **events, **EXCHANGES[self.mic])

    def _take_out_the_dividend(self, bars: pd.DataFrame, at: pd.Timestamp) -> None:
        if self.dividend is None or at < self._midnight(self.dividend[0]):
            return
        before = bars["session"] < pd.Timestamp(self.dividend[0])
        last = float(bars.loc[before, "close"].iloc[-1])
        bars.loc[before, "adjclose"] *= 1 - self._paid(at) / last

    def _paid(self, at: pd.Timestamp) -> float:
        """Return the dividend on the basis that prices are told on."""
        if self.dividend is None:
            return 0.0
        divided = self.split is not None and at >= self._midnight(self.split[0])
        return self.dividend[1] / self.split[1] if self.split is not None and divided else self.dividend[1]

    def _undo_the_split(self, bars: pd.DataFrame, at: pd.Timestamp) -> None:
        """Put bars on the basis of before the split, as long as that lies ahead: they are drawn on the newest."""
        if self.split is None or at >= self._midnight(self.split[0]):
            return
        bars[_PRICES] *= self.split[1]
        bars["volume"] = (bars["volume"] / self.split[1]).round()

    def _midnight(self, date: str) -> pd.Timestamp:
        return pd.Timestamp(date, tz=self.zone)

    def _opens(self, session: str) -> str:
        bars = self.traded()
        opens = bars.loc[bars["session"] == pd.Timestamp(session), "open_at"].iloc[0]
        return f"{opens.tz_convert(self.zone):%Y-%m-%d %H:%M}"


@dataclass
class Vendor:
    """What answers for the listings: the clock, and what goes wrong on the way.

    Attributes
    ----------
    listings : tuple of Listing
    now : pandas.Timestamp
        UTC.
    faults : dict of str to str
        By symbol, the fault that it is answered with as long as it stands here; ``"*"`` is all.
    """

    listings: tuple[Listing, ...]
    now: pd.Timestamp
    faults: dict[str, str] = field(default_factory=dict)

    def answers(self) -> dict[str, list[Answer]]:
        """Return the script of a chart server that follows the clock."""
        return {listing.symbol: [self._replying(listing)] for listing in self.listings}

    def _replying(self, listing: Listing) -> Answer:
        def reply(query: Query) -> Answer:
            fault = self.faults.get(listing.symbol, self.faults.get("*"))
            if fault is not None:
                return fault
            answer = listing.answer(self.now)
            return answer if answer["chart"]["error"] else honest(answer)(query)

        return reply


@cache
def _drawn(name: str, mic: str) -> pd.DataFrame:
    schedule = get_calendar(mic).schedule(FIRST, LAST)
    n, rng = len(schedule), np.random.default_rng(zlib.crc32(name.encode()))
    close = 100 * np.exp(np.cumsum(0.012 * rng.standard_normal(n)))
    opened = close * np.exp(0.004 * rng.standard_normal(n))
    spread = np.exp(0.006 * np.abs(rng.standard_normal((2, n))))
    weekday = np.asarray(schedule.index.day_of_week, float)
    volume = np.exp(14 + 0.3 * np.sin(2 * np.pi * weekday / 5) + 0.2 * rng.standard_normal(n))
    return pd.DataFrame(
        {
            "session": schedule.index.to_numpy(),
            "open_at": pd.DatetimeIndex(schedule["open"]).tz_convert("UTC"),
            "close_at": pd.DatetimeIndex(schedule["close"]).tz_convert("UTC"),
            "open": opened,
            "high": np.maximum(opened, close) * spread[0],
            "low": np.minimum(opened, close) / spread[1],
            "close": close,
            "volume": volume.round(),
        }
    )
