"""Effective periods of T-RoPE before and after training, and whether they drift away from their bands."""

from fints.studies.period_drift.study import period_drift

__all__ = ["period_drift"]
