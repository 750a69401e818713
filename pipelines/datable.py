"""Symbols of exchanges whose calendar is over: they fail, and the others go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.errors import CalendarError
from fints.sessions import get_calendar

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from fints.bars.store import BarStore


def undatable(store: BarStore, symbols: Iterable[str], interval: str, now: pd.Timestamp) -> dict[str, str]:
    """Say of which symbols nothing can be said now, and why: the calendar of their exchange does not reach so far.

    Some exchanges publish their holidays year by year, and a library of calendars that is not upgraded ends with them.

    Parameters
    ----------
    store : BarStore
    symbols : iterable of str
    interval : str
    now : pandas.Timestamp
    """
    newest = store.last_bars(interval, symbols)
    reasons = {}
    for exchange, rows in newest.groupby("exchange"):
        try:
            get_calendar(str(exchange)).last_closed_session(now)
        except CalendarError as error:
            reasons.update(dict.fromkeys(map(str, rows["symbol"].unique()), str(error)))
    return reasons
