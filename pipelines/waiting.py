"""Waiting for the close: until when, why, and asleep in steps so short that no clock is trusted for long."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.sessions import get_calendar
from pipelines import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STEP = 20.0
"""Seconds asleep at a time: a machine that was suspended, or a clock that was set, is seen after as many."""

_AROUND = pd.Timedelta(days=2)
_AHEAD = pd.Timedelta(days=30)


@dataclass(frozen=True, slots=True)
class NightEnd:
    """When the night of a date can begin: after the last close of its sessions.

    Parameters
    ----------
    session : pandas.Timestamp
        The date.
    exchange : str
        That closes last.
    close : pandas.Timestamp
        UTC.
    until : pandas.Timestamp
        UTC: when bars are final.
    early : bool
        Whether it closes before its usual time.
    """

    session: pd.Timestamp
    exchange: str
    close: pd.Timestamp
    until: pd.Timestamp
    early: bool

    @property
    def zone(self) -> str:
        """Of the exchange."""
        return get_calendar(self.exchange).timezone

    @property
    def when(self) -> str:
        """Until when, local and UTC."""
        return f"{self.until.tz_convert(self.zone):%a %Y-%m-%d %H:%M %Z} ({self.until:%Y-%m-%d %H:%M} UTC)"

    @property
    def why(self) -> str:
        """In a sentence."""
        closes = (
            f"{self.exchange} closes {'early, ' if self.early else ''}at {self.close.tz_convert(self.zone):%H:%M %Z}"
        )
        delay = (self.until - self.close) / pd.Timedelta(minutes=1)
        return f"{closes} on {self.session:%Y-%m-%d}, and bars are final {delay:g} min later"


def night_ends(
    exchanges: Iterable[str], first: pd.Timestamp, last: pd.Timestamp, settle: pd.Timedelta
) -> list[NightEnd]:
    """Return the end of every date on which one of some exchanges has a session, oldest first.

    Parameters
    ----------
    exchanges : iterable of str
    first, last : pandas.Timestamp
        UTC; the span of dates.
    settle : pandas.Timedelta
        After a close, until bars are final.
    """
    found: dict[pd.Timestamp, NightEnd] = {}
    for exchange in sorted(set(exchanges)):
        calendar = get_calendar(exchange)
        until = min(last.tz_localize(None).normalize(), calendar.last_day)
        hours = calendar.schedule(first.tz_localize(None).normalize(), until)
        lines = zip(pd.DatetimeIndex(hours.index), pd.DatetimeIndex(hours["close"]), hours["early_close"], strict=True)
        for session, close, early in lines:
            if session not in found or close > found[session].close:
                found[session] = NightEnd(session, exchange, close, close + settle, bool(early))
    return [found[session] for session in sorted(found)]


def tonight(exchanges: Iterable[str], now: pd.Timestamp, settle: pd.Timedelta) -> NightEnd | None:
    """Return the night of today, if it is still to come; None where there is nothing to wait for.

    Today is the date of the exchange that closes last on it. Once its sessions are over, or where there are none,
    nothing is waited for: what is new is there, and what was missed can be made up for.

    Parameters
    ----------
    exchanges : iterable of str
    now : pandas.Timestamp
        UTC.
    settle : pandas.Timedelta
    """
    ends = night_ends(exchanges, now - _AROUND, now + _AROUND, settle)
    today = [end for end in ends if now.tz_convert(end.zone).tz_localize(None).normalize() == end.session]
    return today[0] if today and today[0].until > now else None


def following(exchanges: Iterable[str], now: pd.Timestamp, settle: pd.Timedelta) -> NightEnd:
    """Return the next night that is still to come."""
    ends = night_ends(exchanges, now - _AROUND, now + _AHEAD, settle)
    return next(end for end in ends if end.until > now)


def wait_until(
    until: pd.Timestamp,
    now: Callable[[], pd.Timestamp] = clock.now,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Sleep until an instant by the clock on the wall.

    Each step is short and the clock is read after it: after a suspension, or when the clock is set, the wait ends at
    most `STEP` seconds late by the new time. A signal that raises ends it at once.
    """
    while (left := (until - now()).total_seconds()) > 0:
        sleep(min(left, STEP))
