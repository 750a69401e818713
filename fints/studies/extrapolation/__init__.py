"""Extrapolation of planted cycles through the transformer, encoding by encoding."""

from fints.studies.extrapolation.study import Extrapolation

__all__ = ["Extrapolation"]
