"""Phases from rational arithmetic, to judge floating point by."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

DAY = 86_400
CLOSE = int(datetime(2018, 12, 24, 18, tzinfo=UTC).timestamp())
"""An early close of New York."""

LAST = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())

_TURN = 2 * Fraction("3.14159265358979323846264338327950288419716939937510")


def exact_phases(alpha: Sequence[float], betas: Sequence[float], seconds: Sequence[int]) -> FloatArray:
    """Return ``α t / β`` less whole turns, in (−π, π], shape (T, P)."""
    rates = [Fraction(a) / Fraction(b) / _TURN for a, b in zip(alpha, betas, strict=True)]
    rows = [[_within_half(rate * int(second)) for rate in rates] for second in seconds]
    return 2 * math.pi * np.array(rows)


def _within_half(turns: Fraction) -> float:
    return float(turns - round(turns))
