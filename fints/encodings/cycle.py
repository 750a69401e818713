"""Cycle-RoPE: rotary planes that turn once per market cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.encodings.config import CycleConfig
from fints.encodings.rope import Plane, rope_planes
from fints.errors import EncodingError

if TYPE_CHECKING:
    from fints.encodings.config import EncodingConfig
    from fints.plan import FrequencyPlan


def cycle_room(config: EncodingConfig, head_dim: int) -> int:
    """Count the planes that an encoding has for the lines of a plan.

    Parameters
    ----------
    config : EncodingConfig
        One that reads no plan counts all its planes.
    head_dim : int
        Channels D of a head.
    """
    planes = head_dim // 2
    return round(config.share * planes) if isinstance(config, CycleConfig) else planes


def cycle_planes(config: CycleConfig, head_dim: int, plan: FrequencyPlan) -> tuple[Plane, ...]:
    """Lay out the planes of cycle-RoPE.

    Parameters
    ----------
    config : CycleConfig
    head_dim : int
        Channels D of a head; even.
    plan : FrequencyPlan
        Its lines fill the last ``share · D / 2`` planes; a plane of period P on a clock makes the places t and t + P
        of that clock indistinguishable to it. If it holds more cycles than that, the strongest are taken
        (`FrequencyPlan.strongest`).

    Returns
    -------
    tuple of Plane, length D / 2

    Raises
    ------
    EncodingError
        If D is odd, or the share leaves no plane to the cycles.
    """
    rope = rope_planes(head_dim, config.base)
    n_cycle = cycle_room(config, head_dim)
    if n_cycle == 0:
        raise EncodingError(f"a share of {config.share:g} of {len(rope)} planes leaves none to the cycles; raise it")
    lines = plan.strongest(n_cycle).allocate(n_cycle)
    return rope[: len(rope) - n_cycle] + tuple(Plane(line.clock, line.frequency) for line in lines)
