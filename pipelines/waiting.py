"""Waiting for the close: until when, why, and asleep in steps so short that no clock is trusted for long."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.errors import CalendarError
from fints.sessions import get_calendar
from pipelines import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STEP = 20.0
"""Seconds asleep at a time: a machine that was suspended, or a clock that was set, is seen after as many."""

_AROUND = pd.Timedelta(days=2)
_AHEAD = pd.Timedelta(days=30)
_SET_BACK = pd.Timedelta(minutes=1)  # less is a clock that is being kept right


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
        begin = first.tz_localize(None).normalize()
        if begin > calendar.last_day:  # known a year ahead, perhaps, and not brought up to date
            continue
        hours = calendar.schedule(begin, min(last.tz_localize(None).normalize(), calendar.last_day))
        lines = zip(pd.DatetimeIndex(hours.index), pd.DatetimeIndex(hours["close"]), hours["early_close"], strict=True)
        for session, close, early in lines:
            if session not in found or close > found[session].close:
                found[session] = NightEnd(session, exchange, close, close + settle, bool(early))
    return [found[session] for session in sorted(found)]


def tonight(exchanges: Iterable[str], now: pd.Timestamp, settle: pd.Timedelta) -> NightEnd | None:
    """Return the night of today, if it is still to come; None where there is nothing to wait for.

    Today is the date of the exchange that closes last on it. Once its sessions are over, or where there are none,
    nothing is waited for: what is new is there, and what was missed can be made up for. A night of a day before whose
    sessions have closed, and whose bars are not final yet, comes first: around the clock a day closes at midnight.

    Parameters
    ----------
    exchanges : iterable of str
    now : pandas.Timestamp
        UTC.
    settle : pandas.Timedelta
    """
    ends = night_ends(exchanges, now - _AROUND, now + _AROUND, settle)
    today = next((end for end in ends if now.tz_convert(end.zone).tz_localize(None).normalize() == end.session), None)
    closed = next((end for end in ends if end.close <= now < end.until), None)
    coming = today if today is not None and today.until > now else None
    # with a long delay, what closes today meanwhile is waited for: a start each day is to meet each night once
    if closed is not None and (coming is None or closed.until < coming.close):
        return closed
    return coming


def following(exchanges: Iterable[str], now: pd.Timestamp, settle: pd.Timedelta) -> NightEnd:
    """Return the next night that is still to come.

    Raises
    ------
    CalendarError
        If the calendars end before it.
    """
    names = sorted(set(exchanges))
    found = next((end for end in night_ends(names, now - _AROUND, now + _AHEAD, settle) if end.until > now), None)
    if found is None:
        raise no_session(names, now)
    return found


def no_session(exchanges: Iterable[str], now: pd.Timestamp) -> CalendarError:
    """Say that all calendars are over."""
    said = ", ".join(f"{name} to {get_calendar(name).last_day:%Y-%m-%d}" for name in sorted(set(exchanges)))
    return CalendarError(
        f"no session after {now:%Y-%m-%d %H:%M} UTC is known: calendars reach only so far ({said}); upgrade them: "
        "pip install -U pandas-market-calendars exchange-calendars"
    )


def wait_until(
    until: pd.Timestamp,
    now: Callable[[], pd.Timestamp] = clock.now,
    sleep: Callable[[float], None] = time.sleep,
    anew: Callable[[], pd.Timestamp | None] | None = None,
) -> None:
    """Sleep until an instant by the clock on the wall.

    Each step is short and the clock is read after it: after a suspension, or when the clock is set, the wait ends at
    most `STEP` seconds late by the new time. A signal that raises ends it at once.

    Parameters
    ----------
    until : pandas.Timestamp
    now, sleep : callable
        The clock, and what lets it pass.
    anew : callable, optional
        Asked where the clock was set back: the instant to wait for by the new time, None for none any more. One that
        had been a day ahead would be waited for past the night that is to come.
    """
    waited: pd.Timestamp | None = until
    before = now()
    while waited is not None and (left := (waited - before).total_seconds()) > 0:
        sleep(min(left, STEP))
        current = now()
        if current < before - _SET_BACK and anew is not None:
            waited = anew()
        before = current
