"""From settings to an encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.encodings.base import Encoding, NoEncoding
from fints.encodings.config import CycleConfig, EncodingConfig, NoneConfig, RopeConfig, encoding_config
from fints.encodings.cycle import cycle_planes
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.plan import FrequencyPlan


def build(
    encoding: str | Mapping[str, object] | EncodingConfig,
    *,
    dim: int,
    n_heads: int,
    n_layers: int,
    plan: FrequencyPlan | None = None,
    seed: int = 0,  # noqa: ARG001
) -> Encoding:
    """Build an encoding for a transformer.

    Parameters
    ----------
    encoding : str, mapping or EncodingConfig
        A key of `ENCODINGS`, or settings.
    dim : int
        Width of the model; ``dim // n_heads`` channels per head.
    n_heads, n_layers : int
    plan : FrequencyPlan, optional
        Required by the encodings that take their periods from it.
    seed : int
        Of the encodings that draw frequencies.

    Raises
    ------
    UnknownNameError
        If the kind does not exist.
    EncodingError
        If an option does not fit, the heads do not divide the width, or a plan is missing.
    """
    config = encoding_config(encoding)
    if dim % n_heads:
        raise EncodingError(f"{n_heads} heads do not divide a model of width {dim}; choose a multiple")
    head_dim = dim // n_heads
    match config:
        case NoneConfig():
            return NoEncoding(n_layers)
        case RopeConfig():
            return RotaryEncoding(rope_planes(head_dim, config.base, config.clock), n_layers)
        case CycleConfig():
            if plan is None:
                raise EncodingError("the encoding 'cycle' takes its periods from a frequency plan; pass plan=")
            return RotaryEncoding(cycle_planes(config, head_dim, plan), n_layers)
        case _:
            raise EncodingError(f"no builder for the encoding settings {type(config).__name__}")
