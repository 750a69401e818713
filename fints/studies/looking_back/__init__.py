"""Attention by distance: whether the model looks back one day and one week, with RoPE, ClockRoPE, and both."""

from fints.studies.looking_back.study import looking_back

__all__ = ["looking_back"]
