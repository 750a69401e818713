"""Numbers as they stand in sentences and tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fints.studies.intervals import Interval


def number(value: float) -> str:
    """Write two significant digits, never with an exponent.

    Examples
    --------
    >>> [number(x) for x in (0.000304, 0.5, 9.96, 123.4, 0.0)]
    ['0.00030', '0.50', '10', '120', '0']
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    rounded = float(f"{value:.1e}")
    return f"{rounded:.{max(0, 1 - math.floor(math.log10(abs(rounded))))}f}"


def error(interval: Interval) -> str:
    """Write a mean error with its interval, which ends at zero."""
    if interval.n == 1:
        return f"{number(interval.mean)} (one seed)"
    span = f"{number(max(interval.low, 0))} to {number(interval.high)}"
    return f"{number(interval.mean)} (95 % interval {span}, {interval.n} seeds)"


def factor(interval: Interval) -> str:
    """Write a ratio with its interval."""
    if interval.n == 1:
        return f"{number(interval.mean)} times"
    return f"{number(interval.mean)} times ({number(interval.low)} to {number(interval.high)})"
