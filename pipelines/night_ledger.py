"""The ledger of one dataset's nights, and what can be read off it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints import __version__
from fints.bars.nights import NightEntry, NightTable
from fints.errors import FintsError
from pipelines import clock
from pipelines.outcome import Exit, exit_code

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fints.bars.nights import State
    from fints.settings import DataSettings
    from pipelines.gathered import Reading
    from pipelines.home import Home
    from pipelines.night_identity import Identity

ATTEMPTS: Final = 3
"""Times that a night is begun and killed, or fails, before it is given up: one that always does would block the others,
or cost its time night after night."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A night whose turn it is.

    Parameters
    ----------
    as_of : pandas.Timestamp
        A date, or an instant in UTC: its name.
    known_at : pandas.Timestamp
        Date or instant up to which bars and calendars count as known.
    asked : str
        As-of as it was asked for; empty where none was.
    reason : str
        Why it is run though nobody asked for it.
    remade : tuple of str
        Series that lacked bars, where only their forecasts are to be made again; empty where all are.
    """

    as_of: pd.Timestamp
    known_at: pd.Timestamp
    asked: str = ""
    reason: str = ""
    remade: tuple[str, ...] = ()

    @property
    def night(self) -> str:
        """Its name."""
        return spelled(self.as_of)

    def __str__(self) -> str:
        return f"the night of {self.night}"


@dataclass(frozen=True, slots=True)
class NightLedger:
    """Nights of one dataset and interval.

    Parameters
    ----------
    table : NightTable
    dataset, interval : str
    """

    table: NightTable
    dataset: str
    interval: str

    @classmethod
    def under(cls, home: Home, settings: DataSettings) -> NightLedger:
        """Return the ledger of a night's dataset."""
        return cls(NightTable.under(home.store), settings.dataset, settings.interval)

    def entries(self) -> tuple[NightEntry, ...]:
        """Return all entries, in the order in which they were made."""
        return self.table.read(self.dataset, self.interval)

    def draft(self, turn: Turn, reading: Reading, identity: Identity, state: State) -> NightEntry:
        """Return an entry, not yet entered."""
        return NightEntry(
            dataset=self.dataset,
            interval=self.interval,
            night=turn.night,
            as_of=instant_of(turn.as_of),
            known_at=spelled(turn.known_at),
            asked=turn.asked,
            made_at=reading.now,
            state=state,
            data_version=reading.version,
            actions_version=reading.actions_version,
            config=identity.config,
            calendar=identity.calendar,
            symbols=reading.symbols,
            fints=__version__,
            began_at=clock.now(),
            reason=turn.reason,
            remade=turn.remade,
        )

    def enter(self, *entries: NightEntry) -> tuple[NightEntry, ...]:
        """Enter entries in one transaction."""
        return self.table.enter(entries)

    def fail(self, begun: NightEntry, cause: Exception | str) -> NightEntry:
        """Enter that a night failed, and of what."""
        code = exit_code(cause) if isinstance(cause, FintsError) else Exit.FAILED
        said = cause if isinstance(cause, str) else str(cause) if isinstance(cause, FintsError) else _named(cause)
        return self.enter(replace(begun, state="failed", exit_code=int(code), reason=said, ended_at=clock.now()))[0]


def newest(entries: Iterable[NightEntry]) -> dict[str, NightEntry]:
    """Return the last entry of each night, by its name."""
    return {entry.night: entry for entry in entries}


def newest_done(entries: Iterable[NightEntry], config: str, before: pd.Timestamp) -> pd.Timestamp | None:
    """Return the as-of stamp of the newest night of a configuration that was done before an instant; None without one.

    What a clock that was wrong once dated later is left out.
    """
    done = (entry for entry in entries if entry.state == "done" and entry.config == config and entry.made_at < before)
    return max((entry.stamp for entry in done if entry.stamp is not None), default=None)


def regular(entries: Iterable[NightEntry], now: pd.Timestamp) -> list[NightEntry]:
    """Keep the nights of the schedule.

    Those that were only ever asked for by ``--as-of`` are left out, those of a source that follows no market, which are
    named by a date, and those that lie in the future, by a clock that was wrong once. So are runs that were to write a
    report again and did not end well: the night is done as it was before.
    """
    listed = _without_reports(entries)
    scheduled = {entry.night for entry in listed if not entry.asked}
    return [entry for entry in listed if entry.night in scheduled and "T" in entry.night and entry.as_of <= now]


def _without_reports(entries: Iterable[NightEntry]) -> list[NightEntry]:
    """Leave out what began or failed to write a report again: such a line tells of forecasts that a done one made."""
    kept: list[NightEntry] = []
    made: set[tuple[str, pd.Timestamp, int | None]] = set()
    for entry in entries:
        which = (entry.night, entry.made_at, entry.forecasts_version)
        if entry.state == "done":
            made.add(which)
        elif entry.state in {"begun", "failed"} and which in made:
            continue
        kept.append(entry)
    return kept


def attempts(entries: Iterable[NightEntry], night: str) -> int:
    """Count how often a night was begun since it last ended in any way."""
    count = 0
    for entry in entries:
        if entry.night == night:
            count = count + (entry.state == "begun") if entry.owed else 0
    return count


def failures(entries: Iterable[NightEntry], night: str) -> int:
    """Count how often a night failed since it last did not; as `ATTEMPTS` where it was given up.

    A failure counts once another night is done after it. While none is, the cause is no fault of this night's: a full
    disk, a library that is broken.
    """
    listed = list(entries)
    last = max((entry.number for entry in listed if entry.state == "done"), default=0)
    count = killed = 0
    for entry in listed:
        if entry.night != night or entry.state == "due":
            continue
        if entry.state == "failed":
            count = ATTEMPTS if killed >= ATTEMPTS else count + (entry.number < last)
        elif entry.state != "begun":
            count = 0
        killed = killed + 1 if entry.state == "begun" else 0
    return count


def spelled(moment: pd.Timestamp) -> str:
    """Write a date or an instant the one way in which it is compared."""
    if moment.tz is not None:
        return str(moment.tz_convert("UTC").isoformat())
    return f"{moment:%Y-%m-%d}" if moment == moment.normalize() else str(moment.isoformat())


def instant_of(moment: pd.Timestamp) -> pd.Timestamp:
    """Return an instant in UTC; a date stands for the midnight after it, when everything of its session is known."""
    if moment.tz is not None:
        return moment.tz_convert("UTC")
    return (moment + pd.Timedelta(days=1)).tz_localize("UTC")


def stored_result(page: Path) -> Path:
    """Return the file beside a night's page that holds its result for machines, but for the forecasts."""
    return page.with_suffix(".json")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
