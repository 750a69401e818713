"""Frequencies that are learned, from several starts, against those that a prior fixes."""

from fints.studies.learned_or_fixed.study import learned_or_fixed

__all__ = ["learned_or_fixed"]
