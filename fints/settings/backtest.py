"""Settings of a backtest: which models, on which windows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from fints.baselines.har import HARConfig
from fints.baselines.naive import NaiveConfig, SeasonalNaiveConfig
from fints.baselines.registry import BASELINES, AnyBaselineConfig
from fints.encodings.combine import SplitConfig, SumConfig
from fints.encodings.config import CycleConfig, EncodingConfig, RopeConfig
from fints.errors import UnknownNameError
from fints.settings.section import (
    ChosenEncoding,
    DataSettings,
    PeriodSettings,
    Section,
    Seed,
    TrackingSettings,
    spelled_out,
)
from fints.transformer.config import NetworkConfig, TrainingConfig


class TransformerEntry(Section):
    """A `CycleTransformer`.

    Attributes
    ----------
    name : str, optional
        Under which it stands in tables; said by its encoding, by default.
    encoding : encoding settings
    input_size : int, optional
        Bars of context; that of the backtest by default.
    network, training : settings
        Where they differ from those of the backtest, key by key.
    random_seed : int, optional
        That of the backtest by default.
    """

    kind: Literal["transformer"] = "transformer"
    name: str | None = Field(default=None, min_length=1)
    encoding: ChosenEncoding = Field(default_factory=CycleConfig)
    input_size: int | None = Field(default=None, ge=2)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: Seed | None = None

    @property
    def label(self) -> str:
        """Name under which it stands in tables."""
        block = ", hstu" if self.network.block == "hstu" else ""
        return self.name or f"CycleTransformer[{in_short(self.encoding)}{block}]"


def by_name(value: object) -> object:
    """Let a name stand for settings: that of a baseline as it is usually taken, or a kind."""
    if isinstance(value, str) and value != "transformer":
        if value not in BASELINES:
            raise ValueError(str(UnknownNameError("model", value, ["transformer", *BASELINES])))
        return BASELINES[value]
    return spelled_out(value)


Entry = TransformerEntry | AnyBaselineConfig
AnyEntry = Annotated[Annotated[Entry, Field(discriminator="kind")], BeforeValidator(by_name)]

DEFAULT_MODELS: tuple[Entry, ...] = (
    TransformerEntry(),
    TransformerEntry(encoding=RopeConfig()),
    HARConfig(),
    HARConfig(calendar=True),
    NaiveConfig(),
    SeasonalNaiveConfig(),
)


class BacktestSettings(DataSettings):
    """Settings of `fints backtest`, besides those of `DataSettings`.

    Attributes
    ----------
    h : int
        Bars ahead.
    input_size : int
        Bars of context, which every series must have before the first window, whatever the models.
    models : tuple of entries
        Transformers and baselines, each with a label of its own.
    against : str, optional
        Name of the model that all others are tested against; the best one by default.
    n_windows : int
        Rolling origins at the end of the data.
    step_size : int, optional
        Bars between origins; the horizon by default, so that windows do not overlap.
    refit : bool or int
        Whether models are fitted anew: never, in each window, or in every so many windows.
    embargo : int
        Bars taken off the end of the training rows.
    periods : PeriodSettings
        The plan is made once, from the rows up to the first cutoff.
    network, training : settings
        Of every transformer, where its entry says nothing else.
    random_seed : int
    tracking : TrackingSettings
    """

    targets: tuple[str, ...] = Field(default=("log_volume",), min_length=1)
    h: int = Field(default=20, ge=1)
    input_size: int = Field(default=252, ge=2)
    models: tuple[AnyEntry, ...] = Field(default=DEFAULT_MODELS, min_length=1)
    against: str | None = None
    n_windows: int = Field(default=25, ge=1)
    step_size: int | None = Field(default=None, ge=1)
    refit: bool | Annotated[int, Field(ge=1)] = False
    embargo: int = Field(default=0, ge=0)
    periods: PeriodSettings = Field(default_factory=PeriodSettings)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: Seed = 0
    tracking: TrackingSettings = Field(default_factory=TrackingSettings)

    @field_validator("models", mode="before")
    @classmethod
    def _one_model_is_a_list_of_one(cls, value: object) -> object:
        return [value] if isinstance(value, str | dict) else value

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        labels = [entry.label for entry in self.models]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(
                f"models need names of their own; {', '.join(twice)} stands there more than once: set name"
            )
        if self.against is not None and self.against not in labels:
            raise ValueError(f"against: there is no model {self.against!r}; choose from {', '.join(labels)}")
        return self

    @property
    def step(self) -> int:
        """Bars between origins."""
        return self.step_size or self.h

    @property
    def digest(self) -> str:
        """Short hash of everything that decides the outcome."""
        return self.hash_without("tracking")

    def longest_input(self) -> int:
        """Return the longest context of any model."""
        own = [entry.input_size for entry in self.models if isinstance(entry, TransformerEntry)]
        return max((size or self.input_size for size in own), default=self.input_size)

    def network_of(self, entry: TransformerEntry) -> NetworkConfig:
        """Return the network of a transformer: its own keys over those of the backtest."""
        return self.network.model_copy(
            update={key: getattr(entry.network, key) for key in entry.network.model_fields_set}
        )

    def training_of(self, entry: TransformerEntry) -> TrainingConfig:
        """Return the training of a transformer: its own keys over those of the backtest."""
        own = entry.training
        return self.training.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})


def in_short(encoding: EncodingConfig) -> str:
    """Name an encoding by its kinds: ``cycle``, ``alibi + rope``, ``rope | clock``."""
    match encoding:
        case SumConfig(parts=parts):
            return " + ".join(in_short(part) for part in parts)
        case SplitConfig(parts=shares):
            return " | ".join(in_short(part.encoding) for part in shares)
        case _:
            return encoding.kind
