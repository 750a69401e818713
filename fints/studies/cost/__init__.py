"""What every encoding costs over plain RoPE."""

from fints.studies.cost.study import Cost

__all__ = ["Cost"]
