"""Cycle-RoPE: rotary planes that turn once per market cycle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from fints.encodings.bank import ExactModule
from fints.encodings.rope import Plane, RotaryEncoding, rope_planes
from fints.encodings.seeding import seeded_lines
from fints.errors import EncodingError
from fints.plan import CLOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.encodings.config import CycleConfig
    from fints.plan import Cycle, FrequencyPlan, Line


def cycle_count(config: CycleConfig, head_dim: int) -> int:
    """Count the planes of a head of D channels that turn with cycles."""
    return round(config.share * (head_dim // 2))


def cycle_planes(config: CycleConfig, head_dim: int, plan: FrequencyPlan) -> tuple[Plane, ...]:
    """Lay out the planes of cycle-RoPE.

    Parameters
    ----------
    config : CycleConfig
    head_dim : int
        Channels D of a head; even.
    plan : FrequencyPlan
        Its lines fill the last ``share · D / 2`` planes; a plane of period P on a clock makes the places t and t + P
        of that clock indistinguishable to it. If it holds more than that, the strongest are taken
        (`FrequencyPlan.strongest`), and a warning names the others.

    Returns
    -------
    tuple of Plane, length D / 2

    Raises
    ------
    EncodingError
        If D is odd, or the share leaves no plane to the cycles.
    """
    rope, lines = _layout(config, head_dim, plan)
    return rope + tuple(Plane(line.clock, line.frequency) for line in lines)


def cycle(config: CycleConfig, head_dim: int, n_layers: int, plan: FrequencyPlan) -> RotaryEncoding:
    """Build cycle-RoPE; the parameters and errors are those of `cycle_planes`."""
    if not config.learn:
        return RotaryEncoding(cycle_planes(config, head_dim, plan), n_layers)
    rope, lines = _layout(config, head_dim, plan)
    return LearnedCycles(rope, lines, n_layers, config.unit)


class LearnedCycles(ExactModule, RotaryEncoding):
    """Cycle-RoPE that learns the period of every cycle, ``P = P0 · exp(δ)``.

    The learned parameter is the departure from the start in radians per `unit` of the cycle's clock:
    ``δ = −offset · P0 / (2π · unit)``. Scores depend on distances only, so their derivative with respect to it is
    ``r · distance / unit`` for harmonic r, of size 1 within a window, where with respect to δ it would be
    ``2πr · distance / P0``. The period stays positive, whatever the offset, and the offset float64.

    Parameters
    ----------
    rope : sequence of Plane
        Planes whose frequency is not learned, the first of a head.
    lines : sequence of Line
        Of the planes that follow.
    n_layers : int
    unit : float

    Attributes
    ----------
    cycles : tuple of Cycle
        One for each element of `offset`.
    offset : Parameter, shape (cycles,), float64
    """

    def __init__(self, rope: Sequence[Plane], lines: Sequence[Line], n_layers: int, unit: float) -> None:
        super().__init__((*rope, *(Plane(line.clock, line.frequency) for line in lines)), n_layers)
        self.unit = unit
        self.cycles: tuple[Cycle, ...] = tuple(dict.fromkeys(line.cycle for line in lines))
        # The planes of rope point at the last element, which is no cycle.
        self._cycle_of = [len(self.cycles)] * len(rope) + [self.cycles.index(line.cycle) for line in lines]
        self.offset = nn.Parameter(torch.zeros(len(self.cycles), dtype=torch.float64))

    def reset_parameters(self) -> None:
        """Go back to the plan's periods; call it after `to_empty` if no state is loaded."""
        nn.init.zeros_(self.offset)

    def start(self) -> Tensor:
        """See `ExactModule.start`: the unit, the number of planes, then period and clock of every cycle."""
        cycles = [number for cycle in self.cycles for number in (cycle.period, float(CLOCKS.index(cycle.clock)))]
        return torch.tensor([self.unit, len(self.planes), *cycles], dtype=torch.float64, device="cpu")

    def log_frequency_offset(self) -> Tensor:
        """Return −δ of every cycle, shape (cycles,), float64."""
        scale = [cycle.period / (2 * math.pi * self.unit) for cycle in self.cycles]
        return self.offset * torch.tensor(scale, dtype=torch.float64, device=self.offset.device)

    def frequencies(self, device: torch.device) -> Tensor:
        """Return the frequency of every plane in turns per unit of its clock, shape (P,), float64."""
        factor = nn.functional.pad(self.log_frequency_offset(), (0, 1)).exp()
        return super().frequencies(device) * factor[self._cycle_of].to(device)

    def periods(self) -> Tensor:
        """Return the period of every cycle in units of its clock, shape (cycles,), float64."""
        start = torch.tensor([cycle.period for cycle in self.cycles], dtype=torch.float64, device=self.offset.device)
        return start * (-self.log_frequency_offset()).exp()


def _layout(config: CycleConfig, head_dim: int, plan: FrequencyPlan) -> tuple[tuple[Plane, ...], tuple[Line, ...]]:
    """Return the planes that keep the rope schedule, and the lines of those that follow."""
    rope = rope_planes(head_dim, config.base)
    n_cycle = cycle_count(config, head_dim)
    if n_cycle == 0:
        raise EncodingError(f"a share of {config.share:g} of {len(rope)} planes leaves none to the cycles; raise it")
    return rope[: len(rope) - n_cycle], seeded_lines(plan, n_cycle, config.kind, "share")
