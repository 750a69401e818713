"""Which cycle a covariate of the calendar belongs to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.plan import SAME_CYCLE

if TYPE_CHECKING:
    from fints.plan import Cycle

YEAR = 365.25
"""Days of a year on average."""


@dataclass(frozen=True, slots=True)
class Family:
    """Covariates of `fints.sessions.FEATURES` that come back after the same time.

    Parameters
    ----------
    noun, adjective : str
        What is said of it: the ``week``, the ``weekly`` cycle.
    days : float
        Its period in calendar days.
    features : tuple of str
    per_session : bool
        Whether it comes back every session, however many days lie between them.
    """

    noun: str
    adjective: str
    days: float
    features: tuple[str, ...]
    per_session: bool = False

    def distance(self, cycle: Cycle, sessions_per_day: float) -> float:
        """Say how far the nearest line of a cycle is from it, in log-period; infinite beyond `SAME_CYCLE`.

        A cycle's fundamental comes before its harmonics, however near those are.

        Parameters
        ----------
        cycle : Cycle
        sessions_per_day : float
            On the exchange; below one where there are weekends.
        """
        sessions = 1.0 if self.per_session else self.days * sessions_per_day
        own = sessions if cycle.clock == "session" else self.days
        apart = {r: abs(math.log(cycle.period / r / own)) for r in (1, *cycle.harmonics)}
        near = [(r > 1) + gap for r, gap in apart.items() if gap < SAME_CYCLE]
        return min(near, default=math.inf)


_BARS = ("bar_place", "bar_sin", "bar_cos", "bar_first", "bar_last", "bar_resumes", "bar_length")
_MONTH = ("month_start", "month_end", "to_month_end", "option_expiry", "expiry_week")
_YEAR = ("month_sin", "month_cos", "before_christmas", "christmas_week", "reconstitution")

FAMILIES: tuple[Family, ...] = (
    Family("day", "daily", 1.0, _BARS, per_session=True),
    Family("week", "weekly", 7.0, ("monday", "tuesday", "thursday", "friday", "weekend")),
    Family("month", "monthly", YEAR / 12, _MONTH),
    Family("quarter", "quarterly", YEAR / 4, ("quarter_end", "triple_witching", "after_witching")),
    Family("year", "yearly", YEAR, _YEAR),
)
"""Every other covariate is about single days, such as holidays, and belongs to no cycle."""


def families_of(cycles: tuple[Cycle, ...], sessions_per_day: float) -> dict[str, Cycle | None]:
    """Find the cycle that each family belongs to, by its noun; None where there is none."""
    found: dict[str, Cycle | None] = {}
    for family in FAMILIES:
        ranked = sorted(cycles, key=lambda cycle: family.distance(cycle, sessions_per_day))
        fits = ranked and math.isfinite(family.distance(ranked[0], sessions_per_day))
        found[family.noun] = ranked[0] if fits else None
    return found


def adjective_of(cycle: Cycle, sessions_per_day: float) -> str | None:
    """Return what people call a cycle: ``weekly`` for one of 7 days; None where they have no word for it."""
    near = [(family.distance(cycle, sessions_per_day), family.adjective) for family in FAMILIES]
    distance, adjective = min(near)
    return adjective if distance < SAME_CYCLE else None
