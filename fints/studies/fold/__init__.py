"""Folded against symmetric frequencies of ClockRoPE, on routines with a direction and without one."""

from fints.studies.fold.study import fold_or_symmetric

__all__ = ["fold_or_symmetric"]
