"""What decides on the forecasts of a night, besides its as-of and the version of the bars, as two hashes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints import __version__
from fints.sessions import calendar_version, get_calendar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fints.settings import NightlySettings
    from pipelines.asof import AsOf

_NO_MATTER = ("tracking", "workers", "alerts", "catch_up")
"""Settings that change nothing of what a night forecasts; of `workers`, the threads do."""

_ROOM = 15  # days, for the holidays between the sessions that are forecast


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a night the same night.

    Parameters
    ----------
    config : str
        Hash of settings, symbols and program. Everything set counts but where runs are logged, who is alerted, what
        becomes of missed nights, and how many processes work at a time.
    calendar : str
        Hash of the installed calendars, and of the sessions to come as they were known: where a closure is announced
        after a night was run, the same night run again is another one.
    """

    config: str = ""
    calendar: str = ""

    @classmethod
    def of(cls, settings: NightlySettings, symbols: Iterable[str], exchanges: Iterable[str], as_of: AsOf) -> Identity:
        """Return the identity of a night.

        Parameters
        ----------
        settings : NightlySettings
        symbols : iterable of str
            That are read.
        exchanges : iterable of str
            Of their bars.
        as_of : AsOf
        """
        decisive = {
            "settings": settings.hash_without(*_NO_MATTER),
            "threads": settings.workers.threads,
            "symbols": sorted(symbols),
            "fints": __version__,
        }
        to_come = {name: _to_come(name, as_of, settings.h) for name in sorted(set(exchanges))}
        return cls(_hash(decisive), _hash({"version": calendar_version(), "to come": to_come}))


def hashes_of(settings: NightlySettings) -> dict[str, str]:
    """Hash each setting that counts, by its name, so that a later run can name those that are others then.

    Values are not written: an address may hold what is nobody's business.
    """
    names = [name for name in type(settings).model_fields if name not in _NO_MATTER]
    every = settings.hash_without(*_NO_MATTER)
    counts = [name for name in names if settings.hash_without(*_NO_MATTER, name) != every]
    found = {name: _hash(settings.model_dump(mode="json", include={name})) for name in counts}
    return found | {"workers.threads": _hash(settings.workers.threads)}


def _to_come(exchange: str, as_of: AsOf, h: int) -> str:
    """Hash the sessions after the as-of, with their hours."""
    calendar = get_calendar(exchange).as_known(as_of.known_at)
    first = as_of.due(exchange)
    last = min(first + pd.Timedelta(days=2 * h + _ROOM), calendar.last_day)
    hours = pd.util.hash_pandas_object(calendar.schedule(first, last))
    return hashlib.sha256(hours.to_numpy().tobytes()).hexdigest()


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
