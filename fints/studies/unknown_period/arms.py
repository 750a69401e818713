"""The encodings under comparison, each with what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.encodings import EncodingConfig, encoding_config
from fints.encodings.config import RopeConfig
from fints.encodings.rope import rope_planes
from fints.plan import FrequencyPlan
from fints.studies.unknown_period.tellings import KNOWN, TELLINGS, Telling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.plan import Clock
    from fints.studies.planted import PlantedCycles

CYCLE, CLOCK, LEARNED, T_ROPE, ROPE = "cycle", "clock", "cycle, learned", "t_rope", "rope"

TOLD = (CYCLE, CLOCK, LEARNED, T_ROPE)
"""Encodings that a period is told to."""

BOTH_SIDES = (CYCLE, LEARNED)
"""Encodings that are told periods too short as well as too long: the two sides cost alike, as these two show."""

_SPELLED: Mapping[str, dict[str, object]] = {
    CYCLE: {"kind": "cycle", "share": 1.0},
    CLOCK: {"kind": "clock", "law": "gaussian-fold", "share": 1.0},
    LEARNED: {"kind": "cycle", "share": 1.0, "learn": True},
    T_ROPE: {"kind": "t_rope", "plan_share": 1.0},
    ROPE: {"kind": "rope"},
}


@dataclass(frozen=True, slots=True)
class Arm:
    """An encoding and what it is told.

    Parameters
    ----------
    encoding : str
        `CYCLE`, `CLOCK`, `LEARNED`, `T_ROPE` or `ROPE`.
    telling : Telling
        Of no consequence for `ROPE`.
    """

    encoding: str
    telling: Telling = KNOWN

    @property
    def config(self) -> EncodingConfig:
        """Settings of the encoding."""
        return encoding_config(_SPELLED[self.encoding])

    @property
    def clock(self) -> Clock:
        """Clock of the plan. All run alike here; T-RoPE, which lives on seconds, converts days exactly."""
        return "calendar" if self.encoding == T_ROPE else "session"

    def told(self, task: PlantedCycles, detected: float) -> float:
        """Return the period that it is told, in bars."""
        return self.telling.period(task.periods[0], detected)

    def plan(self, task: PlantedCycles, detected: float) -> FrequencyPlan:
        """Return the plan that it is given."""
        return FrequencyPlan.from_periods([self.told(task, detected)], self.clock)


ARMS = (
    Arm(ROPE),
    *(
        Arm(encoding, telling)
        for encoding in TOLD
        for telling in TELLINGS
        if encoding in BOTH_SIDES or telling.off >= 0
    ),
)
"""Everything under comparison."""


def nearest_rope_period(period: float, head_dim: int) -> float:
    """Return the period, among those of the planes of `ROPE`, that is nearest, in bars."""
    periods = [1 / plane.frequency for plane in rope_planes(head_dim, RopeConfig().base)]
    return min(periods, key=lambda each: abs(each / period - 1))
