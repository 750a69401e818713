"""The frequency plan: the one owner of every frequency that an encoding uses."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from fints.errors import PlanError
from fints.plan.cycle import NYQUIST_PERIOD, Cycle, Line
from fints.plan.pooling import close, pool_lines, prior_strength

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from fints.periods import Periods
    from fints.plan.cycle import Clock

PRIOR_PERIODS: tuple[float, ...] = (5.0, 20.0, 60.0, 252.0)
"""Week, month, quarter and year, in trading sessions."""


@dataclass(frozen=True, slots=True)
class FrequencyPlan:
    """The cycles that seed every encoding, as a value: hashable, comparable and serialisable.

    Parameters
    ----------
    cycles : tuple of Cycle
        Sorted by clock and period; equal ones are refused.

    Raises
    ------
    PlanError
        If there is no cycle or one stands twice.

    Examples
    --------
    >>> plan = FrequencyPlan.from_periods([5, 20, 60, 252])
    >>> [str(line.cycle) for line in plan.allocate(6)]
    ['5 sessions', '5 sessions', '20 sessions', '20 sessions', '60 sessions', '252 sessions']
    """

    cycles: tuple[Cycle, ...]

    def __post_init__(self) -> None:
        if not self.cycles:
            raise PlanError("a frequency plan needs at least one cycle")
        ordered = tuple(sorted(self.cycles, key=lambda c: (c.clock != "session", c.period)))
        keys = [(c.clock, c.period) for c in ordered]
        twice = sorted(
            {f"{period:g} on the {clock} clock" for clock, period in keys if keys.count((clock, period)) > 1}
        )
        if twice:
            raise PlanError(f"a cycle stands twice in the plan: {', '.join(twice)}")
        object.__setattr__(self, "cycles", ordered)

    @classmethod
    def from_periods(cls, periods: Iterable[float | Cycle], clock: Clock = "session") -> FrequencyPlan:
        """Make a plan from periods that are known beforehand.

        Parameters
        ----------
        periods : iterable of float or Cycle
            Numbers are periods in units of `clock`; `Cycle` objects are taken as they are.
        clock : {"session", "calendar"}

        Raises
        ------
        PlanError
            If a period is shorter than two units of its clock, or not a positive number, or they are no sequence.
        """
        _check_sequence(periods)
        cycles = []
        for period in periods:
            cycle = period if isinstance(period, Cycle) else Cycle(_number(period), clock, reason="configured period")
            if not isinstance(period, Cycle) and cycle.period < NYQUIST_PERIOD:
                raise PlanError(
                    f"a period of {cycle.period:g} {clock} units is shorter than the {NYQUIST_PERIOD:g} that daily "
                    "bars resolve; drop it, or pass a Cycle if the bars are intraday"
                )
            cycles.append(cycle)
        return cls(tuple(cycles))

    @classmethod
    def from_detection(
        cls, found: pd.DataFrame | Periods, priors: Sequence[float] = PRIOR_PERIODS, alpha: float = 0.05, most: int = 8
    ) -> FrequencyPlan:
        """Put detected periods before prior ones, and say of each why it is there.

        Lines of several series that differ by less than `SAME_CYCLE` in log-period are one cycle, placed at their
        precision-weighted mean. A prior is replaced by a detected cycle one of whose harmonics lies as close to it on
        either clock, and kept where nothing significant and stable was found, or nothing could be.

        Parameters
        ----------
        found : Periods or pandas.DataFrame
            What `fints.detect_periods` found, or a frame of the schema ``periods``.
        priors : sequence of float
            In sessions.
        alpha : float
            Largest q-value that counts as detected.
        most : int
            Largest number of detected cycles; the strongest are kept.
        """
        import pandas as pd

        frame = found if isinstance(found, pd.DataFrame) else found.to_frame()
        longest = math.inf if isinstance(found, pd.DataFrame) else found.longest("session")
        pooled = pool_lines(frame, alpha)[:most]
        detected = [cycle for cycle, _ in pooled]
        cycles = list(detected)
        for prior in priors:
            if not any(_covers(cycle, other, prior) for cycle, other in pooled):
                why = "nothing significant was found near it"
                if prior > longest:
                    why = f"it is undetectable at this length, which shows periods up to {longest:.0f} sessions"
                reason = f"prior of {prior:g} sessions kept: {why}"
                cycles.append(Cycle(float(prior), strength=prior_strength(detected), reason=reason))
        return cls(tuple(cycles))

    def __len__(self) -> int:
        return len(self.cycles)

    def __iter__(self) -> Iterator[Cycle]:
        return iter(self.cycles)

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every harmonic of every cycle."""
        return tuple(Line(cycle, r) for cycle in self.cycles for r in cycle.harmonics)

    @property
    def digest(self) -> str:
        """Short hash of what the plan computes, the same in every process and for equal plans."""
        decisive = [{**asdict(c), "reason": ""} for c in self.cycles]
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:12]

    def allocate(self, planes: int) -> tuple[Line, ...]:
        """Share planes out among the lines.

        Every cycle gets a plane for its lowest line, then every other line gets one while planes last (the strongest
        first); what remains goes to the line with the most strength per plane it has (D'Hondt's rule). Every line but
        the lowest counts half its cycle's strength.

        Parameters
        ----------
        planes : int
            Number of planes to fill, at least one.

        Returns
        -------
        tuple of Line, length `planes`
            Sorted as the plan is, so that the allocation of equal plans is equal.

        Raises
        ------
        PlanError
            If there are fewer planes than cycles.
        """
        if planes < len(self.cycles):
            raise PlanError(
                f"{len(self.cycles)} cycles need at least as many planes, but only {planes} are free for them; "
                "widen the heads, raise the share of cycle planes, or drop a cycle"
            )
        lines = self.lines
        weight = [_weight(line) for line in lines]
        count = [int(_is_lowest(line)) for line in lines]
        while sum(count) < planes:
            best = max(range(len(lines)), key=lambda i: (count[i] == 0, weight[i] / (count[i] + 1), -i))
            count[best] += 1
        return tuple(line for line, n in zip(lines, count, strict=True) for _ in range(n))

    def strongest(self, planes: int) -> FrequencyPlan:
        """Return the strongest lines that fit into some planes, or this plan if all do.

        Lines of detected cycles come before those of priors, whatever their strength; a cycle's lowest line comes with
        its strength, the others, for which none is known, with half of it and the lower before the higher. So no
        harmonic is kept without the lowest line, and a cycle of many harmonics keeps as many as fit: its reason then
        says which it lost.

        Parameters
        ----------
        planes : int
            One for each line; at least one line stays.
        """
        if len(self.lines) <= planes:
            return self
        ranked = sorted(self.lines, key=_rank)[: max(1, planes)]
        kept = [[line.harmonic for line in ranked if line.cycle is cycle] for cycle in self.cycles]
        return FrequencyPlan(tuple(_only(c, numbers) for c, numbers in zip(self.cycles, kept, strict=True) if numbers))

    def lost(self, kept: FrequencyPlan) -> tuple[str, ...]:
        """Say what a plan that was made of this one by `strongest` no longer holds.

        Returns
        -------
        tuple of str
            A cycle, or the harmonics of one: ``"60 sessions"``, ``"harmonics 6, 12 of 91.31 days"``.
        """
        harmonics = {(cycle.clock, cycle.period): cycle.harmonics for cycle in kept}
        said = []
        for cycle in self.cycles:
            own = harmonics.get((cycle.clock, cycle.period), ())
            if own != cycle.harmonics:
                said.append(f"{_named([r for r in cycle.harmonics if r not in own])} of {cycle}" if own else str(cycle))
        return tuple(said)

    def to_dict(self) -> dict[str, object]:
        """Return plain values that JSON holds exactly."""
        return {"cycles": [{**asdict(c), "harmonics": list(c.harmonics)} for c in self.cycles]}

    @classmethod
    def from_dict(cls, value: Mapping[str, object]) -> FrequencyPlan:
        """Rebuild a plan from `to_dict`.

        Raises
        ------
        PlanError
            If the mapping is not one that `to_dict` makes.
        """
        cycles = value.get("cycles")
        if not isinstance(cycles, list):
            raise PlanError("a stored plan holds a list under 'cycles'; this one does not")
        try:
            return cls(tuple(Cycle(**{**c, "harmonics": tuple(c.get("harmonics", (1,)))}) for c in cycles))
        except (TypeError, AttributeError) as error:
            raise PlanError(f"a stored plan has a cycle that cannot be read: {error}") from error

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cycle, with the columns of schema ``Cycle``."""
        import pandas as pd

        return pd.DataFrame([asdict(c) for c in self.cycles])


def _is_lowest(line: Line) -> bool:
    return line.harmonic == min(line.cycle.harmonics)


def _weight(line: Line) -> float:
    return line.cycle.strength * (1.0 if _is_lowest(line) else 0.5)


def _rank(line: Line) -> tuple[bool, float, float, str, int]:
    cycle = line.cycle
    return cycle.origin == "prior", -_weight(line), cycle.period, cycle.clock, line.harmonic


def _only(cycle: Cycle, harmonics: Sequence[int]) -> Cycle:
    """Leave a cycle some of its harmonics."""
    lost = [number for number in cycle.harmonics if number not in harmonics]
    if not lost:
        return cycle
    why = "; ".join(part for part in (cycle.reason, f"no plane for {_named(lost)}") if part)
    return replace(cycle, harmonics=tuple(r for r in cycle.harmonics if r in harmonics), reason=why)


def _named(harmonics: Sequence[int]) -> str:
    return f"harmonic{'s' if len(harmonics) > 1 else ''} {', '.join(map(str, harmonics))}"


def _check_sequence(periods: object) -> None:
    if isinstance(periods, str) or not hasattr(periods, "__iter__"):
        raise PlanError(f"periods are a sequence of numbers or cycles, such as [5, 20]; got {periods!r}")


def _covers(cycle: Cycle, other_period: float, prior: float) -> bool:
    """Whether a harmonic of a cycle lies near a period in sessions."""
    fundamental = cycle.period if cycle.clock == "session" else other_period
    return any(close(fundamental / number, prior) for number in cycle.harmonics)


def _number(period: object) -> float:
    try:
        return float(period)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise PlanError(f"a period is a number of clock units or a Cycle; got {period!r}") from error
