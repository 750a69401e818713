"""Bars that a command works on: brought up to date, read, and cut to what was known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.basis import adjust, find_splits, split_sentences
from fints.bars.instruments import read_instruments
from fints.bars.snapshot import Snapshot
from fints.bars.sources import make_source
from fints.bars.store import BarStore
from fints.errors import CalendarError
from pipelines import clock
from pipelines.asof import observe
from pipelines.datable import undatable
from pipelines.ingest import last_symbols, stored_symbols, update, wanted_symbols

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fints.bars.ingest import IngestReport
    from fints.settings import DataSettings
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stages

PATIENCE = 300.0
"""Seconds that those wait for another run who hold the home only to gather: a night holds it until it is over."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Which bars are read, the same in every process.

    Parameters
    ----------
    folder : pathlib.Path
        Of the store.
    symbols : tuple of str
    aliases : mapping from former to present symbol
        Whose bars are the earlier history of the present one.
    interval : str
    version : int
        Of the bars in the store.
    settle : pandas.Timedelta
        A bar is final this long after its close.
    live : bool
        Whether the source follows the market.
    asked : pandas.Timestamp, optional
        As-of as it was asked for; everything known by `now` by default.
    now : pandas.Timestamp
    actions_version : int
        Of the splits and distributions in the store.
    strict : bool
        Whether an as-of after the data is refused; otherwise late bars are noted.
    """

    folder: Path
    symbols: tuple[str, ...]
    aliases: Mapping[str, str]
    interval: str
    version: int
    settle: pd.Timedelta
    live: bool
    asked: pd.Timestamp | None
    now: pd.Timestamp
    actions_version: int
    strict: bool = True

    def bars(self) -> tuple[pd.DataFrame, AsOf]:
        """Read what was known at the as-of, on the basis of the newest shares then."""
        store = Snapshot(self.folder, self.version, self.actions_version)
        bars = read_instruments(store, self.symbols, self.interval, aliases=self.aliases)
        bars, as_of = observe(bars, self.asked, live=self.live, now=self.now, settle=self.settle, strict=self.strict)
        actions = store.actions(self.symbols)
        notes = split_sentences(find_splits(bars, actions))
        return adjust(bars, actions), replace(as_of, notes=(*as_of.notes, *notes))


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Bars, and how they came.

    Parameters
    ----------
    bars : pandas.DataFrame
        Up to the as-of.
    as_of : AsOf
    reading : Reading
        That gives them again.
    report : IngestReport
        Of the ingest before.
    """

    bars: pd.DataFrame
    as_of: AsOf
    reading: Reading
    report: IngestReport

    def let_go(self) -> Arrived:
        """Return what a night needs to know of the bars, without them: each of its targets reads its own."""
        ends = pd.DatetimeIndex(self.bars["end"].unique())
        exchanges = tuple(map(str, self.bars["exchange"].unique()))
        return Arrived(exchanges, ends, self.as_of, self.reading, self.report)


@dataclass(frozen=True, slots=True, eq=False)
class Arrived:
    """When bars ended and where, and how they came.

    Parameters
    ----------
    exchanges : tuple of str
        In the order of the bars.
    ends : pandas.DatetimeIndex
        Instants at which a bar ended, each once.
    as_of : AsOf
    reading : Reading
        That gives the bars.
    report : IngestReport
        Of the ingest before.
    """

    exchanges: tuple[str, ...]
    ends: pd.DatetimeIndex
    as_of: AsOf
    reading: Reading
    report: IngestReport

    def came(self, after: pd.Timestamp, until: pd.Timestamp) -> bool:
        """Say whether a bar became final after one instant and up to another."""
        final = self.ends + self.reading.settle
        return bool(((final > after) & (final <= until)).any())


def gather(settings: DataSettings, home: Home, stages: Stages, asked: pd.Timestamp | None = None) -> Gathered:
    """Bring the store up to date, and read it; the caller holds the home.

    Parameters
    ----------
    settings : DataSettings
    home : Home
    stages : Stages
    asked : pandas.Timestamp, optional
        As-of: a naive date or an instant; everything known now by default.

    Raises
    ------
    FintsError
        If no symbol that is wanted is stored, or the calendars of all of them are over.
    """
    now = clock.now()
    store, source = BarStore(home.store), make_source(settings.source)
    report = update(source, store, settings, stages, now)
    symbols = stored_symbols(wanted_symbols(source, settings, last_symbols(store, settings)), store, settings, report)
    reading = Reading(
        folder=home.store,
        symbols=tuple(symbols),
        aliases=settings.aliases,
        interval=settings.interval,
        version=store.version(),
        settle=pd.Timedelta(minutes=settings.settle),
        live=source.live,
        asked=asked,
        now=now,
        actions_version=store.version("actions"),
    )
    try:
        bars, as_of = reading.bars()
    except CalendarError:
        undated = undatable(store, symbols, settings.interval, now)
        left = tuple(symbol for symbol in symbols if symbol not in undated)
        if not undated or not left:
            raise
        reading, report = replace(reading, symbols=left), replace(report, failed={**report.failed, **undated})
        bars, as_of = reading.bars()
    return Gathered(bars, as_of, reading, report)
