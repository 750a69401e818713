"""The frequency plan: the one owner of every frequency that an encoding uses."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from fints.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from fints.periods import Periods

Clock = Literal["session", "calendar"]
Origin = Literal["detected", "prior", "tuned"]

CLOCKS: tuple[str, ...] = get_args(Clock)
ORIGINS: tuple[str, ...] = get_args(Origin)

NYQUIST_PERIOD = 2.0
"""Shortest period that daily bars resolve, in units of either clock. Intraday plans may go below it."""

PRIOR_PERIODS: tuple[float, ...] = (5.0, 20.0, 60.0, 252.0)
"""Week, month, quarter and year, in trading sessions."""

_UNKNOWN_SE = 1e6

SAME_CYCLE = 0.15
"""Two periods whose logarithms differ by less are taken for the same cycle of the market."""


@dataclass(frozen=True, slots=True, order=True)
class Cycle:
    """One market cycle.

    Parameters
    ----------
    period : float
        In units of `clock`: sessions, or calendar days.
    clock : {"session", "calendar"}
        The clock on which it is periodic.
    harmonics : tuple of int
        Multiples of the fundamental frequency that the data show, the fundamental being 1.
    width : float, optional
        Width σ of the cycle's kernel in clock units, for encodings that spread a cycle over harmonics.
    strength : float
        How much of the planes it deserves relative to the others; any positive unit.
    p_value : float, optional
        Of its detection, search-wide; None for a prior.
    origin : {"detected", "prior", "tuned"}
    reason : str
        Why it is in the plan, in words.

    Raises
    ------
    PlanError
        If the period, a harmonic, the width or the strength is not a positive finite number, or a name is unknown.
    """

    period: float
    clock: Clock = "session"
    harmonics: tuple[int, ...] = (1,)
    width: float | None = None
    strength: float = 1.0
    p_value: float | None = None
    origin: Origin = "prior"
    reason: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.period) and self.period > 0):
            raise PlanError(f"a cycle needs a positive period; got {self.period!r} {self.clock} units")
        if self.clock not in CLOCKS:
            raise PlanError(f"a cycle lives on one of the clocks {CLOCKS}; got {self.clock!r}")
        if self.origin not in ORIGINS:
            raise PlanError(f"a cycle's origin is one of {ORIGINS}; got {self.origin!r}")
        if not self.harmonics or any(r < 1 or r != int(r) for r in self.harmonics):
            raise PlanError(f"harmonics are whole multiples ≥ 1 of the fundamental; got {self.harmonics!r}")
        if not (math.isfinite(self.strength) and self.strength > 0):
            raise PlanError(f"a cycle's strength is a positive number; got {self.strength!r}")
        if self.width is not None and not 0 < self.width < self.period:
            raise PlanError(f"a kernel of width {self.width} does not fit a cycle of {self.period} {self.clock} units")

    def __str__(self) -> str:
        unit = "sessions" if self.clock == "session" else "days"
        return f"{self.period:.4g} {unit}"


@dataclass(frozen=True, slots=True)
class Line:
    """One frequency of a plan: a harmonic of a cycle.

    Parameters
    ----------
    cycle : Cycle
    harmonic : int
    """

    cycle: Cycle
    harmonic: int

    @property
    def clock(self) -> Clock:
        """The clock that its place is read from."""
        return self.cycle.clock

    @property
    def frequency(self) -> float:
        """Turns per unit of the clock."""
        return self.harmonic / self.cycle.period


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
            If a period is shorter than two units of its clock, or not a positive number.
        """
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
        precision-weighted mean. A prior is replaced by the detected cycle that lies as close to it, and kept where
        nothing significant was found.

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
        detected = _pool(frame, alpha)[:most]
        cycles = list(detected)
        for prior in priors:
            near = [c for c in detected if c.clock == "session" and abs(math.log(c.period / prior)) < SAME_CYCLE]
            if not near:
                reason = f"prior of {prior:g} sessions kept: nothing significant was found near it"
                cycles.append(Cycle(float(prior), strength=_prior_strength(detected), reason=reason))
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
        first); what remains goes to the line with the most strength per plane it has (D'Hondt's rule). A harmonic
        counts half its cycle's strength.

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
        weight = [line.cycle.strength * (1.0 if line.harmonic == 1 else 0.5) for line in lines]
        count = [int(line.harmonic == min(line.cycle.harmonics)) for line in lines]
        while sum(count) < planes:
            best = max(range(len(lines)), key=lambda i: (count[i] == 0, weight[i] / (count[i] + 1), -i))
            count[best] += 1
        return tuple(line for line, n in zip(lines, count, strict=True) for _ in range(n))

    def strongest(self, planes: int) -> FrequencyPlan:
        """Return the strongest cycles whose lines fit into some planes, or this plan if all do.

        Detected cycles come before priors, whatever their strength; one that does not fit with all its harmonics is
        passed over for the next that does. At least one cycle stays.

        Parameters
        ----------
        planes : int
            One for each line.
        """
        if len(self.lines) <= planes:
            return self
        ranked = sorted(self.cycles, key=lambda c: (c.origin == "prior", -c.strength, c.period))
        kept, free = ranked[:1], planes - len(ranked[0].harmonics)
        for cycle in ranked[1:]:
            if len(cycle.harmonics) <= free:
                kept.append(cycle)
                free -= len(cycle.harmonics)
        return FrequencyPlan(tuple(kept))

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


def _number(period: object) -> float:
    try:
        return float(period)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise PlanError(f"a period is a number of clock units or a Cycle; got {period!r}") from error


def _pool(frame: pd.DataFrame, alpha: float) -> list[Cycle]:
    """Merge the significant, stable lines of all series into cycles, the strongest first."""
    rows = frame[(frame["q_value"] <= alpha) & frame["stable"]].sort_values("strength", ascending=False)
    groups: list[list[dict[str, Any]]] = []
    for position in range(len(rows)):
        row: dict[str, Any] = {str(name): value for name, value in rows.iloc[position].items()}
        home = next((g for g in groups if _same(g[0], row)), None)
        if home is None:
            groups.append([row])
        else:
            home.append(row)
    cycles = [_merge(group) for group in groups]
    return sorted(cycles, key=lambda c: -c.strength)


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    ratio = float(one["period"]) / float(other["period"])
    return one["clock"] == other["clock"] and abs(math.log(ratio)) < SAME_CYCLE


def _merge(group: list[dict[str, Any]]) -> Cycle:
    """Place one cycle at the precision-weighted mean of its lines, each series counting once."""
    import pandas as pd

    lines = pd.DataFrame(group).drop_duplicates("unique_id")
    precision = 1 / lines["period_se"].fillna(math.inf).clip(lower=1e-12, upper=_UNKNOWN_SE) ** 2
    period = float((lines["period"] * precision).sum() / precision.sum())
    harmonics = tuple(sorted({int(r) for cell in lines["harmonics"] for r in str(cell).split(",")} | {1}))
    names = ", ".join(lines["unique_id"].astype(str).head(5)) + (" …" if len(lines) > 5 else "")
    return Cycle(
        period=period,
        clock=lines["clock"].iloc[0],
        harmonics=harmonics,
        strength=float(lines["strength"].sum()),
        p_value=float(lines["p_value"].min()),
        origin="detected",
        reason=f"found in {names} (p = {lines['p_value'].min():.2g}, ± {float(precision.sum()) ** -0.5:.2g})",
    )


def _prior_strength(detected: Sequence[Cycle]) -> float:
    return 0.5 * min((c.strength for c in detected), default=2.0)
