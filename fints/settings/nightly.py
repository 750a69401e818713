"""Settings of a night."""

from __future__ import annotations

from pydantic import Field

from fints.encodings.config import CycleConfig
from fints.settings.section import ChosenEncoding, DataSettings, PeriodSettings, Section, Seed, TrackingSettings
from fints.transformer.config import NetworkConfig, TrainingConfig


class HoldoutSettings(Section):
    """How the model is compared with the baselines before it is believed.

    Attributes
    ----------
    n_windows : int
        Rolling origins at the end of the data.
    step_size : int, optional
        Bars between origins; the horizon by default, so that windows do not overlap.
    """

    n_windows: int = Field(default=12, ge=1)
    step_size: int | None = Field(default=None, ge=1)


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
    retrain_every : int
        Every so many sessions, counted from 1970, a new model is fitted; the nights until the next share it.
    tracking : TrackingSettings
    """

    h: int = Field(default=20, ge=1)
    input_size: int = Field(default=252, ge=2)
    periods: PeriodSettings = Field(default_factory=PeriodSettings)
    encoding: ChosenEncoding = Field(default_factory=CycleConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: Seed = 0
    holdout: HoldoutSettings = Field(default_factory=HoldoutSettings)
    retrain_every: int = Field(default=20, ge=1)
    tracking: TrackingSettings = Field(default_factory=TrackingSettings)

    @property
    def digest(self) -> str:
        """Short hash of everything that decides what a fitted model is."""
        return self.hash_without("tracking", "retrain_every")
