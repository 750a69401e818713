"""Bars from files: CSV or Parquet, a single file, a folder or a zip archive, with columns named by the user or found.

A file with a close only gives a close-only series (``open = high = low = close``, no volume). Without an adjusted close
the close stands for it: the file knows of no adjustments. Rows of corporate actions, which web pages put between the
bars ("0.24 Dividend"), are no bars and are left out.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.schema import empty_bars
from fints.bars.sources.base import (
    BarRequest,
    Delivery,
    Origin,
    canonical_exchange,
    clip_sessions,
    daily_bounds,
)
from fints.bars.sources.columns import find_columns
from fints.bars.sources.documents import Document, find_documents
from fints.bars.sources.numerals import read_numbers, read_stamps
from fints.bars.sources.stamps import local_times, place_on_grid
from fints.errors import ConfigError, FintsError, NoSuchRangeError, SourceError, UnknownNameError
from fints.sessions.calendars import get_calendar
from fints.sessions.grid import parse_interval

if TYPE_CHECKING:
    from fints.bars.sources.config import FilesConfig

_PRICES = ("open", "high", "low", "close", "adj_close")
_ACTION = r"(?i)\b(?:dividend|stock split|split|capital gain)s?\b"


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
        config = self.config
        if config.interval is not None and config.interval != request.interval:
            raise NoSuchRangeError(
                f"the files at {config.path} hold {config.interval!r} bars; {request.interval!r} was asked for"
            )
        rows, broken = self._contents
        if request.symbol in broken:
            raise SourceError(broken[request.symbol])
        if request.symbol not in rows:
            raise UnknownNameError("symbol", request.symbol, self.symbols())
        table = rows[request.symbol]
        if table.empty:
            return Delivery(empty_bars())
        calendar = get_calendar(canonical_exchange(config.exchange, request.exchange))
        local = local_times(table["stamp"], calendar, config.timezone)
        if parse_interval(request.interval) is None:
            bounds = daily_bounds(self._days(local, table, request.symbol), calendar)
        else:
            bounds = place_on_grid(local, calendar, request.interval, config.stamp)
        values = table.drop(columns=["stamp", "currency"]).reset_index(drop=True)
        fetched_at = pd.Timestamp.now("UTC")
        origin = Origin(
            request.symbol, request.interval, calendar.mic, table["currency"].iloc[-1], self.name, fetched_at
        )
        return Delivery(clip_sessions(origin.stamp(pd.concat([bounds, values], axis=1)), request))

    def _days(self, local: pd.DatetimeIndex, table: pd.DataFrame, symbol: str) -> pd.DatetimeIndex:
        """Return the session dates of daily rows: the date as written, whatever the clock time.

        A stamp with a zone is a midnight of UTC that means the date (``2018-11-20T00:00:00Z``), or an instant within
        the exchange's day.
        """
        stamps = pd.DatetimeIndex(table["stamp"])
        timed = bool((stamps.normalize() != stamps).any())
        days = (local if timed and stamps.tz is not None else stamps.tz_localize(None)).normalize()
        if timed and days.duplicated().sum() > len(days) // 2:
            raise ConfigError(
                f"the rows of {symbol!r} at {self.config.path} carry times of day, several to a date: they are no "
                "daily bars. Ask for their interval, as in interval: 1h"
            )
        return days

    @cached_property
    def _contents(self) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
        """Rows by symbol, and by file stem why a file could not be used."""
        documents = find_documents(self.config.path)
        parts: dict[str, list[pd.DataFrame]] = {}
        broken: dict[str, str] = {}
        for document in documents:
            try:
                for symbol, rows in self._rows(document).items():
                    parts.setdefault(symbol, []).append(rows)
            except FintsError as error:
                if len(documents) == 1:
                    raise
                broken[self.config.symbol or document.stem] = str(error)
        return {symbol: pd.concat(frames, ignore_index=True) for symbol, frames in parts.items()}, broken

    def _rows(self, document: Document) -> dict[str, pd.DataFrame]:
        config = self.config
        raw = document.read(config.separator)
        roles = find_columns(map(str, raw.columns), config.columns, document.where)
        table = raw[list(roles.values())].set_axis(list(roles), axis=1)
        if "open" in roles and not pd.api.types.is_numeric_dtype(table["open"].dtype):
            table = table[~table["open"].astype(str).str.contains(_ACTION)]
        table = table.reset_index(drop=True)
        stamp = table["date"] if "date" in roles else table["time"]
        if {"date", "time"} <= roles.keys():
            stamp = table["date"].astype(str) + " " + table["time"].astype(str)
        rows = pd.DataFrame({"stamp": read_stamps(stamp, date_format=config.date_format, where=document.where)})
        for name in (*_PRICES, "volume"):
            # of what is not there the close stands for a price, and nothing for a volume
            rows[name] = self._numbers(table, name if name in roles or name == "volume" else "close", document.where)
        rows["currency"] = table["currency"].astype(str) if "currency" in roles else config.currency
        if config.symbol is not None or "symbol" not in roles:
            return {config.symbol or document.stem: rows}
        return {str(symbol): part for symbol, part in rows.groupby(table["symbol"].to_numpy(), sort=True)}

    def _numbers(self, table: pd.DataFrame, name: str, where: str) -> pd.Series:
        if name not in table.columns:
            return pd.Series(pd.NA, index=table.index, dtype="Int64")
        config = self.config
        return read_numbers(
            table[name], decimal=config.decimal, thousands=config.thousands, where=f"{where}, column {name!r}"
        )
