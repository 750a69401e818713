"""Comparisons whose units read more from a trained model than its errors."""

from fints.studies.readings.study import ReadComparison

__all__ = ["ReadComparison"]
