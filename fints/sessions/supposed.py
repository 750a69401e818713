"""Calendars as they would be if something more had happened: to see what a forecast would have made of it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fints.sessions.overrides import SUPPOSED
from fints.sessions.table import forget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fints.sessions.overrides import Event


@contextmanager
def supposed(events: Mapping[str, Sequence[Event]]) -> Iterator[None]:
    """Let more exceptional days be in the calendars of this process for a while.

    Every thread of the process sees them, so that nothing else should ask calendars meanwhile.

    Parameters
    ----------
    events : mapping of str to sequence of Event
        By canonical exchange; days that have an entry of that kind already keep theirs.
    """
    before = dict(SUPPOSED)
    SUPPOSED.update({mic: tuple(of_one) for mic, of_one in events.items()})
    kept = forget()
    try:
        yield
    finally:
        SUPPOSED.clear()
        SUPPOSED.update(before)
        forget(kept)
