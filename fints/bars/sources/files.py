"""Bars from files: CSV or Parquet; a single file, a folder or a zip archive; columns named by the user or found."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.sources.base import BarRequest, Delivery, clip_sessions
from fints.bars.sources.documents import find_documents
from fints.bars.sources.reading import Reading, by_symbol
from fints.errors import FintsError, SourceError, UnknownNameError

if TYPE_CHECKING:
    from fints.bars.sources.config import FilesConfig


class FilesSource:
    """Bars from files.

    Parameters
    ----------
    config : FilesConfig
        Where they are and how to read them.
    """

    name = "files"
    live = False

    def __init__(self, config: FilesConfig) -> None:
        self.config = config
        self._reading = Reading(config, self.name, f"the files at {config.path}")

    def symbols(self) -> list[str]:
        """Return the symbols that the files hold, those of unreadable files included.

        Raises
        ------
        ConfigError
            The path holds nothing, or the only file cannot be understood.
        """
        rows, broken = self._contents
        return sorted({*rows, *broken})

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars of one symbol.

        Raises
        ------
        UnknownNameError
            No file holds the symbol.
        SourceError
            Its file cannot be read.
        NoSuchRangeError
            The files hold another interval.
        """
        self._reading.check_interval(request)
        rows, broken = self._contents
        if request.symbol in broken:
            raise SourceError(broken[request.symbol])
        if request.symbol not in rows:
            raise UnknownNameError("symbol", request.symbol, self.symbols())
        parts = [self._reading.placed(table, request) for table in rows[request.symbol]]
        return Delivery(clip_sessions(pd.concat(parts, ignore_index=True), request))

    @cached_property
    def _contents(self) -> tuple[dict[str, list[pd.DataFrame]], dict[str, str]]:
        """Rows by symbol, and by symbol (or file stem) why they cannot be used."""
        config = self.config
        documents = find_documents(config.path)
        tables: list[pd.DataFrame] = []
        broken: dict[str, str] = {}
        for document in documents:
            symbol = config.symbol or document.stem
            try:
                contents = self._reading.contents(document.read(config.separator), symbol, document.where)
            except FintsError as error:
                if len(documents) == 1:
                    raise
                broken[symbol] = str(error)
                continue
            broken |= contents.broken
            if contents.rows.empty:
                broken[symbol] = f"{document.where} holds no bars"
            tables.append(contents.rows)
        return by_symbol(tables), broken
