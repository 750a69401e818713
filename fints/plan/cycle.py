"""One cycle of the market, and the lines of its spectrum."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

from fints.errors import PlanError

Clock = Literal["session", "calendar"]
Origin = Literal["detected", "prior", "tuned"]

CLOCKS: tuple[str, ...] = get_args(Clock)
ORIGINS: tuple[str, ...] = get_args(Origin)

NYQUIST_PERIOD = 2.0
"""Shortest period that daily bars resolve, in units of either clock. Intraday plans may go below it."""


@dataclass(frozen=True, slots=True, order=True)
class Cycle:
    """One market cycle.

    Parameters
    ----------
    period : float
        In units of `clock`: sessions, or calendar days.
    clock : {"session", "calendar"}
        The clock on which it is periodic.
    harmonics : tuple of int
        Multiples of the fundamental frequency that the data show, the fundamental being 1.
    width : float, optional
        Width σ of the cycle's kernel in clock units, for encodings that spread a cycle over harmonics.
    strength : float
        How much of the planes it deserves relative to the others; any positive unit.
    p_value : float, optional
        Of its detection, search-wide; None for a prior.
    origin : {"detected", "prior", "tuned"}
    reason : str
        Why it is in the plan, in words.

    Raises
    ------
    PlanError
        If the period, a harmonic, the width or the strength is not a positive finite number, or a name is unknown.
    """

    period: float
    clock: Clock = "session"
    harmonics: tuple[int, ...] = (1,)
    width: float | None = None
    strength: float = 1.0
    p_value: float | None = None
    origin: Origin = "prior"
    reason: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.period) and self.period > 0):
            raise PlanError(f"a cycle needs a positive period; got {self.period!r} {self.clock} units")
        if self.clock not in CLOCKS:
            raise PlanError(f"a cycle lives on one of the clocks {CLOCKS}; got {self.clock!r}")
        if self.origin not in ORIGINS:
            raise PlanError(f"a cycle's origin is one of {ORIGINS}; got {self.origin!r}")
        if not self.harmonics or any(r < 1 or r != int(r) for r in self.harmonics):
            raise PlanError(f"harmonics are whole multiples ≥ 1 of the fundamental; got {self.harmonics!r}")
        if not (math.isfinite(self.strength) and self.strength > 0):
            raise PlanError(f"a cycle's strength is a positive number; got {self.strength!r}")
        if self.width is not None and not 0 < self.width < self.period:
            raise PlanError(f"a kernel of width {self.width} does not fit a cycle of {self.period} {self.clock} units")

    def __str__(self) -> str:
        return period_text(self.period, self.clock)


def period_text(period: float, clock: str) -> str:
    """Write a period with its unit: 5 sessions, 365.2 days, 1 session."""
    number, unit = f"{period:.4g}", "session" if clock == "session" else "day"
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


@dataclass(frozen=True, slots=True)
class Line:
    """One frequency of a plan: a harmonic of a cycle.

    Parameters
    ----------
    cycle : Cycle
    harmonic : int
    """

    cycle: Cycle
    harmonic: int

    @property
    def clock(self) -> Clock:
        """The clock that its place is read from."""
        return self.cycle.clock

    @property
    def frequency(self) -> float:
        """Turns per unit of the clock."""
        return self.harmonic / self.cycle.period
