"""What an ingest did, symbol by symbol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.restatement import nothing_restated
from fints.bars.revision import sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.bars.finding import Finding
    from fints.bars.merge import Commit

_MISPLACED: Final = 0.01
"""Share of bars on closed days above which the exchange is doubted."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did.

    Attributes
    ----------
    commit : Commit
        Version of the bars after it, and rows inserted, revised and unchanged per symbol.
    fetched : mapping from symbol to int
        Rows delivered, before the checks.
    current : tuple of str
        Symbols that needed no request: no bar has closed since their last one.
    findings : tuple of Finding
        What the checks saw.
    failed : mapping from symbol to str
        Symbols without new bars, with the cause.
    inactive : mapping from symbol to str
        Symbols that the source has long said not to exist, in words; they are no failure, and their bars stay.
    notes : mapping from symbol to tuple of str
        What is to be known of a delivery: a request that was clipped, a fallback that was taken.
    about_source : tuple of str
        What is to be known of the source as a whole, of no one symbol: a file that could not be read.
    restated : pandas.DataFrame
        What was revised, by series and kind: see :class:`fints.bars.restatement.Held`.
    """

    commit: Commit
    fetched: Mapping[str, int] = field(default_factory=dict, hash=False)
    current: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict, hash=False)
    inactive: Mapping[str, str] = field(default_factory=dict, hash=False)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    about_source: tuple[str, ...] = ()
    restated: pd.DataFrame = field(default_factory=nothing_restated, hash=False, compare=False)

    @property
    def version(self) -> int:
        """Version of the bars after the ingest."""
        return self.commit.version

    def remarks(self, restated: pd.DataFrame | None = None) -> list[str]:
        """Return what a reader should know though nothing failed: inactive symbols, notes, restatements.

        Parameters
        ----------
        restated : pandas.DataFrame, optional
            What is told as revised; what this ingest revised by default.
        """
        said = [(symbol, text) for symbol, text in self.inactive.items()]
        said += [(symbol, note) for symbol, notes in self.notes.items() for note in notes]
        return [
            *self.about_source,
            *(f"{symbol}: {text}" for symbol, text in said),
            *sentences(self.restated if restated is None else restated),
        ]

    def doubted(self) -> dict[str, str]:
        """Return the symbols of which so many bars fall on closed days that their exchange is probably another one."""
        shut = pd.Series([f.symbol for f in self.findings if f.kind == "non_session"], dtype="str").value_counts()
        return {
            symbol: f"{count} of {self.fetched[symbol]} bars fall on days when its exchange was shut and were set "
            "aside; is the exchange right? Set `exchange:`"
            for symbol, count in sorted((str(name), int(n)) for name, n in shut.items())
            if count > _MISPLACED * self.fetched.get(symbol, 0) > 0
        }

    def misplaced(self) -> list[str]:
        """Say the same in sentences."""
        return [f"{symbol}: {why}" for symbol, why in self.doubted().items()]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per symbol: ``symbol, fetched, inserted, revised, unchanged, findings, failed, notes``."""
        symbols = sorted({*self.fetched, *self.current, *self.failed, *self.inactive})
        found = pd.Series([f.symbol for f in self.findings], dtype="str").value_counts()
        counts = {
            "fetched": self.fetched,
            "inserted": self.commit.inserted,
            "revised": self.commit.revised,
            "unchanged": self.commit.unchanged,
            "findings": {str(symbol): int(count) for symbol, count in found.items()},
        }
        columns: dict[str, list[object]] = {
            name: [by.get(symbol, 0) for symbol in symbols] for name, by in counts.items()
        }
        columns["failed"] = [self.failed.get(symbol, "") for symbol in symbols]
        columns["notes"] = [self._notes_of(symbol) for symbol in symbols]
        return pd.DataFrame({"symbol": symbols, **columns})

    def _notes_of(self, symbol: str) -> str:
        inactive = (self.inactive[symbol],) if symbol in self.inactive else ()
        return "; ".join((*inactive, *self.notes.get(symbol, ())))
