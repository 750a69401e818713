"""What is explained: each cycle of the plan with everything in the model that is tied to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import PlanError
from fints.explain.families import FAMILIES, adjective_of, families_of
from fints.explain.planes import count_planes
from fints.series.covariates import CALENDAR_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.encodings import Encoding
    from fints.plan import Cycle

MOST = 5
"""Groups at most: every set of them is one more start to estimate and one more forecast."""

OTHER_DAYS = "holidays and other single days"


@dataclass(frozen=True, slots=True)
class Group:
    """What is taken out of a model together.

    Parameters
    ----------
    name : str
        ``weekly cycle``, say.
    cycles : tuple of Cycle
        Whose planes are held still; none where only covariates are tied to it.
    columns : tuple of str
        Covariates of the panel.
    times_of_day : bool
        Whether the linear start's means of the same time of day belong to it.
    planes : int
        Planes that turn with it, over all layers and heads.
    nouns : tuple of str
        Families of the covariates: ``week``.
    """

    name: str
    cycles: tuple[Cycle, ...] = ()
    columns: tuple[str, ...] = ()
    times_of_day: bool = False
    planes: int = 0
    nouns: tuple[str, ...] = ()

    @property
    def tied(self) -> str:
        """Say what of the model is taken out with it."""
        said = []
        if self.planes:
            lines = "; ".join(_lines(cycle) for cycle in self.cycles)
            said.append(f"{self.planes} plane{'s' if self.planes > 1 else ''} ({lines})")
        if self.columns:
            of = f" of {' and '.join(self.nouns)}" if self.nouns else ""
            said.append(f"{len(self.columns)} calendar term{'s' if len(self.columns) > 1 else ''}{of}")
        if self.times_of_day:
            said.append("means of the same time of day")
        return ", ".join(said) or "nothing"


def groups_of(
    cycles: Sequence[Cycle],
    columns: Sequence[str],
    encoding: Encoding,
    rate: float,
    *,
    times_of_day: bool = False,
    most: int = MOST,
) -> tuple[Group, ...]:
    """Divide what a model knows of the calendar.

    Each cycle of the plan is one group, the strongest first and of equals the shortest, with the covariates that come
    back at its period or at one of its harmonics. Covariates of a cycle that the plan lacks are a group of their own,
    and those of single days are the last. Of more than `most`, the weakest cycles are one group.

    Parameters
    ----------
    cycles : sequence of Cycle
        Of the model's plan.
    columns : sequence of str
        Covariates that the model reads, ``cal_…``.
    encoding : Encoding
    rate : float
        Sessions per calendar day.
    times_of_day : bool
        Whether the linear start has means of the same time of day.
    most : int
        At least 2.
    """
    every = tuple(cycles)
    home, made = families_of(every, rate), []
    for cycle in sorted(every, key=lambda cycle: (-cycle.strength, _days(cycle, rate))):
        own = tuple(family for family in FAMILIES if home[family.noun] == cycle)
        made.append(
            Group(
                _name(cycle, every, rate),
                (cycle,),
                _present(columns, tuple(feature for family in own for feature in family.features)),
                times_of_day and any(family.per_session for family in own),
                count_planes(encoding, cycle, every),
                tuple(family.noun for family in own if _present(columns, family.features)),
            )
        )
    for family in FAMILIES:
        left, daily = _present(columns, family.features), times_of_day and family.per_session
        if home[family.noun] is None and (left or daily):
            made.append(Group(f"{family.adjective} cycle", (), left, daily, 0, (family.noun,)))
    taken = {column for group in made for column in group.columns}
    others = tuple(column for column in columns if column not in taken)
    room = most - bool(others)
    merged = [*made[: room - 1], _merged(made[room - 1 :])] if len(made) > room else made
    return (*merged, Group(OTHER_DAYS, columns=others)) if others else tuple(merged)


def find_group(groups: Sequence[Group], name: str) -> int:
    """Find a group by its name, its cycle (``7 days``) or what people call it (``week``, ``weekly``).

    Raises
    ------
    PlanError
        If there is none, naming those that there are.
    """
    for number, group in enumerate(groups):
        nouns = {family.noun for family in FAMILIES if group.name == f"{family.adjective} cycle"}
        called = {group.name, group.name.removesuffix(" cycle"), *nouns, *map(str, group.cycles)}
        if name in called:
            return number
    listed = ", ".join(f"{group.name} ({', '.join(map(str, group.cycles))})" for group in groups if group.cycles)
    raise PlanError(f"the model's plan has no cycle {name!r} that could be taken out; it has: {listed}")


def _name(cycle: Cycle, cycles: Sequence[Cycle], rate: float) -> str:
    """Name a cycle as people do, with its period where another one has the same name."""
    said = adjective_of(cycle, rate)
    if said is None:
        return f"cycle of {cycle}"
    alike = sum(adjective_of(other, rate) == said for other in cycles)
    return f"{said} cycle" if alike == 1 else f"{said} cycle of {cycle}"


def _days(cycle: Cycle, rate: float) -> float:
    return cycle.period / rate if cycle.clock == "session" else cycle.period


def _lines(cycle: Cycle) -> str:
    """Write the periods of the lines of a cycle: ``7, 3.5 days``."""
    periods = ", ".join(f"{cycle.period / r:.4g}" for r in cycle.harmonics)
    return f"{periods} {'sessions' if cycle.clock == 'session' else 'days'}"


def _present(columns: Sequence[str], features: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(column for column in columns if column.removeprefix(CALENDAR_PREFIX) in features)


def _merged(groups: Sequence[Group]) -> Group:
    return Group(
        name="other cycles",
        cycles=tuple(cycle for group in groups for cycle in group.cycles),
        columns=tuple(column for group in groups for column in group.columns),
        times_of_day=any(group.times_of_day for group in groups),
        planes=sum(group.planes for group in groups),
        nouns=tuple(noun for group in groups for noun in group.nouns),
    )
