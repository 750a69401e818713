"""Dated exceptions to the calendar packages: what happened, and since when the public knew."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import yaml

from fints.errors import CalendarError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Kind = Literal["closure", "session", "early_close", "late_open"]
Unlisted = Literal["surprise", "scheduled"]
_KEYS = {"session", "sessions", "kind", "announced", "reason", "time"}


@dataclass(frozen=True, slots=True)
class Event:
    """One exceptional day of an exchange.

    Attributes
    ----------
    day, announced : int
        Civil days since 1970-01-01: the day itself, and the day from which it counts as known.
    kind : {"closure", "session", "early_close", "late_open"}
        What is exceptional about it.
    reason : str
        Why, for people.
    time : int or None
        Local time of a special open or close in minutes after midnight; None leaves the package's.
    """

    day: int
    announced: int
    kind: Kind
    reason: str
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the file says of one exchange.

    Attributes
    ----------
    events : tuple of Event
        The dated exceptions.
    unlisted : {"surprise", "scheduled"}
        How to take closures that the package lists one by one and that are not in `events`.
    scheduled : frozenset of int
        Days that the package lists one by one although they were known long before.
    first, last : int or None
        Civil days of the range we answer for, where the file sets one.
    until_listed : bool
        Whether the range ends with the last year whose closures the package lists.
    """

    events: tuple[Event, ...] = ()
    unlisted: Unlisted = "scheduled"
    scheduled: frozenset[int] = frozenset()
    first: int | None = None
    last: int | None = None
    until_listed: bool = False


def _text() -> str:
    return resources.files("fints.sessions").joinpath("overrides.yaml").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def overrides_hash() -> str:
    """First eight hex digits of the file's SHA-256: part of the calendar's version."""
    return hashlib.sha256(_text().encode()).hexdigest()[:8]


@lru_cache(maxsize=1)
def _all_overrides() -> Mapping[str, Overrides]:
    return MappingProxyType(parse_overrides(_text()))


SUPPOSED: dict[str, tuple[Event, ...]] = {}
"""Events besides those of the file, for a while; see `fints.sessions.supposed`."""


def overrides(mic: str) -> Overrides:
    """Return the overrides of one canonical exchange; empty where the file has none."""
    said = _all_overrides().get(mic, Overrides())
    taken = {(event.day, event.kind) for event in said.events}
    more = [event for event in SUPPOSED.get(mic, ()) if (event.day, event.kind) not in taken]
    return replace(said, events=_sorted(mic, [*said.events, *more])) if more else said


def parse_overrides(text: str) -> dict[str, Overrides]:
    """Read the file's text.

    Parameters
    ----------
    text : str
        YAML as in ``overrides.yaml``.

    Returns
    -------
    dict of str to Overrides
        By canonical exchange.

    Raises
    ------
    CalendarError
        If an entry is malformed; the message names the exchange and the entry.
    """
    return {mic: _parse_exchange(mic, body) for mic, body in (yaml.safe_load(text) or {}).items()}


def _parse_exchange(mic: str, body: Mapping[str, Any]) -> Overrides:
    unknown = set(body) - {"unlisted", "scheduled", "range", "entries"}
    if unknown:
        raise CalendarError(f"overrides of {mic}: unknown key {sorted(unknown)[0]!r}; see the head of overrides.yaml")
    unlisted = body.get("unlisted", "scheduled")
    if unlisted not in get_args(Unlisted):
        raise CalendarError(f"overrides of {mic}: unlisted is {unlisted!r}; choose from {get_args(Unlisted)}")
    events = [event for entry in body.get("entries", ()) for event in _parse_entry(mic, entry)]
    low, high = body.get("range", (None, None))
    listed = high == "listed"
    first, last = _day(mic, low), None if listed else _day(mic, high)
    scheduled = frozenset(day for day in (_day(mic, value) for value in body.get("scheduled", ())) if day is not None)
    return Overrides(_sorted(mic, events), unlisted, scheduled, first, last, listed)


def _sorted(mic: str, events: Iterable[Event]) -> tuple[Event, ...]:
    ordered = tuple(sorted(events, key=lambda event: (event.day, event.kind)))
    for a, b in pairwise(ordered):
        if (a.day, a.kind) == (b.day, b.kind):
            raise CalendarError(f"overrides of {mic}: {np.datetime64(a.day, 'D')} has two entries {a.kind!r}; keep one")
    return ordered


def _parse_entry(mic: str, entry: Mapping[str, Any]) -> Iterator[Event]:
    unknown = set(entry) - _KEYS
    if unknown or entry.get("kind") not in get_args(Kind) or not entry.get("reason"):
        raise CalendarError(
            f"overrides of {mic}: cannot read {dict(entry)}; it needs session(s), kind, announced, reason"
        )
    said = entry.get("announced")
    for value in entry.get("sessions", [entry.get("session")]):
        day = _day(mic, value)
        announced = day if said == "same day" else _day(mic, said)
        if day is None or announced is None or announced > day:
            raise CalendarError(f"overrides of {mic}: {value} needs a date and an announced date not after it")
        yield Event(day, announced, entry["kind"], str(entry["reason"]), _minutes(mic, entry.get("time")))


def _day(mic: str, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, date):
        raise CalendarError(f"overrides of {mic}: {value!r} is not a date; write it as 2018-12-05")
    return int(np.datetime64(value, "D").astype(np.int64))


def _minutes(mic: str, value: object) -> int | None:
    if value is None:
        return None
    hours, _, minutes = str(value).partition(":")
    if not (hours.isdigit() and minutes.isdigit()):
        raise CalendarError(f"overrides of {mic}: time {value!r} is not a time; write it in quotes as '13:00'")
    return 60 * int(hours) + int(minutes)
