"""What the forecaster loses when the period of a cycle is not known."""

from fints.studies.unknown_period.study import UnknownPeriod

__all__ = ["UnknownPeriod"]
