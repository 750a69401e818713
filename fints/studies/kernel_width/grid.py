"""The grid of kernels, and the widths of the routines that they are tried on."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DIVISORS = (96.0, 48.0, 24.0, 12.0, 7.5)
"""T/σ of the kernels, from narrow to wide. Below 7.4 the kernel no longer falls off within its period."""

TRUNCATIONS = (2, 6, 12)
"""Largest harmonics s. On 24 bars a period there is none above 12."""

FULLEST = TRUNCATIONS[-1]

WIDTHS: Mapping[str, float] = MappingProxyType({"narrow": 48.0, "middle": 24.0, "broad": 12.0})
"""T/w of the routines, by name of the task. The theory puts the best σ there; the grid goes on to both sides."""


COSINE = "cosine"
"""Name of the kernel of one harmonic alone."""


def arm_name(divisor: float, truncation: int) -> str:
    """Name a kernel."""
    return f"σ={fraction(divisor)}, s={truncation}"


def fraction(divisor: float) -> str:
    """Write a width as a part of the period.

    Examples
    --------
    >>> fraction(7.5), fraction(13.86)
    ('T/7.5', 'T/14')
    """
    return f"T/{divisor:.2g}"
