"""Places, and periods on their clocks, that cannot be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from fints.errors import EncodingError

if TYPE_CHECKING:
    from torch import Tensor

LATEST_SECOND = 7_258_118_400
"""Unix time of 2200-01-01. Milliseconds of any date after March 1970 lie beyond it."""

NOT_A_TIME = torch.iinfo(torch.int64).min
"""What NumPy's and pandas's NaT becomes as a whole number; its absolute value overflows."""

SMALLEST_PERIOD = 2.0
"""In units of a clock that counts whole ones."""

WHOLE_UNITS = {"index": "bars", "seconds": "seconds"}


def check_period(clock: str, period: float | None) -> None:
    """Refuse a period that the whole units of a clock cannot show.

    Parameters
    ----------
    clock : str
        The session and calendar clocks count fractions; what they resolve depends on the bars, and is not checked.
    period : float, optional
        In units of the clock.

    Raises
    ------
    EncodingError
        If it is shorter than two units.
    """
    if clock in WHOLE_UNITS and period is not None and period < SMALLEST_PERIOD:
        raise EncodingError(
            f"a period of {period:g} {WHOLE_UNITS[clock]} is shorter than the {SMALLEST_PERIOD:g} that the {clock} "
            "clock resolves; give a longer one, or another clock"
        )


def check_places(clock: str, places: Tensor) -> None:
    """Refuse places that are not finite, and seconds that are not seconds.

    The values are not looked at under `torch.compile` and on the meta device, where there are none to see.

    Parameters
    ----------
    clock : str
        Name of the clock that they lie on.
    places : Tensor, float64 or int64

    Raises
    ------
    EncodingError
        If a place is not finite or NaT, or lies beyond the year 2200 on the seconds clock.
    """
    if torch.compiler.is_compiling() or places.is_meta or not places.numel():
        return
    if not bool(torch.isfinite(places).all()):
        wrong = int((~torch.isfinite(places)).sum())
        raise EncodingError(
            f"{wrong} of {places.numel()} places on the {clock} clock are not finite; drop the bars without a time"
        )
    earliest, latest = places.aminmax()
    if places.dtype == torch.int64 and int(earliest) == NOT_A_TIME:
        raise EncodingError(
            f"a place on the {clock} clock is not a date: it is NaT cast to int64; drop the bars without a time"
        )
    farthest = max(-float(earliest), float(latest))
    if clock == "seconds" and farthest > LATEST_SECOND:
        raise EncodingError(
            f"a place of {farthest:.4g} on the seconds clock lies beyond the year 2200; Unix times are in seconds: "
            "divide milliseconds by 1e3, microseconds by 1e6, nanoseconds by 1e9"
        )
