"""Settings of the sources: what a configuration file may say under ``source``."""

from __future__ import annotations

from datetime import date
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, field_validator, model_validator

from fints.bars.sources.http_address import check_template, names_token


class _Config(BaseModel):
    """Base of the source settings: frozen, unknown options fail."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def texts(value: object) -> object:
    """Pass a symbol, or a list or mapping of symbols, unless YAML turned one into something else: NO, 1E5, 0700.

    Raises
    ------
    ValueError
        It did; the message says which.
    """
    parts = (
        [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
    )
    for part in parts:
        if part is not None and not isinstance(part, str):
            raise ValueError(f"YAML read the symbol {part!r} as {type(part).__name__}; put it in quotes")
    return value


class SampleConfig(_Config):
    """The embedded sample; it has no options."""

    kind: Literal["sample"] = "sample"


class TableConfig(_Config):
    """How tables that a vendor wrote are read.

    Attributes
    ----------
    columns : dict of str to str
        From a column of the bars (``open, high, low, close, adj_close, volume, symbol, currency``; ``date`` and
        ``time`` for the stamp, one or both) to the vendor's name. Common names are found without it.
    symbol : str, optional
        Symbol of every row. By default the symbol column, and without one the file's name (without its ending).
    interval : str, optional
        Interval of the bars; by default the one asked for.
    exchange : str, optional
        Their exchange, MIC or name; by default what the ingest says, or XNYS.
    timezone : str, optional
        IANA zone of stamps that carry none; by default the exchange's.
    stamp : {"start", "end", "session"}
        What the stamp of an intraday row means; a daily row is stamped with its session in any case.
    currency : str
        Currency of the prices, unless a column says it.
    separator, decimal, thousands : str, optional
        Of a CSV; the separator is found from the header by default.
    date_format : str, optional
        ``strptime`` format of the stamp, where it is not obvious.
    """

    columns: dict[str, str] = Field(default_factory=dict)
    symbol: str | None = None
    interval: str | None = None
    exchange: str | None = None
    timezone: str | None = None
    stamp: Literal["start", "end", "session"] = "start"
    currency: str = "USD"
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    decimal: Annotated[str, Field(min_length=1, max_length=1)] = "."
    thousands: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    date_format: str | None = None

    @field_validator("symbol", mode="before")
    @classmethod
    def _text(cls, value: object) -> object:
        return texts(value)


class FilesConfig(TableConfig):
    """Bars from files; the other options are those of :class:`TableConfig`.

    Attributes
    ----------
    path : pathlib.Path
        A CSV or Parquet file, a zip archive of such files, or a folder that is read with its subfolders.
    """

    kind: Literal["files"] = "files"
    path: Path


class FolderConfig(TableConfig):
    """A folder that another job fills; the other options are those of :class:`TableConfig`.

    Attributes
    ----------
    path : pathlib.Path
        The folder; it is read with its subfolders.
    glob : str
        Which files of it are read, relative to it, as in ``"*.csv"`` or ``"daily/**/*.parquet"``.
    quiet : float
        Seconds that a file has to lie unchanged before it is read. A younger one is looked at twice, so far apart.
    unterminated : bool
        Whether a CSV is read though its last line has no line end. By default it counts as half-written.
    """

    kind: Literal["folder"] = "folder"
    path: Path
    glob: Annotated[str, Field(min_length=1)] = "**/*"
    quiet: Annotated[float, Field(ge=0, le=600)] = 2.0
    unterminated: bool = False

    @field_validator("glob")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        if value.startswith(("/", "~")) or ".." in PurePosixPath(value).parts:
            raise ValueError("the pattern is relative to the folder and may not lead out of it")
        return value


class HttpConfig(TableConfig):
    """A provider that answers over HTTP; the other options are those of :class:`TableConfig`.

    Attributes
    ----------
    url : str
        Address with ``{symbol}`` and, as the provider needs them, ``{start:%Y-%m-%d}``, ``{end:%Y-%m-%d}`` and
        ``{interval}`` in its path or query; dates also as ``{start:epoch}`` or ``{start:epoch_ms}``.
    name : str
        Written to the column ``source``.
    format : {"csv", "json"}, optional
        Of the answers; by default as they look.
    rows : str
        Where in JSON the rows are, as in ``"data.bars"`` or ``"chart.result.0"``; by default at the top.
    intervals : dict of str to str
        From our name of an interval to the provider's; an interval that is not there is not asked for.
    since : datetime.date
        What ``{start}`` says where all history is asked for.
    end : {"inclusive", "exclusive"}
        Whether the provider delivers the day that ``{end}`` says.
    token_env : str, optional
        Environment variable that holds the token. The token itself never stands in a configuration.
    token_header, token_prefix : str
        Header that it is sent in, and what stands before it. Where the provider takes it in the address only, ``url``
        says ``{token}`` and no header is sent; the settings, messages and runs show the template.
    timeout : float
        Seconds without any answer; a whole answer may take five times as long.
    workers : int
        Symbols asked for at once, until the provider asks to slow down.
    attempts : int
        Tries per symbol, the first included, and rounds in a row in which nothing may be delivered.
    wait : float
        Seconds of the first pause between two rounds; it doubles as long as nothing is delivered, with up to half as
        much again at random. A pause of up to a minute that the provider asks for is kept.
    budget : float
        Seconds that pauses and failed requests may take in all, before what is left is given up for this time.
    limit_mb : int
        MB that an answer may have, unpacked.
    """

    kind: Literal["http"] = "http"
    url: str
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = "http"
    format: Literal["csv", "json"] | None = None
    rows: str = ""
    intervals: dict[str, str] = Field(default_factory=dict)
    since: date = date(1970, 1, 1)
    end: Literal["inclusive", "exclusive"] = "inclusive"
    token_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    token_header: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")] = "Authorization"
    token_prefix: Annotated[str, Field(pattern=r"^[ -~]*$")] = "Bearer "
    timeout: PositiveFloat = 20.0
    workers: Annotated[int, Field(ge=1, le=16)] = 1
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    wait: Annotated[float, Field(ge=0, le=600)] = 1.0
    budget: Annotated[float, Field(ge=0)] = 600.0
    limit_mb: Annotated[int, Field(ge=1, le=1024)] = 64

    @field_validator("url")
    @classmethod
    def _is_a_template(cls, value: str) -> str:
        return check_template(value)

    @field_validator("symbol")
    @classmethod
    def _is_asked_for(cls, value: str | None) -> str | None:
        if value is not None:
            raise ValueError("each request names its symbol; leave this option out")
        return value

    @model_validator(mode="after")
    def _has_a_token(self) -> HttpConfig:
        if self.token_env is None and names_token(self.url):
            raise ValueError("the address names the {token}; say as `token_env` which environment variable holds it")
        return self


class PlantedCycle(_Config):
    """A sinusoid in the log volume of a synthetic series.

    Attributes
    ----------
    period : float
        In units of ``clock``.
    clock : {"session", "calendar"}
        Trading sessions, or calendar days.
    amplitude : float
        Of the log volume.
    phase : float
        Radians, at the first bar's place 0 of the clock.
    """

    period: PositiveFloat
    clock: Literal["session", "calendar"] = "session"
    amplitude: float = 0.3
    phase: float = 0.0


class PlantedBreak(_Config):
    """A lasting step in the log volume from a session on."""

    session: date
    step: float


class SyntheticConfig(_Config):
    """Seeded series.

    Attributes
    ----------
    names : tuple of str
        Symbols; each has noise of its own and shares everything planted.
    exchange, interval : str
        Whose sessions, and how long a bar is.
    start, end : datetime.date
        First and last session.
    seed : int
        Of the noise.
    cycles, breaks : tuple
        What is planted in the log volume.
    trend : float
        Growth of the log volume per year of 252 sessions.
    noise, persistence : float
        Standard deviation, and first-order autocorrelation per bar, of the red noise in the log volume.
    volatility : float
        Standard deviation of a session's log return.
    smile : float
        Extra log volume at the open and the close over the middle of the session, intraday.
    """

    kind: Literal["synthetic"] = "synthetic"
    names: tuple[str, ...] = ("SYNA", "SYNB")
    exchange: str = "XNYS"
    interval: str = "1d"
    start: date = date(2010, 1, 4)
    end: date = date(2018, 12, 31)
    seed: int = 0
    cycles: tuple[PlantedCycle, ...] = (PlantedCycle(period=5.0), PlantedCycle(period=21.0, amplitude=0.2))
    breaks: tuple[PlantedBreak, ...] = ()
    trend: float = 0.05
    noise: Annotated[float, Field(ge=0)] = 0.2
    persistence: Annotated[float, Field(ge=0, lt=1)] = 0.7
    volatility: PositiveFloat = 0.01
    smile: float = 1.0

    @field_validator("names", mode="before")
    @classmethod
    def _texts(cls, value: object) -> object:
        return texts(value)


class YahooConfig(_Config):
    """Yahoo Finance.

    Attributes
    ----------
    exchange : str, optional
        Exchange of every symbol; by default from what Yahoo says of each.
    timeout : float
        Seconds that one request may take.
    workers : int
        Symbols asked for at once, until Yahoo asks to slow down.
    attempts : int
        Tries per symbol, the first included, and rounds in a row in which nothing may be delivered.
    wait : float
        Seconds of the first pause between two rounds; it doubles as long as nothing is delivered, with up to half as
        much again at random.
    budget : float
        Seconds that pauses and failed requests may take in all, before what is left is given up for this time.
    cache : pathlib.Path, optional
        Folder of yfinance's cookies; by default one of this process, so that other programs cannot lock it.
    """

    kind: Literal["yahoo"] = "yahoo"
    exchange: str | None = None
    timeout: PositiveFloat = 20.0
    workers: Annotated[int, Field(ge=1, le=16)] = 4
    attempts: Annotated[int, Field(ge=1, le=10)] = 4
    wait: Annotated[float, Field(ge=0, le=600)] = 2.0
    budget: Annotated[float, Field(ge=0)] = 600.0
    cache: Path | None = None
