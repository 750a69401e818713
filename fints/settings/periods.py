"""Settings of the frequency plan: how it is found, or the cycles that it is made of."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from fints.errors import PlanError
from fints.plan import PRIOR_PERIODS, Cycle, FrequencyPlan
from fints.plan.cycle import NYQUIST_PERIOD, Clock, Origin
from fints.sessions import parse_interval
from fints.settings.section import Section


class CycleSettings(Section):
    """A cycle that is known beforehand; see `fints.plan.Cycle`.

    Attributes
    ----------
    period : float
        In units of `clock`: sessions, or calendar days.
    clock : {"session", "calendar"}
    harmonics : tuple of int
        Multiples of the fundamental frequency that are in the plan.
    width : float, optional
        Width σ of the cycle's kernel in clock units.
    strength : float
        How much of the planes it deserves relative to the others.
    origin : {"detected", "prior", "tuned"}
        Where it was found, before it was written down.
    reason : str
    """

    period: float
    clock: Clock = "session"
    harmonics: tuple[int, ...] = (1,)
    width: float | None = None
    strength: float = 1.0
    origin: Origin = "prior"
    reason: str = "set in periods.cycles"

    @field_validator("harmonics", mode="before")
    @classmethod
    def _one_number_is_a_list_of_one(cls, value: object) -> object:
        return [value] if isinstance(value, int) else value

    @model_validator(mode="after")
    def _is_a_cycle(self) -> Self:
        try:
            self.cycle()
        except PlanError as error:
            raise ValueError(str(error)) from error
        return self

    def cycle(self) -> Cycle:
        """Return the cycle."""
        return Cycle(
            self.period,
            self.clock,
            tuple(sorted(set(self.harmonics))),
            self.width,
            self.strength,
            origin=self.origin,
            reason=self.reason,
        )

    @classmethod
    def of(cls, cycle: Cycle) -> Self:
        """Write a cycle down as settings."""
        return cls(
            period=cycle.period,
            clock=cycle.clock,
            harmonics=cycle.harmonics,
            width=cycle.width,
            strength=cycle.strength,
            origin=cycle.origin,
            reason=cycle.reason,
        )


def _period_alone(value: object) -> object:
    """Let a number stand for a cycle of so many sessions."""
    return {"period": value} if isinstance(value, int | float) and not isinstance(value, bool) else value


ConfiguredCycle = Annotated[CycleSettings, BeforeValidator(_period_alone)]


class PeriodSettings(Section):
    """How the frequency plan is made.

    Attributes
    ----------
    detect : bool
        Whether the market's cycles are looked for; otherwise the priors are the plan. Off where there are `cycles`.
    priors : tuple of float
        Periods in sessions, kept where nothing significant is found near them.
    alpha : float
        Largest q-value of a detected cycle.
    most : int
        Largest number of detected cycles in the plan.
    cycles : tuple of CycleSettings, optional
        The plan as it stands: nothing is looked for, and no prior is added.
    """

    detect: bool = True
    priors: tuple[float, ...] = PRIOR_PERIODS
    alpha: float = Field(default=0.05, gt=0, lt=1)
    most: int = Field(default=4, ge=1)
    cycles: tuple[ConfiguredCycle, ...] | None = Field(default=None, min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_looked_for_where_all_is_said(cls, value: object) -> object:
        if not isinstance(value, dict) or value.get("cycles") is None:
            return value
        if value.get("detect") is True:
            raise ValueError(
                "detect: true looks for cycles, and cycles are the plan as it stands: drop one of the two, or set "
                "detect: false"
            )
        return {**value, "detect": False}

    @model_validator(mode="after")
    def _make_a_plan(self) -> Self:
        if self.cycles is not None:
            try:
                FrequencyPlan(tuple(cycle.cycle() for cycle in self.cycles))
            except PlanError as error:
                raise ValueError(f"cycles: {error}") from error
        return self

    def stated_plan(self) -> FrequencyPlan:
        """Return the plan that needs no data: the configured cycles, else the priors.

        Raises
        ------
        PlanError
            If a prior is no period.
        """
        if self.cycles is not None:
            return FrequencyPlan(tuple(cycle.cycle() for cycle in self.cycles))
        return FrequencyPlan.from_periods(self.priors)

    def told(self) -> str:
        """Say where the configured cycles come from; nothing where there are none."""
        if self.cycles is None:
            return ""
        tuned = sum(cycle.origin == "tuned" for cycle in self.cycles)
        which = ", all of them tuned" if tuned == len(self.cycles) else f", {tuned} of them tuned" if tuned else ""
        return (
            f"The cycles come from the settings (periods.cycles){which}; none was looked for. Figures on bars that "
            "they were chosen on flatter them."
        )

    def require_resolved(self, interval: str) -> None:
        """Refuse cycles that daily bars cannot show.

        Raises
        ------
        ValueError
            Naming them.
        """
        if self.cycles is None or parse_interval(interval) is not None:
            return
        short = [str(cycle.cycle()) for cycle in self.cycles if cycle.period < NYQUIST_PERIOD]
        if short:
            raise ValueError(
                f"periods.cycles: {', '.join(short)} is shorter than the {NYQUIST_PERIOD:g} that daily bars resolve; "
                "drop it, or set interval to that of your bars"
            )
