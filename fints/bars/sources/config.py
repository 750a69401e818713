"""Settings of the sources: what a configuration file may say under ``source``."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat


class _Config(BaseModel):
    """Base of the source settings: frozen, unknown options fail."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SampleConfig(_Config):
    """The embedded sample; it has no options."""

    kind: Literal["sample"] = "sample"


class FilesConfig(_Config):
    """Bars from files.

    Attributes
    ----------
    path : pathlib.Path
        A CSV or Parquet file, a zip archive of such files, or a folder that is read with its subfolders.
    columns : dict of str to str
        From a column of the bars (``open, high, low, close, adj_close, volume, symbol, currency``; ``date`` and
        ``time`` for the stamp, one or both) to the name in the file. Common names are found without it.
    symbol : str, optional
        Symbol of every row. By default the symbol column, and without one the file's name (without its ending).
    interval : str, optional
        Interval of the bars in the files; by default the one asked for.
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

    kind: Literal["files"] = "files"
    path: Path
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


class YahooConfig(_Config):
    """Yahoo Finance.

    Attributes
    ----------
    exchange : str, optional
        Exchange of every symbol; by default from what Yahoo says of each.
    timeout : float
        Seconds that one request may take.
    attempts : int
        Tries per symbol, the first included.
    wait : float
        Seconds that the pause before the second try may last; it is random, and its limit doubles with each try.
    cache : pathlib.Path, optional
        Folder of yfinance's cache of time zones; by default one of this process, so that other programs cannot lock it.
    """

    kind: Literal["yahoo"] = "yahoo"
    exchange: str | None = None
    timeout: PositiveFloat = 20.0
    attempts: Annotated[int, Field(ge=1, le=10)] = 4
    wait: Annotated[float, Field(ge=0)] = 2.0
    cache: Path | None = None
