"""Bars from a folder that another job fills: files come late, twice, half-written, and are corrected later.

Nothing is read by halves: a file that is still being written is left for the next run, and said so. Where several files
hold a bar, the one that was written last counts. A file that goes away takes nothing out of the store.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.schema import PRICES, key_moments
from fints.bars.sources.arrivals import Arrival, Unfinished, incomplete, look_into, unchanged
from fints.bars.sources.base import BarRequest, Delivery, clip_sessions
from fints.bars.sources.documents import documents_in, legible
from fints.bars.sources.reading import Contents, Reading, by_symbol
from fints.errors import ConfigError, FintsError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.bars.sources.config import FolderConfig
    from fints.bars.sources.documents import Document

_NOTHING: Final = Contents(pd.DataFrame({"symbol": pd.Series([], dtype="str")}), {}, named=False)
_VALUES: Final = [*PRICES, "adj_close", "volume", "currency"]


@dataclass(frozen=True, slots=True)
class _Table:
    """One table of a file: its contents, or why they cannot be used."""

    name: str
    symbol: str
    contents: Contents
    fault: str = ""


@dataclass(frozen=True, slots=True)
class _Holdings:
    """What the folder held at one look; the column `rank` of `rows` is a place in `names`, the newest table last."""

    rows: dict[str, list[pd.DataFrame]]
    names: tuple[str, ...]
    broken: dict[str, str] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)
    untold: list[str] = field(default_factory=list)


class FolderSource:
    """Bars from a folder that another job fills.

    Parameters
    ----------
    config : FolderConfig
        Where it is, and how to read what comes.
    pause : callable
        Waits for some seconds.
    """

    name = "folder"
    live = True
    whole = True  # a corrected file may revise any bar, not only the last ones

    def __init__(self, config: FolderConfig, pause: Callable[[float], None] = time.sleep) -> None:
        self.config = config
        self._pause = pause
        self._reading = Reading(config, self.name, f"the files in {config.path}")
        self._read: dict[Arrival, list[_Table]] = {}
        self._held: _Holdings | None = None

    def symbols(self) -> list[str]:
        """Return the symbols in the folder, those of unusable files included.

        It is looked at once: a later night needs a source of its own.

        Raises
        ------
        ConfigError
            There is no such folder.
        """
        held = self._held = self._held or self._look()
        return sorted({*held.rows, *held.broken, *held.left})

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars of one symbol, as the folder was when it was looked at.

        Raises
        ------
        SourceError
            No file holds the symbol (yet), or one that does cannot be understood.
        NoSuchRangeError
            The files hold another interval.
        ConfigError
            There is no such folder.
        """
        self._reading.check_interval(request)
        held = self._held = self._held or self._look()
        symbol = request.symbol
        waiting = held.left.get(symbol, [])
        if symbol in held.broken:
            raise SourceError(f"{held.broken[symbol]}. Correct the file, or take it out of the folder")
        if symbol not in held.rows:
            told = "; ".join([*waiting, *held.untold])
            raise SourceError(f"no file in {self.config.path} holds {symbol!r}{f' ({told})' if told else ' yet'}")
        bars, gave_way = self._newest(held, request)
        # what may concern any symbol is told of the folder, not of the symbol that happens to be asked for
        return Delivery(clip_sessions(bars, request), notes=(*waiting, *gave_way), remarks=tuple(held.untold))

    def _newest(self, held: _Holdings, request: BarRequest) -> tuple[pd.DataFrame, list[str]]:
        """Of each bar keep the rows of the newest file; say where an older one had other values."""
        parts = held.rows[request.symbol]
        placed = [self._reading.placed(rows, request).assign(rank=rows["rank"].array) for rows in parts]
        bars = pd.concat(placed, ignore_index=True)
        bars = bars.assign(moment=key_moments(bars)).sort_values("rank", kind="stable", ignore_index=True)
        newest = bars.groupby("moment")["rank"].transform("max") == bars["rank"]
        kept, older = bars[newest], bars[~newest]
        winners = kept.drop_duplicates("moment", keep="last").set_index("moment").loc[older["moment"], _VALUES]
        theirs, ours = older[_VALUES].astype(str).to_numpy(), winners.astype(str).to_numpy()
        ranks = older["rank"][(theirs != ours).any(axis=1)].value_counts().sort_index()
        notes = [
            f"{count} bars of the file {held.names[int(rank)]} gave way to other values in a newer file"
            for rank, count in ranks.items()
        ]
        return kept.drop(columns=["rank", "moment"]).reset_index(drop=True), notes

    def _look(self) -> _Holdings:
        path = self.config.path
        if not path.is_dir():
            raise ConfigError(f"there is no folder {path}; set the option `path` of the source 'folder'")
        look = look_into(self.config, self._pause)
        left = list(look.left)
        read: dict[Arrival, list[_Table]] = {}
        for file in look.ready:
            if file in self._read:
                read[file] = self._read[file]
                continue
            found = self._tables(file)
            if isinstance(found, Unfinished):
                left.append(found)
            elif found:
                read[file] = found
        self._read = read
        return self._sorted([table for file in sorted(read) for table in read[file]], left)

    def _tables(self, file: Arrival) -> list[_Table] | Unfinished:
        """Read a file, unless it has to be left for the next run; one that is gone meanwhile has no tables."""
        config, path = self.config, self.config.path / file.name
        try:
            reason = incomplete(path, separator=config.separator, unterminated=config.unterminated)
            if reason:
                return Unfinished.of(file.name, reason)
            tables = [self._table(document, file) for document in documents_in(path, config.path)]
        except FileNotFoundError:
            return []
        except (OSError, FintsError) as error:
            tables = [_Table(legible(file.name), config.symbol or legible(path.stem), _NOTHING, str(error))]
        return tables if unchanged(file, config.path) else Unfinished.of(file.name, "it changed while it was read")

    def _table(self, document: Document, file: Arrival) -> _Table:
        symbol = self.config.symbol or document.stem
        name = legible(file.name) if document.member is None else f"{legible(file.name)}:{document.member}"
        try:
            raw = document.read(self.config.separator)
            return _Table(name, symbol, self._reading.contents(raw, symbol, document.where))
        except FintsError as error:
            return _Table(name, symbol, _NOTHING, str(error))

    def _sorted(self, tables: list[_Table], left: list[Unfinished]) -> _Holdings:
        """Sort by symbol what was read and what was not; `tables` go from the oldest file to the newest."""
        ranked = by_symbol(table.contents.rows.assign(rank=rank) for rank, table in enumerate(tables))
        held = _Holdings(ranked, tuple(table.name for table in tables))
        # where a column says the symbols, the name of a file that was not read says none
        named = "symbol" in self.config.columns or any(table.contents.named for table in tables)
        for table in tables:
            held.broken.update(table.contents.broken)
            if table.fault:
                held.broken[table.symbol] = table.fault
                held.untold.extend([table.fault] if named else [])
        notes = [(file.stem, file.note()) for file in left]
        notes += [
            (table.symbol, f"the file {table.name} holds no bars")
            for table in tables
            if table.contents.rows.empty and not (table.fault or table.contents.broken)
        ]
        for stem, note in notes:
            symbol = self.config.symbol or ("" if named else stem)
            (held.left.setdefault(symbol, []) if symbol else held.untold).append(note)
        return held
