"""Settings of a search for frequencies and encoding settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from pydantic import BeforeValidator, Field, field_serializer, field_validator, model_validator

from fints.backtest.workers import cores
from fints.bars.place import full_path
from fints.encodings.config import CycleConfig
from fints.settings.periods import PeriodSettings
from fints.settings.section import ChosenEncoding, DataSettings, Section, Seed, TrackingSettings
from fints.transformer.config import NetworkConfig, TrainingConfig
from fints.tuning.config import SpaceConfig

if TYPE_CHECKING:
    from pathlib import Path

    from fints.settings.backtest import Budget

QUICK_TRIALS, QUICK_SECONDS, QUICK_STEPS = 20, 600.0, 100
QUICK_FOLDS, QUICK_CONFIRM, QUICK_BLOCK = 3, 2, 8
"""Few fits, from each of which many origins are forecast: forecasts cost next to nothing."""

BRIEF: tuple[str, ...] = (
    f"trials={QUICK_TRIALS}",
    f"timeout={QUICK_SECONDS:g}",
    f"folds.n_folds={QUICK_FOLDS}",
    f"folds.confirm_folds={QUICK_CONFIRM}",
    f"folds.block={QUICK_BLOCK}",
    f"training.max_steps={QUICK_STEPS}",
)
"""Settings of a quick budget where no configuration and no budget is given; each can be set otherwise."""
FULL_TRIALS = 100
_MOST_WORKERS = 8


class FoldSettings(Section):
    """Which bars the search learns from and is judged on; the three parts follow each other and share no bar forecast.

    Attributes
    ----------
    n_folds : int
        Fits in a trial, each on the rows up to its cutoff.
    block : int
        Origins that are forecast from after each fit.
    step_size : int
        Bars between them.
    confirm_folds, confirm_windows : int
        Fits after those of the search, and origins that are shared out among them. The search never looks at them: a
        gain has to be confirmed on them.
    confirm_h : int, optional
        Bars forecast from each of these origins; `h` by default. Where the bars allow for few windows of that length,
        fewer bars make more of them, and chance is told from a gain sooner.
    test_windows : int
        Origins at the end of the data, on which the outcome is judged once.
    apart : int, optional
        Bars between origins of the confirmation, and of the test; their horizons by default. Windows that overlap
        count together in the tests.
    purge : "auto" or int
        Bars taken off the end of the training rows: those whose target reaches beyond the cutoff.
    train_size : int, optional
        Bars that models are fitted on at most, the latest (rolling); all up to the cutoff by default.
    """

    n_folds: int = Field(default=5, ge=1)
    block: int = Field(default=4, ge=1)
    step_size: int = Field(default=20, ge=1)
    confirm_folds: int = Field(default=4, ge=1)
    confirm_windows: int = Field(default=8, ge=1)
    confirm_h: int | None = Field(default=None, ge=1)
    test_windows: int = Field(default=8, ge=1)
    apart: int | None = Field(default=None, ge=1)
    purge: Literal["auto"] | Annotated[int, Field(ge=0)] = "auto"
    train_size: int | None = Field(default=None, ge=2)


class ObjectiveSettings(Section):
    """What a trial is judged by.

    Attributes
    ----------
    score : {"rmse", "crps"}
        Beyond the trained horizon, in standard deviations of the context.
    cost : bool
        Whether the seconds of a trial are a second objective; then nothing is pruned.
    """

    score: Literal["rmse", "crps"] = "rmse"
    cost: bool = False


class StorageSettings(Section):
    """Where the trials are kept.

    Attributes
    ----------
    url : str, optional
        ``postgresql://user@host/database``, or the path of a journal file; by default a journal under the home.
        Settings that are shown or kept have no password.
    heartbeat, grace : int
        Seconds between two signs of life of a trial in a database, and after the last of them until it is given up.
    """

    url: str | None = None
    heartbeat: int = Field(default=60, ge=1)
    grace: int = Field(default=180, ge=1)

    @field_validator("url")
    @classmethod
    def _password_in_its_place(cls, url: str | None) -> str | None:
        """Move a password from the options of an address to where everybody knows to hide it."""
        parts = urlsplit(url or "")
        options = dict(parse_qsl(parts.query))
        if "://" not in (url or "") or "password" not in options:
            return url
        user, secret = options.pop("user", parts.username or ""), options.pop("password")
        place = f"{quote(user)}:{quote(secret, safe='')}@{parts.netloc.rpartition('@')[2]}"
        return urlunsplit(parts._replace(netloc=place, query=urlencode(options)))

    @field_serializer("url")
    def _without_password(self, url: str | None) -> str | None:
        parts = urlsplit(url or "")
        if not parts.password:
            return url
        return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")))

    def place(self, folder: Path, name: str) -> str | Path:
        """Return the address of the database, or the journal of a study.

        Parameters
        ----------
        folder : pathlib.Path
            Of the journals that are not named.
        name : str
            Of the study.
        """
        if self.url is None:
            return folder / f"{name}.journal"
        return self.url if "://" in self.url else full_path(self.url, "storage.url")


def _address_alone(value: object) -> object:
    """Let an address stand for settings."""
    return {"url": value} if isinstance(value, str) else value


class TuneSettings(DataSettings):
    """Settings of `fints tune`, besides those of `DataSettings`.

    Attributes
    ----------
    targets : tuple of str
        One.
    h : int
        Bars ahead that are forecast and scored.
    trained_h : int
        Bars ahead that transformers are trained for; beyond is extrapolation, which the search is judged by.
    input_size : int
        Bars of context.
    space : SpaceConfig
        What is searched.
    folds : FoldSettings
    objective : ObjectiveSettings
    sampler : {"auto", "gp", "tpe", "random"}
    fine : float
        Share of the trials that look closely around the best ones; none with ``random``.
    prune : bool
        Whether trials that are worse than the best by more than chance are cut short.
    trials : int
        Trials in all, those of earlier runs of the study counted.
    timeout : float, optional
        Seconds after which no trial is begun.
    workers : int, optional
        Trials at a time on this machine; by default one for each core, 8 at most.
    name : str, optional
        Of the study; by default made of the data and of these settings, so that the same search goes on.
    storage : StorageSettings
    warm_start : str, optional
        Name of a study whose best points are tried first.
    periods : PeriodSettings
        The plan that the search starts from is made of the rows up to the first inner cutoff.
    encoding, network, training : settings
        That a trial starts from.
    random_seed : int
    tracking : TrackingSettings
    """

    targets: tuple[str, ...] = Field(default=("log_volume",), min_length=1)
    h: int = Field(default=50, ge=1)
    trained_h: int = Field(default=20, ge=1)
    input_size: int = Field(default=252, ge=2)
    space: SpaceConfig = Field(default_factory=SpaceConfig)
    folds: FoldSettings = Field(default_factory=FoldSettings)
    objective: ObjectiveSettings = Field(default_factory=ObjectiveSettings)
    sampler: Literal["auto", "gp", "tpe", "random"] = "auto"
    fine: float = Field(default=0.5, ge=0, lt=1)
    prune: bool = True
    trials: int = Field(default=40, ge=1)
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    workers: int | None = Field(default=None, ge=1)
    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    storage: Annotated[StorageSettings, BeforeValidator(_address_alone)] = Field(default_factory=StorageSettings)
    warm_start: str | None = None
    periods: PeriodSettings = Field(default_factory=PeriodSettings)
    encoding: ChosenEncoding = Field(default_factory=CycleConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: Seed = 0
    tracking: TrackingSettings = Field(default_factory=TrackingSettings)

    @model_validator(mode="after")
    def _is_one_search(self) -> Self:
        if len(self.targets) > 1:
            raise ValueError(f"targets: one is tuned at a time, not {', '.join(self.targets)}; run fints tune for each")
        if self.trained_h > self.h:
            raise ValueError(f"trained_h: {self.trained_h} bars, and only {self.h} are forecast; raise h or lower it")
        reach = self.folds.confirm_h
        if reach is not None and not min(self.trained_h + 1, self.h) <= reach <= self.h:
            raise ValueError(
                f"folds.confirm_h: {reach} bars; a confirmation reaches beyond trained_h, {self.trained_h} bars, and "
                f"no further than h, {self.h}"
            )
        if self.storage.grace <= self.storage.heartbeat:  # said here, where the address is not repeated
            raise ValueError(
                f"storage.grace: {self.storage.grace} s are over before the next sign of life, after "
                f"{self.storage.heartbeat} s; raise it"
            )
        self.periods.require_resolved(self.interval)
        return self

    @property
    def target(self) -> str:
        """What is forecast."""
        return self.targets[0]

    @property
    def wanted_workers(self) -> int:
        """Trials at a time."""
        return self.workers or min(cores(), _MOST_WORKERS)

    @property
    def digest(self) -> str:
        """Short hash of everything that decides what a trial finds, and how trials are chosen."""
        return self.hash_without("tracking", "workers", "storage", "name", "trials", "timeout", "warm_start")

    def within(self, budget: Budget) -> Self:
        """Return these settings at another cost.

        Parameters
        ----------
        budget : {"quick", "full"}
            Quick, minutes: at most 20 trials in ten minutes, three folds and two that confirm, of eight origins or
            more, 100 training steps, no ensembles. Full, as long as it takes: as they stand, with 100 trials or more
            and no limit in time.
        """
        if budget == "full":
            return self.model_copy(update={"trials": max(self.trials, FULL_TRIALS), "timeout": None})
        folds = {
            "n_folds": min(self.folds.n_folds, QUICK_FOLDS),
            "confirm_folds": min(self.folds.confirm_folds, QUICK_CONFIRM),
            "block": max(self.folds.block, QUICK_BLOCK),
        }
        short = {"max_steps": min(self.training.max_steps, QUICK_STEPS), "members": 1}
        update = {
            "trials": min(self.trials, QUICK_TRIALS),
            "timeout": min(self.timeout or QUICK_SECONDS, QUICK_SECONDS),
            "folds": self.folds.model_copy(update=folds),
            "training": self.training.model_copy(update=short),
        }
        return self.model_copy(update=update)
