"""Settings of a chain of sources."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, field_validator, model_validator

from fints.bars.sources.config import (
    FilesConfig,
    FolderConfig,
    HttpConfig,
    SampleConfig,
    SyntheticConfig,
    YahooConfig,
    texts,
)

MemberSource = Annotated[
    SampleConfig | FilesConfig | FolderConfig | HttpConfig | SyntheticConfig | YahooConfig, Field(discriminator="kind")
]
"""What may stand in a chain."""


class ChainMember(BaseModel):
    """A source in a chain: its own settings, and ``symbols`` and ``name`` beside them.

    Attributes
    ----------
    source : source settings
        Where it asks.
    symbols : dict of str to str
        From our symbols to those of the source, where they differ, as in ``{BRK-B: BRK.B}``.
    name : str, optional
        What it is called in notes and in the column ``source``; by default its kind, or the name that its own settings
        give it. Two sources of one kind need one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: MemberSource
    symbols: dict[str, str] = Field(default_factory=dict)
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] | None = None

    @property
    def called(self) -> str:
        """What it is called."""
        return self.name or str(getattr(self.source, "name", self.source.kind))

    @model_validator(mode="before")
    @classmethod
    def _side_by_side(cls, value: object) -> object:
        if not isinstance(value, dict) or "source" in value:
            return value
        settings = dict(value)
        # a provider over HTTP has a name among its own settings
        ours = ("symbols",) if settings.get("kind") == "http" else ("symbols", "name")
        beside = {key: settings.pop(key) for key in ours if key in settings}
        return {"source": settings, **beside}

    @field_validator("symbols", mode="before")
    @classmethod
    def _texts(cls, value: object) -> object:
        return texts(value)


class ChainConfig(BaseModel):
    """Several sources, asked in turn until one delivers.

    Attributes
    ----------
    sources : tuple
        Settings of each source, with ``symbols`` where it spells some of them otherwise. The first one counts.
    cross_check : bool
        Whether the next source is asked too, to report where the two differ. The first one's values stay.
    tolerance : float
        Share of the close by which they may differ.
    volume_factor : float, optional
        Factor by which the volumes may differ; none compares no volumes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["chain"] = "chain"
    sources: Annotated[tuple[ChainMember, ...], Field(min_length=2)]
    cross_check: bool = False
    tolerance: PositiveFloat = 0.005
    volume_factor: Annotated[float, Field(gt=1)] | None = 3.0

    @field_validator("sources")
    @classmethod
    def _told_apart(cls, value: tuple[ChainMember, ...]) -> tuple[ChainMember, ...]:
        names = [member.called for member in value]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two sources are called {twice[0]!r}; give one of them another `name`")
        return value
