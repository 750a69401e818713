"""The store as it was at some versions of its bars and actions, and which versions those were at an instant.

Delta Lake stamps every version with the clock of the machine that committed it, and clocks are set back. A version
counts as known at an instant if it *and every version before it* had been committed by then. Where the clock was set
back, versions made afterwards are thus not known before those that they build on; a version that was made while the
clock ran ahead is not known until then. So an earlier instant may be told too little, and is never told too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.action_table import ActionTable
from fints.bars.layout import BAR_PARTITIONS, bars_schema
from fints.bars.store import BarStore
from fints.bars.table import StoreTable
from fints.errors import DateError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Snapshot(BarStore):
    """A store whose bars and actions are read at given versions; others can be asked for as of a store.

    Parameters
    ----------
    root : path
        Folder of the store.
    bars_version, actions_version : int
        Of the tables ``bars`` and ``actions``.
    """

    def __init__(self, root: Path, bars_version: int, actions_version: int) -> None:
        super().__init__(root)
        self.bars_version, self.actions_version = bars_version, actions_version

    @classmethod
    def known_at(cls, root: Path, instant: pd.Timestamp) -> Snapshot:
        """Return the store as it was known at an instant with a time zone.

        Raises
        ------
        DateError
            The instant has no time zone, or nothing had been committed by then.
        """
        if instant.tz is None:
            raise DateError(f"{instant} is no instant; give it a time zone, as in 2018-12-03T21:15Z")
        bars = version_at(StoreTable(root / "bars", bars_schema(), BAR_PARTITIONS), instant)
        if not bars:
            raise DateError(f"no bar had been stored in {root} at {instant.isoformat()}; give a later instant")
        return cls(root, bars, version_at(ActionTable.under(root).table, instant))

    def read(
        self,
        symbols: str | Iterable[str] | None = None,
        interval: str = "1d",
        start: str | pd.Timestamp | None = None,
        end: str | pd.Timestamp | None = None,
        version: int | None = None,
    ) -> pd.DataFrame:
        """Read bars as :meth:`BarStore.read` does, of the snapshot's version by default."""
        return super().read(symbols, interval, start, end, self.bars_version if version is None else version)

    def symbols(self, interval: str = "1d", version: int | None = None) -> list[str]:
        """Return the symbols that had bars of an interval, sorted."""
        return super().symbols(interval, self.bars_version if version is None else version)

    def actions(self, symbols: Iterable[str] | None = None, version: int | None = None) -> pd.DataFrame:
        """Return the splits and distributions that were stated."""
        return super().actions(symbols, self.actions_version if version is None else version)


def version_at(table: StoreTable, instant: pd.Timestamp) -> int:
    """Return the newest version of a table that was known at an instant, 0 (the empty one) where none was."""
    if not table.exists():
        return 0
    known = 0
    for entry in sorted(table.at().history(), key=lambda entry: int(entry["version"])):
        if pd.Timestamp(int(entry["timestamp"]), unit="ms", tz="UTC") > instant:  # which may lie in any year
            break
        known = int(entry["version"])
    return known
