"""Width and truncation of ClockRoPE's kernel, on routines whose own width is known."""

from fints.studies.kernel_width.study import kernel_width

__all__ = ["kernel_width"]
