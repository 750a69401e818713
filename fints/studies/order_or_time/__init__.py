"""Order, time, or both: index RoPE and TO-RoPE beside T-RoPE."""

from fints.studies.order_or_time.study import order_or_time

__all__ = ["order_or_time"]
