"""When the monthly options of an exchange expire."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.sessions.rows import Rows

_THURSDAY, _FRIDAY = 3, 4
_NEVER = -(10**7)


@dataclass(frozen=True, slots=True)
class ExpiryRule:
    """The session of a month on which options expire.

    Attributes
    ----------
    nth : int
        Which one: 3 is the third of the weekday; with no weekday, −2 is the month's last session but one.
    weekday : int or None
        Monday 0 … Sunday 6; where that day is closed, the session before it. None counts sessions.
    """

    nth: int
    weekday: int | None


THIRD_FRIDAY = ExpiryRule(3, _FRIDAY)
EXPIRY_RULES: Mapping[str, ExpiryRule | None] = MappingProxyType(
    {
        "XTKS": ExpiryRule(2, _FRIDAY),
        "XKRX": ExpiryRule(2, _THURSDAY),
        "XHKG": ExpiryRule(-2, None),
        "XASX": ExpiryRule(3, _THURSDAY),
        "24/7": None,
        "24/5": None,
        "FX": None,
    }
)


def expiry_sessions(rows: Rows) -> NDArray[np.int64]:
    """Civil day of the expiry in each row's month; long ago where the exchange has none.

    The rule is the exchange's in `EXPIRY_RULES`, elsewhere the third Friday, or the session before it.
    """
    rule = EXPIRY_RULES.get(rows.mic, THIRD_FRIDAY)
    if rule is None:
        return np.full(len(rows.day), _NEVER)
    sessions = rows.table.day
    if rule.weekday is None:
        return np.asarray(sessions[np.searchsorted(sessions, rows.next_month) + rule.nth])
    first = rows.first_of_month
    target = first + (rule.weekday - (first + 3)) % 7 + 7 * (rule.nth - 1)
    return np.asarray(sessions[np.searchsorted(sessions, target, side="right") - 1])
