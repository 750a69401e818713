"""The encodings under comparison."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.encodings import EncodingConfig, encoding_config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fints.plan import Clock
    from fints.studies.planted import PlantedCycles

    Spelled = str | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Arm:
    """One encoding under comparison.

    Parameters
    ----------
    name : str
        As it stands in tables and charts.
    told : bool
        Whether it is told the periods.
    spell : callable
        Makes its settings for the periods of a task.
    clock : {"session", "calendar"}
        Of the plan that it is given. Both run alike here; T-RoPE, which lives on seconds, converts days exactly.
    several : bool
        Whether it makes sense for several periods only.
    """

    name: str
    told: bool
    spell: Callable[[Sequence[float]], Spelled]
    clock: Clock = "session"
    several: bool = False

    def config(self, task: PlantedCycles) -> EncodingConfig:
        """Return the settings for a task."""
        return encoding_config(self.spell(task.periods))

    def suits(self, task: PlantedCycles) -> bool:
        """Tell whether the arm says anything of its own on a task."""
        return not self.several or len(task.periods) > 1


def _always(encoding: Spelled) -> Callable[[Sequence[float]], Spelled]:
    return lambda _: encoding


def _clock(share: float) -> Callable[[Sequence[float]], Spelled]:
    """ClockRoPE that draws from all periods of the plan."""
    return lambda periods: {"kind": "clock", "share": share, "mixture": len(periods) > 1}


def _clock_split(share: float) -> Callable[[Sequence[float]], Spelled]:
    """ClockRoPE with planes of its own for every period, and RoPE on the planes that are left."""

    def spell(periods: Sequence[float]) -> Spelled:
        parts = [
            {"share": share / len(periods), "encoding": {"kind": "clock", "period": period, "share": 1.0}}
            for period in periods
        ]
        rest = [{"share": 1 - share, "encoding": "rope"}] if share < 1 else []
        return {"kind": "split", "by": "feature", "parts": [*rest, *parts]}

    return spell


CYCLE, CYCLE_HALF = "cycle on all planes", "cycle on half the planes"
CLOCK, CLOCK_HALF = "clock on all planes", "clock on half the planes"
CLOCK_SPLIT, CLOCK_SPLIT_HALF = "clock by period on all planes", "clock by period on half the planes"
NONE, ROPE, ALIBI, FOURIER, SINUSOIDAL = "none", "rope", "alibi", "fourier_features", "absolute_sinusoidal"

ARMS: Mapping[str, Arm] = MappingProxyType(
    {
        arm.name: arm
        for arm in (
            Arm(NONE, told=False, spell=_always("none")),
            Arm("absolute_linear", told=False, spell=_always("absolute_linear")),
            Arm(SINUSOIDAL, told=False, spell=_always("absolute_sinusoidal")),
            Arm("absolute_learned", told=False, spell=_always("absolute_learned")),
            Arm("calendar_features", told=False, spell=_always("calendar_features")),
            Arm(FOURIER, told=True, spell=_always("fourier_features")),
            Arm(ALIBI, told=False, spell=_always("alibi")),
            Arm(ROPE, told=False, spell=_always("rope")),
            Arm("rope of base 100", told=False, spell=_always({"kind": "rope", "base": 100.0})),
            Arm("xpos", told=False, spell=_always("xpos")),
            Arm(CYCLE_HALF, told=True, spell=_always({"kind": "cycle", "share": 0.5})),
            Arm(CYCLE, told=True, spell=_always({"kind": "cycle", "share": 1.0})),
            Arm("rfr", told=False, spell=_always("rfr")),
            Arm(CLOCK_HALF, told=True, spell=_clock(0.5)),
            Arm(CLOCK, told=True, spell=_clock(1.0)),
            Arm(CLOCK_SPLIT_HALF, told=True, spell=_clock_split(0.5), several=True),
            Arm(CLOCK_SPLIT, told=True, spell=_clock_split(1.0), several=True),
            Arm("t_rope", told=False, spell=_always("t_rope")),
            Arm(
                "t_rope from the plan",
                told=True,
                spell=_always({"kind": "t_rope", "plan_share": 1.0}),
                clock="calendar",
            ),
            Arm("to_rope", told=False, spell=_always("to_rope")),
            Arm("rote", told=False, spell=_always("rote")),
            Arm("time_rab", told=False, spell=_always("time_rab")),
            Arm("interval_bias", told=False, spell=_always("interval_bias")),
            Arm("alibi + rope", told=False, spell=_always({"kind": "sum", "parts": ["alibi", "rope"]})),
        )
    }
)
"""Every encoding under comparison, by its name."""
