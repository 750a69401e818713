"""Settings of a night."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from fints.baselines.registry import BASELINES
from fints.conformal.adaptive import Pace
from fints.encodings.config import CycleConfig
from fints.errors import UnknownNameError
from fints.settings.alerts import AlertSettings
from fints.settings.catch_up import CatchUpSettings
from fints.settings.champion import ChampionSettings
from fints.settings.periods import PeriodSettings
from fints.settings.section import ChosenEncoding, DataSettings, Section, Seed, TrackingSettings
from fints.transformer.config import NetworkConfig, TrainingConfig


class HoldoutSettings(Section):
    """How the models are compared before they are believed; weights and bands are learned from the same forecasts.

    Attributes
    ----------
    n_windows : int
        Rolling origins at the end of the data.
    step_size : int, optional
        Bars between origins; half of the horizon by default. Windows then overlap, which the tests between models
        allow for.
    """

    n_windows: int = Field(default=24, ge=1)
    step_size: int | None = Field(default=None, ge=1)


class CombinationSettings(Section):
    """Which forecasters a night averages.

    Attributes
    ----------
    enabled : bool
        Whether the night ships the average; otherwise the transformer alone.
    members : tuple of str
        Names from `fints.baselines.BASELINES`, beside the transformer.
    """

    enabled: bool = True
    members: tuple[str, ...] = ("har_calendar", "gradient_boosting")

    @field_validator("members", mode="before")
    @classmethod
    def _one_name_is_a_list_of_one(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("members")
    @classmethod
    def _are_baselines(cls, members: tuple[str, ...]) -> tuple[str, ...]:
        if not members:
            raise ValueError("name at least one baseline beside the transformer, or set enabled: false")
        for member in members:
            if member == "transformer":
                raise ValueError("the transformer takes part without being named; name the baselines beside it")
            if member not in BASELINES:
                raise ValueError(str(UnknownNameError("baseline", member, BASELINES)))
        return members

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        labels = [BASELINES[member].label for member in self.members]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(f"members: {', '.join(twice)} would take part more than once; name each member once")
        return self


class BandSettings(Section):
    """How the bands of a night follow what came; see `fints.conformal`.

    Attributes
    ----------
    adaptive : bool
        Whether they do; otherwise they are corrected by the errors of the hold-out alone.
    half_life : float
        Sessions in which the smoothed size of the errors forgets half.
    rate : float
        Step of the quantile trackers each session, in widths of the band.
    shrink : float
        Share of a fall in the size of the errors that bands follow; a rise is followed fully.
    """

    adaptive: bool = True
    half_life: float = Field(default=Pace().half_life, gt=0, allow_inf_nan=False)
    rate: float = Field(default=Pace().rate, ge=0, lt=1)
    shrink: float = Field(default=Pace().shrink, ge=0, le=1)

    @property
    def pace(self) -> Pace:
        """How fast bands follow."""
        return Pace(self.half_life, self.rate, self.shrink)


class NightWorkers(Section):
    """Where the targets of a night are worked on.

    Attributes
    ----------
    count : int, optional
        Targets at a time, each in a process of its own; by default as many as this machine has cores.
    threads : int
        Of each. What a night finds may change with it in the last digits, and with nothing else here.
    """

    count: int | None = Field(default=None, ge=1)
    threads: int = Field(default=1, ge=1)


class NightlySettings(DataSettings):
    """Settings of `fints nightly` and `fints ingest`, besides those of `DataSettings`.

    Attributes
    ----------
    h : int
        Bars ahead.
    input_size : int
        Bars of context.
    periods : PeriodSettings
    encoding : encoding settings
    network : NetworkConfig
    training : TrainingConfig
    random_seed : int
    holdout : HoldoutSettings
    combination : CombinationSettings
    bands : BandSettings
    retrain_every : int
        Every so many sessions, counted from 1970, a new model is fitted; the nights until the next share it.
    workers : NightWorkers
    tracking : TrackingSettings
    catch_up : CatchUpSettings
    alerts : AlertSettings
        When earlier forecasts break what was promised, and who is told.
    champion : ChampionSettings
        When another model is used.
    """

    h: int = Field(default=20, ge=1)
    input_size: int = Field(default=252, ge=2)
    periods: PeriodSettings = Field(default_factory=PeriodSettings)
    encoding: ChosenEncoding = Field(default_factory=CycleConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: Seed = 0
    holdout: HoldoutSettings = Field(default_factory=HoldoutSettings)
    combination: CombinationSettings = Field(default_factory=CombinationSettings)
    bands: BandSettings = Field(default_factory=BandSettings)
    retrain_every: int = Field(default=20, ge=1)
    workers: NightWorkers = Field(default_factory=NightWorkers)
    tracking: TrackingSettings = Field(default_factory=TrackingSettings)
    catch_up: CatchUpSettings = Field(default_factory=CatchUpSettings)
    alerts: AlertSettings = Field(default_factory=AlertSettings)
    champion: ChampionSettings = Field(default_factory=ChampionSettings)

    @model_validator(mode="after")
    def _resolves_its_cycles(self) -> Self:
        self.periods.require_resolved(self.interval)
        return self

    @property
    def digest(self) -> str:
        """Short hash of everything that decides what a fitted model is."""
        return self.hash_without("tracking", "retrain_every", "workers", "alerts", "catch_up", "champion")
