"""Settings of the application, read from YAML: every key is known, or it is an error."""

from __future__ import annotations

import hashlib
import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from fints.bars.sources import SampleConfig, SourceConfig
from fints.encodings.config import CycleConfig
from fints.encodings.registry import AnyEncodingConfig
from fints.errors import ConfigError
from fints.plan import PRIOR_PERIODS
from fints.transformer.config import NetworkConfig, TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pydantic_core import ErrorDetails


class Section(BaseModel):
    """Base of all settings: immutable, and unknown keys fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PeriodSettings(Section):
    """How the frequency plan is made.

    Attributes
    ----------
    detect : bool
        Whether the market's cycles are looked for; otherwise the priors are the plan.
    priors : tuple of float
        Periods in sessions, kept where nothing significant is found near them.
    alpha : float
        Largest q-value of a detected cycle.
    most : int
        Largest number of detected cycles in the plan.
    """

    detect: bool = True
    priors: tuple[float, ...] = PRIOR_PERIODS
    alpha: float = Field(default=0.05, gt=0, lt=1)
    most: int = Field(default=4, ge=1)


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


class TrackingSettings(Section):
    """Where MLflow runs go.

    Attributes
    ----------
    enabled : bool
    uri : str, optional
        Of a tracking server or database; a file under the home by default.
    """

    enabled: bool = True
    uri: str | None = None


class NightlySettings(Section):
    """Settings of `fints nightly` and `fints ingest`.

    Attributes
    ----------
    dataset : str
        Name under which runs, reports and models are kept; the kind of the source by default.
    source : source settings
        Where bars come from.
    symbols : tuple of str, optional
        All that the source lists, by default.
    interval : str
        Of the bars: ``1d``, ``1h``, ``30m`` …
    exchange : str, optional
        Exchange of the symbols where the source does not know it.
    targets : tuple of str
        What is forecast.
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

    dataset: str = Field(default="sample", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    source: SourceConfig = Field(default_factory=SampleConfig)
    symbols: tuple[str, ...] | None = None
    interval: str = "1d"
    exchange: str | None = None
    targets: tuple[str, ...] = Field(default=("log_volume", "log_range"), min_length=1)
    h: int = Field(default=20, ge=1)
    input_size: int = Field(default=252, ge=2)
    periods: PeriodSettings = Field(default_factory=PeriodSettings)
    encoding: AnyEncodingConfig = Field(default_factory=CycleConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    random_seed: int = Field(default=0, ge=0)
    holdout: HoldoutSettings = Field(default_factory=HoldoutSettings)
    retrain_every: int = Field(default=20, ge=1)
    tracking: TrackingSettings = Field(default_factory=TrackingSettings)

    @model_validator(mode="before")
    @classmethod
    def _named_after_its_source(cls, value: object) -> object:
        """Keep data of different kinds apart where the dataset has no name."""
        if not isinstance(value, dict) or "dataset" in value:
            return value
        source = value.get("source")
        kind = source.get("kind") if isinstance(source, dict) else getattr(source, "kind", None)
        return {**value, "dataset": kind if isinstance(kind, str) else "sample"}

    @field_validator("targets", "symbols", mode="before")
    @classmethod
    def _one_name_is_a_list_of_one(cls, value: object) -> object:
        names = [value] if isinstance(value, str) else value
        if isinstance(names, list | tuple) and len(set(map(str, names))) < len(names):
            raise ValueError("a name stands twice; name each once")
        return names

    @field_validator("encoding", mode="before")
    @classmethod
    def _a_key_stands_for_its_defaults(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value

    @field_validator("symbols", mode="before")
    @classmethod
    def _symbols_are_text(cls, value: object) -> object:
        """Refuse what YAML turned into something else: NO, 1E5 and 0700 are symbols too."""
        for symbol in value if isinstance(value, list | tuple) else ():
            if not isinstance(symbol, str):
                raise ValueError(f"YAML read the symbol {symbol!r} as {type(symbol).__name__}; put it in quotes")  # noqa: TRY004
        return value

    @property
    def digest(self) -> str:
        """Short hash of everything that decides what a fitted model is."""
        decisive = self.model_dump(mode="json", exclude={"tracking", "retrain_every"})
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:12]


def load_settings(path: Path | None = None, overrides: Iterable[str] = ()) -> NightlySettings:
    """Read settings.

    Parameters
    ----------
    path : Path, optional
        A YAML file; defaults where it is silent, and throughout if there is none.
    overrides : iterable of str
        ``key=value`` with dots for nested keys; values are YAML: ``h=10``, ``encoding.kind=rope``.

    Raises
    ------
    ConfigError
        If the file cannot be read, a key is unknown, or a value does not fit; every offender is named.
    """
    value = _read(path) if path is not None else {}
    for override in overrides:
        _put(value, override)
    try:
        return NightlySettings.model_validate(value)
    except ValidationError as error:
        where = f" in {path}" if path is not None else ""
        faults = "; ".join(_in_words(e) for e in error.errors())
        raise ConfigError(f"the settings{where} do not fit: {faults}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no settings file {path}; check --config") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"the settings file {path} cannot be read: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"the settings file {path} holds a {type(value).__name__}; write `key: value` lines")
    return value


def _put(value: dict[str, Any], override: str) -> None:
    """Put one ``key=value`` into nested settings."""
    key, separator, text = override.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"--set takes key=value; got {override!r}")
    try:
        new = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"the value of --set {key} is not YAML: {error}") from error
    *parents, last = key.strip().split(".")
    place = value
    for parent in parents:
        inner = place.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set {key}: {parent} is a single value and has no keys inside")
        place = inner
    if last == "kind" and place.get("kind", new) != new:
        place.clear()
    place[last] = new


def _in_words(error: ErrorDetails) -> str:
    """Say what is wrong with one key, with the closest known one where it is unknown."""
    place = [str(part) for part in error["loc"]]
    name = ".".join(place)
    if error["type"] != "extra_forbidden":
        return f"{name}: {error['msg'].removeprefix('Value error, ')} (got {error['input']!r})"
    known = _keys_beside(place)
    close = get_close_matches(place[-1], known, n=1)
    hint = f", did you mean {close[0]!r}" if close else ""
    return f"unknown key {name!r}{hint} (known here: {', '.join(known) or 'see the documentation'})"


def _keys_beside(place: list[str]) -> list[str]:
    """Return the keys that exist where an unknown one was found."""
    inside: Any = NightlySettings
    for part in place[:-1]:
        if hasattr(inside, "model_fields"):
            inside = getattr(inside.model_fields.get(part), "annotation", None)
        else:
            inside = next((m for m in _members(inside) if m.model_fields["kind"].default == part), None)
    return sorted(inside.model_fields) if hasattr(inside, "model_fields") else []


def _members(union: object) -> list[type[BaseModel]]:
    """Models of a union that is told apart by ``kind``."""
    every = [member for argument in get_args(union) for member in (argument, *_members(argument))]
    return [member for member in every if "kind" in getattr(member, "model_fields", {})]
