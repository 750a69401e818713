"""Three ways to share planes out among several periods of ClockRoPE."""

from fints.studies.several_periods.study import several_periods

__all__ = ["several_periods"]
