"""Periods: which cycles a series has, on which clock, how sure that is, and how precisely they are known."""

from fints.periods.detect import detect_periods
from fints.periods.result import Line, Periods, Spectrum
from fints.periods.shorttime import ShortTime
from fints.periods.stability import Amplitudes

__all__ = ["Amplitudes", "Line", "Periods", "ShortTime", "Spectrum", "detect_periods"]
