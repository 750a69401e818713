"""Symbols that a source says do not exist, counted by night: after enough of them a symbol is inactive.

One such answer means little: sources say it of good symbols on bad days. Only sessions of the symbol's exchange count,
each once; a fault that may pass neither counts nor resets; a delivery resets. An inactive symbol keeps its bars and is
asked for again once in a while.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.layout import to_arrow
from fints.bars.table import StoreTable
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

ABSENCE_COLUMNS: Final = ("symbol", "source", "nights", "first", "last", "reason")
RETRY_AFTER: Final = 20
"""Sessions after which an inactive symbol is asked for again."""


@dataclass(frozen=True, slots=True)
class Night:
    """A session after which a source said that a symbol does not exist, and its words."""

    session: pd.Timestamp
    reason: str


@dataclass(frozen=True, slots=True)
class Absence:
    """How often in a row a source has said that a symbol does not exist.

    Attributes
    ----------
    symbol, source : str
        Who is absent where.
    nights : int
        Distinct sessions of its exchange.
    first, last : pandas.Timestamp
        The first and the newest of them.
    reason : str
        What the source said last.
    """

    symbol: str
    source: str
    nights: int
    first: pd.Timestamp
    last: pd.Timestamp
    reason: str

    def after(self, night: Night) -> Absence:
        """Count one more night, unless it has been counted."""
        if night.session <= self.last:
            return self
        return Absence(self.symbol, self.source, self.nights + 1, self.first, night.session, night.reason)

    def rests(self, exchange: str, session: pd.Timestamp) -> bool:
        """Say whether it is too early to ask for an inactive symbol again."""
        passed = get_calendar(exchange).sessions(self.last, max(session, self.last))
        return int((passed > self.last).sum()) < RETRY_AFTER

    def __str__(self) -> str:
        """Say it in a sentence."""
        return (
            f"inactive: {self.source} has said on {self.nights} nights from {self.first:%Y-%m-%d} to "
            f"{self.last:%Y-%m-%d} that it does not exist ({self.reason}). Its bars stay; it is asked for again after "
            f"{RETRY_AFTER} sessions. If it was renamed, name the new symbol and set `aliases`"
        )


@dataclass(frozen=True, slots=True)
class AbsenceTable:
    """Absences of all sources."""

    table: StoreTable

    @classmethod
    def under(cls, root: Path) -> AbsenceTable:
        """Return the absences of the store at ``root``."""
        return cls(StoreTable(root / "absences", absences_schema()))

    def of(self, source: str) -> dict[str, Absence]:
        """Return the absences that a source has stated, by symbol."""
        return {a.symbol: a for a in self._all() if a.source == source}

    def count(self, source: str, missing: Mapping[str, Night], delivered: Iterable[str]) -> dict[str, Absence]:
        """Take up a night and return the absences of the source after it.

        Parameters
        ----------
        source : str
            Name of the source.
        missing : mapping from symbol to Night
            Symbols that it said do not exist.
        delivered : iterable of str
            Symbols that it delivered.
        """
        every = self._all()
        others = [absence for absence in every if absence.source != source]
        before = {absence.symbol: absence for absence in every if absence.source == source}
        come = set(delivered)
        after = {symbol: absence for symbol, absence in before.items() if symbol not in come}
        for symbol, night in missing.items():
            known = after.get(symbol)
            after[symbol] = (
                Absence(symbol, source, 1, night.session, night.session, night.reason)
                if known is None
                else known.after(night)
            )
        if after != before:
            self._write([*others, *after.values()])
        return after

    def _all(self) -> list[Absence]:
        rows = self.table.rows().to_pandas(date_as_object=False)
        rows = rows.astype({"first": "datetime64[ns]", "last": "datetime64[ns]", "nights": "int64"})
        return [Absence(*row) for row in rows[list(ABSENCE_COLUMNS)].itertuples(index=False, name=None)]

    def _write(self, absences: list[Absence]) -> None:
        ordered = sorted(absences, key=lambda absence: (absence.source, absence.symbol))
        frame = pd.DataFrame(
            [tuple(getattr(absence, name) for name in ABSENCE_COLUMNS) for absence in ordered],
            columns=list(ABSENCE_COLUMNS),
        ).astype({"first": "datetime64[ns]", "last": "datetime64[ns]", "nights": "int64"})
        self.table.replace(to_arrow(frame, self.table.schema), [])


def absences_schema() -> pa.Schema:
    """Return the columns of the table ``absences`` on disk."""
    import pyarrow as pa

    types = {"nights": pa.int64(), "first": pa.date32(), "last": pa.date32()}
    return pa.schema([pa.field(name, types.get(name, pa.string())) for name in ABSENCE_COLUMNS])
