"""Bring the store up to date."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.ingest import IngestPolicy, ingest
from fints.bars.nights import NightTable
from fints.bars.sources import SampleConfig
from fints.bars.sources.sample import DEFAULT_SYMBOLS
from fints.errors import ConfigError, DataError
from pipelines.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fints.bars.ingest import IngestReport
    from fints.bars.sources import BarSource
    from fints.bars.store import BarStore
    from fints.settings import DataSettings
    from pipelines.progress import Stages

_NOT_LISTED: Final = (
    ". The source lists it no longer, and the last night forecast it: where it is not wanted any more, name the others "
    "under `symbols`"
)


def wanted_symbols(source: BarSource, settings: DataSettings, before: Iterable[str] = ()) -> list[str]:
    """Return the configured symbols, or all that the source lists (of the sample: those with volume).

    Parameters
    ----------
    source : BarSource
    settings : DataSettings
    before : iterable of str, optional
        Symbols of the last night. Where none are configured, a live source that lists one of them no longer is asked
        for it all the same, and says why it is not there: it would be gone without a word.

    Raises
    ------
    ConfigError
        If there are neither.
    """
    listed = DEFAULT_SYMBOLS if isinstance(settings.source, SampleConfig) else source.symbols()
    known = [settings.present_name(symbol) for symbol in before] if source.live else []
    wanted = list(settings.symbols or dict.fromkeys([*listed, *known]))
    if not wanted:
        raise ConfigError(f"the source {source.name} lists no symbols; name them under `symbols:`")
    return wanted


def last_symbols(store: BarStore, settings: DataSettings) -> tuple[str, ...]:
    """Return the symbols of the night that was done last; none where symbols are configured."""
    if settings.symbols:
        return ()
    lines = NightTable.under(store.root).read(settings.dataset, settings.interval)
    return next((line.symbols for line in reversed(lines) if line.state == "done"), ())


def update(
    source: BarSource, store: BarStore, settings: DataSettings, stages: Stages, now: pd.Timestamp
) -> IngestReport:
    """Fetch, check and commit what is new, in one transaction.

    The symbols of the last night are asked for, too, see :func:`wanted_symbols`.

    Raises
    ------
    UnknownNameError
        If the source does not have a symbol.
    StoreError
        If the store cannot be written.
    """
    wanted = wanted_symbols(source, settings, last_symbols(store, settings))
    with stages.stage(f"ingest {counted(len(wanted), 'symbol')} from {source.name}") as stage:
        report = ingest(
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
    if settings.symbols or not report.failed or not source.live:
        return report
    gone = set(wanted) - set(source.symbols())
    told = {name: cause + _NOT_LISTED if name in gone else cause for name, cause in report.failed.items()}
    return replace(report, failed=told)


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
