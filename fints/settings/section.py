"""Settings that several commands share."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from fints.bars.sources import SampleConfig, SourceConfig
from fints.encodings.registry import AnyEncodingConfig

Seed = Annotated[int, Field(ge=0, lt=2**63)]
"""Of a random generator; torch takes no larger one."""


def spelled_out(value: object) -> object:
    """Let a bare key stand for its defaults."""
    return {"kind": value} if isinstance(value, str) else value


ChosenEncoding = Annotated[AnyEncodingConfig, BeforeValidator(spelled_out)]
"""Settings of an encoding, or its key."""


class Section(BaseModel):
    """Base of all settings: immutable, and unknown keys fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def hash_without(self, *keys: str) -> str:
        """Return a short hash of all that is set, some keys left out."""
        decisive = self.model_dump(mode="json", exclude=set(keys))
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:12]


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


class DataSettings(Section):
    """Which series a command works on.

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
    """

    dataset: str = Field(default="sample", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    source: SourceConfig = Field(default_factory=SampleConfig)
    symbols: tuple[str, ...] | None = None
    interval: str = "1d"
    exchange: str | None = None
    targets: tuple[str, ...] = Field(default=("log_volume", "log_range"), min_length=1)

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

    @field_validator("symbols", mode="before")
    @classmethod
    def _symbols_are_text(cls, value: object) -> object:
        """Refuse what YAML turned into something else: NO, 1E5 and 0700 are symbols too."""
        for symbol in value if isinstance(value, list | tuple) else ():
            if not isinstance(symbol, str):
                raise ValueError(f"YAML read the symbol {symbol!r} as {type(symbol).__name__}; put it in quotes")  # noqa: TRY004
        return value
