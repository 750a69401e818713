"""When a night is to be started, and how schedulers are told so."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pipelines.schedule_secrets import FILE
from pipelines.waiting import night_ends, no_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MARGIN = pd.Timedelta(minutes=5)
"""After bars are final, for a source that is a little late."""

_YEAR = pd.Timedelta(days=366)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class Slot:
    """When a night is started.

    Parameters
    ----------
    zone : str
        IANA name, of the exchange that mostly closes last.
    exchange : str
        That one.
    hour, minute : int
        By the clock of the zone.
    days : tuple of int
        0 is Monday.
    before_utc : tuple of int
        Hour and minute in UTC that come before every close of the year, but not before the date of any night has
        begun where its last exchange is: it would be the night before that is waited for. What closes earlier still,
        such as Auckland beside New York, is forecast at once where nothing else closes that day.
    days_utc : tuple of int
        Days of the latter.
    """

    zone: str
    exchange: str
    hour: int
    minute: int
    days: tuple[int, ...]
    before_utc: tuple[int, int]
    days_utc: tuple[int, ...]

    @property
    def clock(self) -> str:
        """As people write it."""
        return f"{self.hour:02d}:{self.minute:02d}"


@dataclass(frozen=True, slots=True)
class Command:
    """What is started.

    Parameters
    ----------
    executable : Path
        Of fints.
    home : Path
        The FINTS_HOME.
    config : Path, optional
    secrets : tuple of str
        Environment variables that it reads and whose content is written down nowhere.
    """

    executable: Path
    home: Path
    config: Path | None = None
    secrets: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """Executable and arguments."""
        chosen = ("--config", str(self.config)) if self.config is not None else ()
        return (str(self.executable), "nightly", *chosen)

    @property
    def shell(self) -> str:
        """For a shell; secrets are read from their file first, and the command is not run where that is missing."""
        run = f"FINTS_HOME={shlex.quote(str(self.home))} {shlex.join(self.arguments)}"
        return f'set -a && . "$HOME/{FILE}" && set +a && {run}' if self.secrets else run


def slot_of(exchanges: Sequence[str], now: pd.Timestamp, settle: pd.Timedelta) -> Slot:
    """Find the time of day at which every night of the coming year can begin.

    Parameters
    ----------
    exchanges : sequence of str
    now : pandas.Timestamp
        UTC.
    settle : pandas.Timedelta

    Raises
    ------
    CalendarError
        If the calendars are over.
    """
    ends = night_ends(exchanges, now - pd.Timedelta(days=1), now + _YEAR, settle)
    if not ends:
        raise no_session(exchanges, now)
    exchange = pd.Series([end.exchange for end in ends]).mode().iloc[0]
    zone = next(end.zone for end in ends if end.exchange == exchange)
    # by the date of the session: what ends past midnight is of the day before
    reach = [_since_midnight(end.until.tz_convert(zone), end.session) + MARGIN for end in ends]
    latest = max(reach)
    moved, clock = divmod(latest, pd.Timedelta(days=1))
    minutes = int(-(-clock // pd.Timedelta(minutes=1)))
    days = {(end.session.day_of_week + int(moved)) % 7 for end in ends}
    early = min(_since_midnight(end.close, end.session) for end in ends) - pd.Timedelta(minutes=10)
    begun = (end.session.tz_localize(end.zone, nonexistent="shift_forward").tz_convert("UTC") for end in ends)
    early = max(early, *(_since_midnight(dawn, end.session) for dawn, end in zip(begun, ends, strict=True)))
    back, clock_utc = divmod(early, pd.Timedelta(days=1))
    first = int(clock_utc // pd.Timedelta(minutes=1))
    return Slot(
        zone=zone,
        exchange=exchange,
        hour=minutes // 60,
        minute=minutes % 60,
        days=tuple(sorted(days)),
        before_utc=(first // 60, first % 60),
        days_utc=tuple(sorted({(end.session.day_of_week + int(back)) % 7 for end in ends})),
    )


def _since_midnight(moment: pd.Timestamp, session: pd.Timestamp) -> pd.Timedelta:
    """Time on the clock on the wall since the midnight that a date begins with."""
    return moment.tz_localize(None) - session
