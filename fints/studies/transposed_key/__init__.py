"""T-RoPE's transposed key against a standard key with coefficients of its own, and against shared coefficients."""

from fints.studies.transposed_key.study import transposed_key

__all__ = ["transposed_key"]
