"""What is searched: settings, the same in Python and YAML."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Switch = Literal["on", "off", "search"]
Number = int | float


def _spelled(value: object) -> object:
    """Take true and false, as YAML 1.1 reads on and off, for the words."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Range(_Frozen):
    """Numbers from `low` to `high`.

    Attributes
    ----------
    low, high : float
    log : bool
        Alike in logarithm: 0.001 to 0.01 as often as 0.01 to 0.1.
    """

    low: float
    high: float
    log: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low < self.high or (self.log and self.low <= 0):
            positive = ", both above 0 with log" if self.log else ""
            raise ValueError(f"a range runs from low up to high{positive}; got {self.low:g} to {self.high:g}")
        return self


Choices = Annotated[tuple[bool | int | float | str, ...], Field(min_length=1)]
Knob = Range | Choices
"""A range of numbers, or a list to choose from."""


class BankSpace(_Frozen):
    """The data-free option: periods in a geometric row, which three numbers describe.

    Attributes
    ----------
    shortest : Range
        Shortest period, in sessions.
    ratio : Range
        Of each period to the one before it.
    counts : tuple of int
        Numbers of periods to choose from.
    """

    shortest: Range = Range(low=2.5, high=30, log=True)
    ratio: Range = Range(low=1.5, high=5, log=True)
    counts: tuple[int, ...] = Field(default=(2, 3, 4, 5), min_length=1)


class ClockSpace(_Frozen):
    """ClockRoPE's kernel.

    Attributes
    ----------
    sigma_over_period : Range, optional
        Width of the Gaussian in periods; beyond 0.14 the kernel does not fall off within its period, and below 1/12 it
        wants a `truncation` of 1/πσ. Not searched by default: no width was shown to forecast better than another (study
        ``kernel-width``).
    truncation : tuple of int, optional
        Largest harmonics to choose from.
    laws : tuple of str, optional
    """

    sigma_over_period: Range | None = None
    truncation: tuple[int, ...] | None = None
    laws: tuple[str, ...] | None = None


class TRopeSpace(_Frozen):
    """T-RoPE's start.

    Attributes
    ----------
    sigma : Range, optional
        Scale of the first α.
    epoch : tuple of float, optional
        Unix seconds to choose from.
    shared : bool
        Search whether queries and keys have the same α, then with a standard key.
    plan_share : Range, optional
        Share of the planes that start at a period of the plan.
    """

    sigma: Range | None = Range(low=0.05, high=1.0, log=True)
    epoch: tuple[float, ...] | None = None
    shared: bool = False
    plan_share: Range | None = None


class SpaceConfig(_Frozen):
    r"""The search space.

    Attributes
    ----------
    periods : {"anchors", "bank", "fixed"}
        Periods ``anchor · exp(δ)`` with the plan's as anchors; a bank that needs no plan; or the plan's as they are.
    cycles : tuple of str, optional
        Names of the cycles whose period is searched (``"20 sessions"``, ``"7 days"``); all by default.
    guard : float
        Largest \|δ\|. Beyond 0.35 one anchor reaches the next of a usual plan.
    standard_errors : float
        Half-width of the search of a detected period, in standard errors.
    learn : {"on", "off", "search"}
        Whether training moves the frequencies from where a trial starts them. With ``on`` this holds while the search
        is coarse; when it is fine, periods are kept as proposed. See `fints.tuning.refinement`.
    frequency_rate : Range, optional
        Of `TrainingConfig.frequency_rate`.
    harmonics : bool
        Search whether cycles keep their harmonics.
    plans : bool
        Search which plan to start from: the one given, the prior of 5, 20, 60 and 252 sessions, or a bank.
    encodings : tuple, optional
        Kinds or settings of encodings to choose from; by default the base model's stays.
    share : Range, optional
        Share of the planes that a cycle or a clock gets.
    split : Range, optional
        Share that the first of the two parts of a split gets.
    base : tuple of float, optional
        Bases of the rope schedule to choose from.
    bank : BankSpace
    clock : ClockSpace, optional
    t_rope : TRopeSpace, optional
    network, training : mapping
        Settings of the network and of its training, by name: a range, or a list to choose from.
    """

    periods: Literal["anchors", "bank", "fixed"] = "anchors"
    cycles: tuple[str, ...] | None = None
    guard: float = Field(default=0.35, gt=0, le=0.35)
    standard_errors: float = Field(default=5.0, gt=0)
    learn: Annotated[Switch, BeforeValidator(_spelled)] = "on"
    frequency_rate: Range | None = None
    harmonics: bool = False
    plans: bool = False
    encodings: tuple[str | dict[str, object], ...] | None = Field(default=None, min_length=1)
    share: Range | None = None
    split: Range | None = None
    base: tuple[float, ...] | None = Field(default=None, min_length=1)
    bank: BankSpace = BankSpace()
    clock: ClockSpace | None = None
    t_rope: TRopeSpace | None = None
    network: dict[str, Knob] = Field(default_factory=dict)
    training: dict[str, Knob] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> Self:
        from fints.transformer import NetworkConfig, TrainingConfig

        for section, settings in (("network", NetworkConfig), ("training", TrainingConfig)):
            unknown = sorted(set(getattr(self, section)) - set(settings.model_fields))
            if unknown:
                raise ValueError(
                    f"{section} searches {', '.join(unknown)}, which no {section} has; "
                    f"choose from {', '.join(sorted(settings.model_fields))}"
                )
        return self
