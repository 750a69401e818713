"""Settings that several commands share."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_serializer, field_validator, model_validator

from fints.bars.aliases import followed
from fints.bars.sources import SampleConfig, SourceConfig
from fints.encodings.registry import AnyEncodingConfig
from fints.errors import ConfigError
from fints.tracking.redaction import public

Seed = Annotated[int, Field(ge=0, lt=2**63)]
"""Of a random generator; torch takes no larger one."""


def spelled_out(value: object) -> object:
    """Let a bare key stand for its defaults."""
    return {"kind": value} if isinstance(value, str) else value


ChosenEncoding = Annotated[AnyEncodingConfig, BeforeValidator(spelled_out)]
"""Settings of an encoding, or its key."""


_NO_SIGNS: Final = "\"'<>`\\"


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
        Of a tracking server or database; a file under the home by default. It may name a user and a password; what is
        written of settings, in files and runs and reports, leaves them out.
    """

    enabled: bool = True
    uri: str | None = None

    @field_serializer("uri", when_used="json-unless-none")
    def _names_nobody(self, uri: str) -> str:
        return public(uri)

    @field_validator("uri")
    @classmethod
    def _can_be_taken_apart(cls, uri: str | None) -> str | None:
        """Refuse what libraries would read in another way than it was meant, and then repeat a part of."""
        _, marks, place = (uri or "").partition("://")
        user = "" if place.startswith("/") else place.rpartition("@")[0]
        spelled = "spell other signs than letters and digits in a user or a password as %20, %2F, %40 …"
        if marks and any(not c.isprintable() or c.isspace() or c in _NO_SIGNS for c in user):
            raise ValueError(f"the user or the password has a sign that no address holds; {spelled}")
        if (uri or "").startswith(("http:", "https:")) and not _names_a_host(uri or ""):
            raise ValueError(f"it names no host, or a port that is no number; {spelled}")
        return uri


def _names_a_host(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


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
    settle : float
        Minutes after its close from which a bar is final.
    refetch : int
        Trailing sessions that a live source is asked for again each time.
    inactive_after : int
        Nights in a row on which a live source has to say that a symbol does not exist before it is no longer asked for
        (except once in a while; its bars stay); 0 asks for ever.
    aliases : dict of str to str
        From the former name of a symbol to its present one, as in ``{FB: META}``: bars stored under the former name
        are the earlier history of the present one, which is the name to list under ``symbols``.
    """

    dataset: str = Field(default="sample", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    source: SourceConfig = Field(default_factory=SampleConfig)
    symbols: tuple[str, ...] | None = None
    interval: str = "1d"
    exchange: str | None = None
    targets: tuple[str, ...] = Field(default=("log_volume", "log_range"), min_length=1)
    settle: float = Field(default=15.0, ge=0, le=1440)
    refetch: int = Field(default=5, ge=0, le=260)
    inactive_after: int = Field(default=5, ge=0)
    aliases: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _named_after_its_source(cls, value: object) -> object:
        """Keep data of different kinds apart where the dataset has no name."""
        if not isinstance(value, dict) or "dataset" in value:
            return value
        source = value.get("source")
        kind = source.get("kind") if isinstance(source, dict) else getattr(source, "kind", None)
        return {**value, "dataset": kind if isinstance(kind, str) else "sample"}

    def hash_without(self, *keys: str) -> str:
        """Return a short hash of all that is set and bears on results: how bars are fetched does not."""
        return super().hash_without("settle", "refetch", "inactive_after", *keys)

    def present_name(self, symbol: str) -> str:
        """Return the name that a symbol goes by now."""
        return followed(self.aliases).get(symbol, symbol)

    @model_validator(mode="after")
    def _former_names_are_not_asked_for(self) -> DataSettings:
        try:
            chain = followed(self.aliases)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        for former, present in chain.items():
            if former in (self.symbols or ()):
                raise ValueError(
                    f"symbols: {former} is by `aliases` a former name of {present}; list {present} instead, it takes "
                    f"the history of {former} along"
                )
        return self

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
