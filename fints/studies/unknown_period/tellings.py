"""What an encoding is told about the period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import SeriesError

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 6
"""Significant digits of a period that is told: what rounding or another search would change is not among them."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A period as it is told.

    Parameters
    ----------
    name : str
        As it stands in tables.
    off : float
        Relative error by intent: 0.01 tells 1 % too much.
    detected : bool
        Tell what was detected instead of the truth.
    """

    name: str
    off: float = 0.0
    detected: bool = False

    def period(self, true: float, detected: float) -> float:
        """Return the period that is told, in the unit of both."""
        return float(f"{detected if self.detected else true * (1 + self.off):.{DIGITS}g}")


KNOWN = Telling("known")
DETECTED = Telling("detected", detected=True)
SIZES = (0.01, 0.02, 0.05, 0.1)
WRONG = tuple(
    Telling(f"{'−' if off < 0 else '+'}{100 * abs(off):g} %", off) for off in (*(-s for s in reversed(SIZES)), *SIZES)
)

TELLINGS = (KNOWN, DETECTED, *WRONG)
"""All of them; the wrong ones in the order of the period."""


def detected_period(panel: pd.DataFrame) -> float:
    """Return the period of the strongest line that `fints.periods.detect_periods` finds in a planted series.

    Parameters
    ----------
    panel : pandas.DataFrame
        The bars that training sees, of an exchange that never closes: both clocks count alike.

    Raises
    ------
    SeriesError
        If nothing significant is found.
    """
    from fints.periods import detect_periods

    found = detect_periods(panel).to_frame()
    if found.empty:
        raise SeriesError(f"no cycle stands out from noise in the {len(panel)} bars; plant a stronger one")
    return float(found.sort_values("strength")["period"].iloc[-1])
