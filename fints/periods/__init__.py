"""Periods: which cycles a series has, how sure that is, and how precisely they are known."""

from fints.periods.detect import detect_periods
from fints.periods.result import Line, Periods
from fints.periods.search import Spectrum

__all__ = ["Line", "Periods", "Spectrum", "detect_periods"]
