"""Where bars come from: one protocol, and one configuration model per source, told apart by ``kind``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from fints.bars.sources.base import BarRequest, BarSource, Delivery
from fints.bars.sources.chain_config import ChainConfig
from fints.bars.sources.config import (
    FilesConfig,
    FolderConfig,
    HttpConfig,
    SampleConfig,
    SyntheticConfig,
    YahooConfig,
)
from fints.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "SOURCES",
    "BarRequest",
    "BarSource",
    "ChainConfig",
    "Delivery",
    "FilesConfig",
    "FolderConfig",
    "HttpConfig",
    "SampleConfig",
    "SourceConfig",
    "SyntheticConfig",
    "YahooConfig",
    "make_source",
    "parse_source",
]

SourceConfig = Annotated[
    SampleConfig | FilesConfig | FolderConfig | HttpConfig | ChainConfig | SyntheticConfig | YahooConfig,
    Field(discriminator="kind"),
]

#: Every source, with what it is.
SOURCES: Final[Mapping[str, str]] = {
    "sample": "embedded real daily bars of ^GSPC and ^IXIC 1999 to 2018; ^VIX and WTI on request; offline",
    "files": "CSV or Parquet: a file, a folder or a zip archive, with column mapping",
    "folder": "a folder that another job fills with CSV, Parquet or zip files",
    "http": "a provider that answers with CSV or JSON over HTTP, by URL template",
    "chain": "several sources: the next where one fails, and a second one to check the first",
    "synthetic": "seeded series with planted cycles, red noise, trend, breaks and an intraday profile",
    "yahoo": "Yahoo Finance through yfinance",
}


def parse_source(settings: Mapping[str, object]) -> SourceConfig:
    """Turn settings into the configuration of a source.

    Parameters
    ----------
    settings : mapping
        With the key ``kind``, one of ``SOURCES``, and the options of that source.

    Raises
    ------
    UnknownNameError
        No such source.
    ConfigError
        An option is unknown or out of range.
    """
    kind = settings.get("kind")
    if kind not in SOURCES:
        raise UnknownNameError("source", str(kind), SOURCES)
    try:
        config: SourceConfig = TypeAdapter(SourceConfig, config=ConfigDict(hide_input_in_errors=True)).validate_python(
            dict(settings)
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        raise ConfigError(f"source {kind!r}, option {where or '(all)'}: {first['msg']}") from error
    return config


def make_source(config: SourceConfig) -> BarSource:  # noqa: PLR0911 - one for each kind
    """Build the source that a configuration describes."""
    match config:
        case SampleConfig():
            from fints.bars.sources.sample import SampleSource

            return SampleSource()
        case FilesConfig():
            from fints.bars.sources.files import FilesSource

            return FilesSource(config)
        case FolderConfig():
            from fints.bars.sources.folder import FolderSource

            return FolderSource(config)
        case HttpConfig():
            from fints.bars.sources.http import HttpSource

            return HttpSource(config)
        case ChainConfig():
            return _make_chain(config)
        case SyntheticConfig():
            from fints.bars.sources.synthetic import SyntheticSource

            return SyntheticSource(config)
        case YahooConfig():
            from fints.bars.sources.yahoo import YahooSource

            return YahooSource(config)


def _make_chain(config: ChainConfig) -> BarSource:
    from fints.bars.sources.chain import ChainSource, Member
    from fints.bars.sources.cross_check import Bounds

    members = [Member(make_source(member.source), member.symbols, member.called) for member in config.sources]
    return ChainSource(members, Bounds(config.tolerance, config.volume_factor) if config.cross_check else None)
