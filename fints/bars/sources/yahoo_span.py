"""Which span Yahoo is asked for: its limits of look-back, its exclusive end, and what of a request they cut off."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.errors import NoSuchRangeError
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from fints.bars.sources.base import BarRequest

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
"""How far back Yahoo serves each interval; None is without limit."""

_DAY: Final = pd.Timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """What is asked for.

    Attributes
    ----------
    start, end : pandas.Timestamp or None
        First and last session, both inclusive; a start of None asks for all there is.
    zone : str or None
        Of the exchange, where it is known before the answer.
    cut : pandas.Timestamp or None
        The start that was wanted, where it lies beyond the look-back.
    """

    start: pd.Timestamp | None
    end: pd.Timestamp | None
    zone: str | None
    cut: pd.Timestamp | None = None

    @classmethod
    def of(cls, request: BarRequest, exchange: str | None, now: pd.Timestamp) -> Span:
        """Cut a request to what Yahoo serves.

        Raises
        ------
        NoSuchRangeError
            It serves no such interval, or the whole request lies before what it serves.
        """
        if request.interval not in LOOK_BACK:
            raise NoSuchRangeError(
                f"Yahoo has no {request.interval!r} bars; choose from {', '.join(LOOK_BACK)} for {request.symbol!r}"
            )
        limit = LOOK_BACK[request.interval]
        known = exchange or request.exchange
        zone = None if known is None else get_calendar(known).timezone
        start, end = request.start, request.end
        if limit is None or (start is None and end is None):
            return cls(start, end, zone)
        earliest = now.tz_convert("UTC").tz_localize(None).normalize() - limit
        if end is not None and end < earliest:
            raise NoSuchRangeError(
                f"Yahoo serves {request.interval} bars of the last {limit.days} days only, from {earliest:%Y-%m-%d}; "
                f"those of {request.symbol!r} up to {end:%Y-%m-%d} have to come from another source. Nothing was asked"
            )
        if start is None or start >= earliest:
            return cls(start, end, zone)
        return cls(earliest, end, zone, cut=start)

    def instants(self) -> dict[str, datetime | str]:
        """Return the span in yfinance's terms: instants with a zone, the end exclusive.

        Where the zone of the exchange is not known yet the span is a day wider on either side; the answer is clipped.
        """
        margin = pd.Timedelta(0) if self.zone else _DAY
        zone = self.zone or "UTC"
        asked: dict[str, datetime | str] = {"period": "max"}
        if self.start is not None:
            asked = {"start": _midnight(self.start - margin, zone)}
        if self.end is not None:
            asked["end"] = _midnight(self.end + _DAY + margin, zone)
        return asked

    def notes(self, exchange: str, interval: str) -> tuple[str, ...]:
        """Say what was cut off the request."""
        if self.cut is None or self.start is None:
            return ()
        lost = len(get_calendar(exchange).sessions(self.cut, self.start - _DAY))
        note = (
            f"Yahoo serves {interval} bars back to {self.start:%Y-%m-%d} only; the {lost} sessions from "
            f"{self.cut:%Y-%m-%d} on were not asked for, and what is stored of them stays"
        )
        return (note,)


def _midnight(session: pd.Timestamp, zone: str) -> datetime:
    return session.normalize().tz_localize(zone, ambiguous=True, nonexistent="shift_forward").to_pydatetime()
