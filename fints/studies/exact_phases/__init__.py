"""Float32 phases beside exact ones, and how much of T-RoPE's fast planes is rounding noise."""

from fints.studies.exact_phases.study import exact_phases

__all__ = ["exact_phases"]
