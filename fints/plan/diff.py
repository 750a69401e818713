"""What changed from one night's plan to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fints.plan.pooling import close

if TYPE_CHECKING:
    from fints.plan.cycle import Cycle
    from fints.plan.frequency_plan import FrequencyPlan

Kind = Literal["new", "gone", "moved", "changed", "same"]
_MOVED = 0.002


@dataclass(frozen=True, slots=True)
class CycleChange:
    """One cycle before and after.

    Parameters
    ----------
    kind : {"new", "gone", "moved", "changed", "same"}
        ``moved``: its period differs by more than 0.2 %; ``changed``: its harmonics or its origin do.
    before, after : Cycle, optional
        One of them is None where the cycle is new or gone.
    """

    kind: Kind
    before: Cycle | None
    after: Cycle | None

    def __str__(self) -> str:
        if self.before is None or self.after is None:
            return f"{self.kind}: {self.after or self.before}"
        if self.kind == "moved":
            return f"moved: {self.before.period:.5g} to {self.after}"
        if self.kind == "changed":
            return f"changed: {self.after}, {_said(self.before)} to {_said(self.after)}"
        return f"same: {self.after}"


def plan_diff(before: FrequencyPlan, after: FrequencyPlan) -> tuple[CycleChange, ...]:
    """Compare two plans cycle by cycle.

    Parameters
    ----------
    before, after : FrequencyPlan
        Of two nights. Cycles of one clock whose periods lie within `SAME_CYCLE` in logarithm are one cycle, the nearest
        first.

    Returns
    -------
    tuple of CycleChange
        In the order of the new plan, what is gone last.
    """
    left = list(before)
    changes = []
    for cycle in after:
        near = [old for old in left if old.clock == cycle.clock and close(old.period, cycle.period)]
        old = min(near, key=lambda one: abs(one.period - cycle.period), default=None)
        if old is not None:
            left.remove(old)
        changes.append(CycleChange(_kind(old, cycle), old, cycle))
    return (*changes, *(CycleChange("gone", old, None) for old in left))


def _kind(old: Cycle | None, new: Cycle) -> Kind:
    if old is None:
        return "new"
    if abs(old.period / new.period - 1) > _MOVED:
        return "moved"
    return "same" if (old.harmonics, old.origin) == (new.harmonics, new.origin) else "changed"


def _said(cycle: Cycle) -> str:
    return f"{cycle.origin} with harmonics {','.join(map(str, cycle.harmonics))}"
