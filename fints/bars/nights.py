"""The ledger of nights: what was begun, done, skipped or failed, from which data and with which settings.

The table is only ever appended to. Each night has an entry before the work and one after it, so that one that was
killed is seen to be half done. Entries are numbered: their order is that of the numbers, whatever the clock said.

A night is named by its as-of: an instant (``2025-03-10T20:15:00+00:00``) where the source follows the market, else the
date that was asked for or that the data end on (``2018-12-31``). Together with the version of the bars and the hashes
of configuration and calendar it is the key by which a night that is done is recognised.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import pandas as pd

from fints.bars.table import StoreTable
from fints.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pyarrow as pa

State = Literal["due", "begun", "done", "failed", "skipped"]
STATES: Final = get_args(State)
NO_BAR: Final = "no bar of it has come"
"""Why a night is skipped that is run once its bars are there."""
_MAX_FILES: Final = 40  # each entry appends a small file; at this many the next one writes the table anew as one
_INSTANTS: Final = ("as_of", "made_at", "began_at", "ended_at")
_INTEGERS: Final = ("number", "data_version", "actions_version", "forecasts_version", "exit_code")


@dataclass(frozen=True, slots=True)
class NightEntry:
    """One line of the ledger.

    Parameters
    ----------
    dataset, interval : str
        Whose night it is.
    night : str
        Its name: a date, or an instant in UTC as ISO 8601.
    as_of : pandas.Timestamp
        The same as an instant in UTC; a date stands for the midnight after it.
    known_at : str
        Date or instant up to which bars and calendars counted as known; that of a night run on time is the clock's.
    asked : str
        As-of as it was asked for; empty where none was.
    made_at : pandas.Timestamp
        Instant of the run, UTC: ``fetched_at`` of what it ingested and ``created_at`` of its forecasts.
    state : {"due", "begun", "done", "failed", "skipped"}
        ``due``: owed because bars came late; the others as they are called.
    data_version, actions_version : int
        Of the tables ``bars`` and ``actions``.
    config, calendar : str
        Hashes of everything else that decides on the forecasts: settings, symbols and program; the sessions to come.
    symbols : tuple of str
        That were read.
    fints : str
        Version of the program.
    began_at : pandas.Timestamp
        By the clock, UTC.
    ended_at : pandas.Timestamp, optional
    stamp : pandas.Timestamp, optional
        Naive key of its rows in the table ``forecasts``.
    forecasts_version : int, optional
        Of the table ``forecasts`` once they were written.
    exit_code : int, optional
    reason : str
        Why it was run at all, was skipped, or failed.
    page : str
        Path of its report, relative to the home.
    remade : tuple of str
        Series whose forecasts alone it put in the place of earlier ones, because their bars came late; empty where it
        was about all.
    number : int
        Counted from 1 by the table; 0 before it is entered.

    Raises
    ------
    SchemaError
        If the state does not exist, or an instant has no time zone.
    """

    dataset: str
    interval: str
    night: str
    as_of: pd.Timestamp
    known_at: str
    asked: str
    made_at: pd.Timestamp
    state: State
    data_version: int
    actions_version: int
    config: str
    calendar: str
    symbols: tuple[str, ...]
    fints: str
    began_at: pd.Timestamp
    ended_at: pd.Timestamp | None = None
    stamp: pd.Timestamp | None = None
    forecasts_version: int | None = None
    exit_code: int | None = None
    reason: str = ""
    page: str = ""
    remade: tuple[str, ...] = ()
    number: int = 0

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise SchemaError(f"a night has no state {self.state!r}; it is one of {', '.join(STATES)}")
        naive = [name for name in _INSTANTS if getattr(self, name) is not None and getattr(self, name).tz is None]
        if naive:
            raise SchemaError(f"{naive[0]} of the night {self.night} has no time zone; give an instant in UTC")

    @property
    def owed(self) -> bool:
        """Whether it is to be done still: due, or begun and never ended."""
        return self.state in {"due", "begun"}

    def to_json(self) -> dict[str, object]:
        """Return what a reader of ``--json`` is told."""
        told = ("night", "state", "exit_code", "reason", "data_version", "config", "calendar", "page")
        return {
            "as_of": self.as_of.isoformat(),
            "known_at": self.known_at,
            "made_at": self.made_at.isoformat(),
            "stamp": None if self.stamp is None else self.stamp.isoformat(),
            "remade": list(self.remade),
            **{name: getattr(self, name) for name in told},
        }


@dataclass(frozen=True, slots=True)
class NightTable:
    """The nights of all datasets; who enters one holds the home."""

    table: StoreTable

    @classmethod
    def under(cls, root: Path) -> NightTable:
        """Return the nights of the store at ``root``."""
        return cls(StoreTable(root / "nights", nights_schema()))

    def enter(self, entries: Iterable[NightEntry]) -> tuple[NightEntry, ...]:
        """Append entries in one transaction; return them with their numbers.

        Raises
        ------
        StoreError
            The table cannot be written; it is as before then.
        """
        import pyarrow as pa

        listed = list(entries)
        if not listed:
            return ()
        self.table.create()
        base, held = self.table.at(), self.table.rows()
        last = max((int(number) for number in held.column("number").to_pylist()), default=0)
        numbered = tuple(replace(entry, number=last + 1 + i) for i, entry in enumerate(listed))
        rows = pa.Table.from_pylist([_to_row(entry) for entry in numbered], schema=self.table.schema)
        if len(self.table.files()) >= _MAX_FILES:
            self.table.replace(pa.concat_tables([held.cast(self.table.schema), rows]), [], to=base)
        else:
            self.table.append(rows, to=base)
        return numbered

    def read(self, dataset: str, interval: str) -> tuple[NightEntry, ...]:
        """Return the entries of one dataset and interval, in the order in which they were made."""
        import pyarrow.compute as pc

        rows = self.table.rows((pc.field("dataset") == dataset) & (pc.field("interval") == interval)).to_pylist()
        return tuple(_from_row(row) for row in sorted(rows, key=lambda row: int(row["number"])))


def nights_schema() -> pa.Schema:
    """Return the columns of the table ``nights`` on disk."""
    import pyarrow as pa

    types = dict.fromkeys(_INSTANTS, pa.timestamp("us", tz="UTC")) | dict.fromkeys(_INTEGERS, pa.int64())
    types |= {"stamp": pa.timestamp("us"), "symbols": pa.list_(pa.string()), "remade": pa.list_(pa.string())}
    return pa.schema([pa.field(field.name, types.get(field.name, pa.string())) for field in fields(NightEntry)])


def _to_row(entry: NightEntry) -> dict[str, Any]:
    row = asdict(entry)
    for name in (*_INSTANTS, "stamp"):
        if row[name] is not None:
            row[name] = row[name].floor("us").to_pydatetime()
    return row | {"symbols": list(entry.symbols), "remade": list(entry.remade)}


def _from_row(row: dict[str, Any]) -> NightEntry:
    for name in _INSTANTS:
        if row[name] is not None:
            row[name] = pd.Timestamp(row[name]).tz_convert("UTC")
    stamp = None if row["stamp"] is None else pd.Timestamp(row["stamp"])
    listed = {name: tuple(row[name]) for name in ("symbols", "remade")}
    return NightEntry(**row | listed | {"stamp": stamp})
