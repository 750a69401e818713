"""How much of a frequency plan an encoding has planes for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.encodings.combine import SplitConfig, SumConfig, allot
from fints.encodings.config import CycleConfig
from fints.encodings.cycle import cycle_count
from fints.encodings.t_rope import TRopeConfig

if TYPE_CHECKING:
    from fints.encodings.config import EncodingConfig
    from fints.plan import FrequencyPlan


def fit_plan(plan: FrequencyPlan, config: EncodingConfig, head_dim: int) -> FrequencyPlan:
    """Leave of a plan what an encoding has planes for.

    Parameters
    ----------
    plan : FrequencyPlan
    config : EncodingConfig
        Of parts that each have some planes for lines, the one that has the fewest decides.
    head_dim : int
        Channels D of a head.

    Returns
    -------
    FrequencyPlan
        The strongest lines (`FrequencyPlan.strongest`); the whole plan where no plane is tied to a line: ClockRoPE
        draws from cycles, features at the plan's periods are projected, and most encodings read no plan.

    Raises
    ------
    EncodingError
        If the shares of a split do not sum to 1, or one gets nothing.
    """
    planes = _planes_for_lines(config, head_dim)
    return plan if planes is None else plan.strongest(planes)


def _planes_for_lines(config: EncodingConfig, head_dim: int) -> int | None:
    """Count the planes of which each takes one line; None where there are none."""
    match config:
        case CycleConfig():
            return cycle_count(config, head_dim)
        case TRopeConfig():
            return config.seeded(head_dim // 2) or None
        case SplitConfig(by="feature"):
            planes = allot([part.share for part in config.parts], head_dim // 2, "planes")
            parts = [(part.encoding, 2 * n) for part, n in zip(config.parts, planes, strict=True)]
        case SplitConfig():
            parts = [(part.encoding, head_dim) for part in config.parts]
        case SumConfig():
            parts = [(part, head_dim) for part in config.parts]
        case _:
            return None
    counts = [_planes_for_lines(part, width) for part, width in parts]
    return min((count for count in counts if count is not None), default=None)
