"""Bring the store up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.ingest import IngestPolicy, ingest
from fints.bars.sources import SampleConfig
from fints.bars.sources.sample import DEFAULT_SYMBOLS
from fints.errors import ConfigError, DataError
from pipelines.terminal import counted

if TYPE_CHECKING:
    from fints.bars.ingest import IngestReport
    from fints.bars.sources import BarSource
    from fints.bars.store import BarStore
    from fints.settings import DataSettings
    from pipelines.progress import Stages


def wanted_symbols(source: BarSource, settings: DataSettings) -> list[str]:
    """Return the configured symbols, or all that the source lists (of the sample: those with volume).

    Raises
    ------
    ConfigError
        If there are neither.
    """
    listed = DEFAULT_SYMBOLS if isinstance(settings.source, SampleConfig) else source.symbols()
    wanted = list(settings.symbols or listed)
    if not wanted:
        raise ConfigError(f"the source {source.name} lists no symbols; name them under `symbols:`")
    return wanted


def update(
    source: BarSource, store: BarStore, settings: DataSettings, stages: Stages, now: pd.Timestamp
) -> IngestReport:
    """Fetch, check and commit what is new, in one transaction.

    Raises
    ------
    UnknownNameError
        If the source does not have a symbol.
    StoreError
        If the store cannot be written.
    """
    wanted = wanted_symbols(source, settings)
    with stages.stage(f"ingest {counted(len(wanted), 'symbol')} from {source.name}") as stage:
        return ingest(
            source,
            store,
            symbols=wanted,
            interval=settings.interval,
            exchange=settings.exchange,
            now=now,
            policy=IngestPolicy(
                refetch=settings.refetch,
                settle=pd.Timedelta(minutes=settings.settle),
                inactive_after=settings.inactive_after,
            ),
            progress=lambda done, total, _symbol: stage(done, total),
        )


def stored_symbols(wanted: list[str], store: BarStore, settings: DataSettings, report: IngestReport) -> list[str]:
    """Return the wanted symbols of which there are bars, new or old.

    Raises
    ------
    DataError
        If there are none.
    """
    held = {settings.present_name(symbol) for symbol in store.symbols(settings.interval)}
    stored = [symbol for symbol in wanted if symbol in held]
    if not stored:
        causes = "; ".join(f"{symbol}: {cause}" for symbol, cause in report.failed.items())
        raise DataError(f"there are no bars of {', '.join(wanted)} at {settings.interval}. {causes}")
    return stored
