"""Published claims, recomputed: the numbers of cycle-RoPE, the propositions of ClockRoPE, the theorems of T-RoPE."""

from fints.studies.claims.study import Claims

__all__ = ["Claims"]
