"""Settings of a backtest: which models, on which windows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from fints.backtest.workers import Backend, cores
from fints.baselines.arima import ARIMAConfig
from fints.baselines.har import HARConfig
from fints.baselines.naive import NaiveConfig
from fints.baselines.registry import BASELINES, AnyBaselineConfig
from fints.encodings.combine import SplitConfig, SumConfig
from fints.encodings.config import CycleConfig, EncodingConfig
from fints.errors import UnknownNameError
from fints.settings.periods import PeriodSettings
from fints.settings.section import ChosenEncoding, DataSettings, Section, Seed, TrackingSettings, spelled_out
from fints.transformer.config import NetworkConfig, TrainingConfig

Budget = Literal["quick", "full"]

QUICK_WINDOWS, QUICK_STEPS = 20, 200
BRIEF: tuple[str, ...] = (f"n_windows={QUICK_WINDOWS}", f"training.max_steps={QUICK_STEPS}")
"""Settings of a quick budget where no configuration and no budget is given; each can be set otherwise."""
FULL_SEEDS = 3
_MOST_WORKERS = 8


class WorkerSettings(Section):
    """Where the jobs of a backtest are run.

    Attributes
    ----------
    count : int, optional
        Jobs at a time; by default one for each core of this machine, 8 at most.
    backend : {"loky", "ray", "dask", "spark"}
        Processes of this machine, or a cluster; all but the first need the extra of that name.
    threads : int
        Of each job. What a job finds may change with it in the last digits, and with nothing else here.
    address : str, optional
        Of a running Ray or Dask cluster; one is started on this machine by default.
    """

    count: int | None = Field(default=None, ge=1)
    backend: Backend = "loky"
    threads: int = Field(default=1, ge=1)
    address: str | None = None

    @property
    def wanted(self) -> int:
        """Jobs at a time."""
        return self.count or min(cores(), _MOST_WORKERS)


class TransformerEntry(Section):
    """A `CycleTransformer`.

    Attributes
    ----------
    name : str, optional
        Under which it stands in tables; said by its encoding, by default.
    encoding : encoding settings
    input_size : int, optional
        Bars of context; that of the backtest by default.
    context : int, optional
        Bars of context when it forecasts, where it is to show what it does with more than it was trained on.
    network, training : settings
        Where they differ from those of the backtest, key by key.
    random_seed : int, optional
        That of the backtest by default.
    """

    kind: Literal["transformer"] = "transformer"
    name: str | None = Field(default=None, min_length=1)
    encoding: ChosenEncoding = Field(default_factory=CycleConfig)
    input_size: int | None = Field(default=None, ge=2)
    context: int | None = Field(default=None, ge=2)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: Seed | None = None

    @property
    def label(self) -> str:
        """Name under which it stands in tables."""
        block = ", hstu" if self.network.block == "hstu" else ""
        others = ", cross-asset" if self.network.cross_asset else ""
        return self.name or f"CycleTransformer[{in_short(self.encoding)}{block}{others}]"


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
    *(
        TransformerEntry.model_validate({"encoding": key})
        for key in ("none", "absolute_sinusoidal", "alibi", "xpos", "rope", "cycle", "clock", "t_rope")
    ),
    NaiveConfig(),
    HARConfig(),
    HARConfig(calendar=True),
    ARIMAConfig(),
)


class BacktestSettings(DataSettings):
    """Settings of `fints backtest`, besides those of `DataSettings`.

    Attributes
    ----------
    h : int
        Bars ahead.
    trained_h : int, optional
        Bars ahead that transformers are trained for; `h` by default. With fewer, what they do beyond is extrapolation,
        and is measured.
    input_size : int
        Bars of context of a transformer. Where one takes part, every series must have it, and as many bars as it is
        trained for, before the first window.
    models : tuple of entries
        Transformers and baselines, each with a label of its own.
    against : str, optional
        Name of the model that all others are tested against; the best one by default.
    n_windows : int
        Rolling origins at the end of the data.
    test_size : int, optional
        Bars at the end of the data that the windows share out, instead of their number.
    step_size : int, optional
        Bars between origins; the horizon by default, so that windows do not overlap.
    refit : bool or int
        Whether models are fitted anew: never, in each window, or in every so many windows.
    train_size : int, optional
        Bars that models are fitted on at most, so that the training window rolls; all up to the cutoff by default.
    purge, embargo : int
        Bars taken off the end of the training rows: those whose target reaches beyond the cutoff (``auto``: as the
        target asks for), and further ones.
    warm_up : int, optional
        Training bars that a series needs before the first window; what the transformers need, by default.
    periods : PeriodSettings
        The plan is made once, from the rows up to the first cutoff.
    network, training : settings
        Of every transformer, where its entry says nothing else.
    random_seed : int
        The first seed.
    seeds : int
        Every model that draws random numbers is fitted with so many seeds, one after the other, and scored by the mean.
    workers : WorkerSettings
    tracking : TrackingSettings
    """

    targets: tuple[str, ...] = Field(default=("log_volume",), min_length=1)
    h: int = Field(default=20, ge=1)
    trained_h: int | None = Field(default=None, ge=1)
    input_size: int = Field(default=252, ge=2)
    models: tuple[AnyEntry, ...] = Field(default=DEFAULT_MODELS, min_length=1)
    against: str | None = None
    n_windows: int = Field(default=25, ge=1)
    test_size: int | None = Field(default=None, ge=1)
    step_size: int | None = Field(default=None, ge=1)
    refit: bool | Annotated[int, Field(ge=1)] = False
    train_size: int | None = Field(default=None, ge=2)
    purge: Literal["auto"] | Annotated[int, Field(ge=0)] = "auto"
    embargo: int = Field(default=0, ge=0)
    warm_up: int | None = Field(default=None, ge=1)
    periods: PeriodSettings = Field(default_factory=PeriodSettings)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: Seed = 0
    seeds: int = Field(default=1, ge=1)
    workers: WorkerSettings = Field(default_factory=WorkerSettings)
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

    @model_validator(mode="after")
    def _within_reach(self) -> Self:
        self.periods.require_resolved(self.interval)
        if self.trained_h is not None and self.trained_h > self.h:
            raise ValueError(f"trained_h: {self.trained_h} bars, and only {self.h} are forecast; raise h or lower it")
        if self.test_size is not None and (self.test_size < self.h or (self.test_size - self.h) % self.step):
            raise ValueError(
                f"test_size: {self.test_size} bars are not h and a number of steps, {self.h} and {self.step} bars each"
            )
        return self

    @property
    def step(self) -> int:
        """Bars between origins."""
        return self.step_size or self.h

    @property
    def windows(self) -> int:
        """Number of origins."""
        return self.n_windows if self.test_size is None else (self.test_size - self.h) // self.step + 1

    @property
    def learned_h(self) -> int:
        """Bars ahead that transformers are trained for."""
        return self.trained_h or self.h

    @property
    def digest(self) -> str:
        """Short hash of everything that decides the outcome."""
        return self.hash_without("tracking", "workers")

    def least_rows(self) -> int:
        """Return the training rows that every series needs before the first window; baselines ask for none here."""
        transformers = [entry for entry in self.models if isinstance(entry, TransformerEntry)]
        trained = [(entry.input_size or self.input_size) + self.learned_h for entry in transformers]
        return max(self.warm_up or 2, *trained, *(entry.context or 2 for entry in transformers), 2)

    def within(self, budget: Budget) -> Self:
        """Return these settings at another cost.

        Parameters
        ----------
        budget : {"quick", "full"}
            Quick, minutes: one seed, at most 20 windows and 200 training steps, no ensembles. Full, as long as it
            takes: as they stand, with three seeds or more.
        """
        if budget == "full":
            return self.model_copy(update={"seeds": max(self.seeds, FULL_SEEDS)})
        windows = min(self.windows, QUICK_WINDOWS)
        update = {"seeds": 1, "n_windows": windows, "test_size": None, "training": _brief(self.training)}
        return self.model_copy(update={**update, "models": tuple(map(_brief_entry, self.models))})

    def network_of(self, entry: TransformerEntry) -> NetworkConfig:
        """Return the network of a transformer: its own keys over those of the backtest."""
        return self.network.model_copy(
            update={key: getattr(entry.network, key) for key in entry.network.model_fields_set}
        )

    def training_of(self, entry: TransformerEntry) -> TrainingConfig:
        """Return the training of a transformer: its own keys over those of the backtest."""
        own = entry.training
        return self.training.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})


def _brief(training: TrainingConfig) -> TrainingConfig:
    """Shorten a training; what it did not say itself stays unsaid."""
    short = {"max_steps": min(training.max_steps, QUICK_STEPS), "members": 1}
    return training.model_copy(update=short)


def _brief_entry(entry: Entry) -> Entry:
    """Shorten the training of an entry where it says more than that of the backtest."""
    if not isinstance(entry, TransformerEntry):
        return entry
    brief, said = _brief(entry.training), entry.training.model_fields_set
    own = TrainingConfig.model_validate({key: getattr(brief, key) for key in said})
    return entry.model_copy(update={"training": own})


def in_short(encoding: EncodingConfig) -> str:
    """Name an encoding by its kinds: ``cycle``, ``alibi + rope``, ``rope | clock``."""
    match encoding:
        case SumConfig(parts=parts):
            return " + ".join(in_short(part) for part in parts)
        case SplitConfig(parts=shares):
            return " | ".join(in_short(part.encoding) for part in shares)
        case _:
            return encoding.kind
