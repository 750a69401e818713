"""From a table as a vendor wrote it to bars: the part that every source of tables shares.

A table with a close only gives a close-only series (``open = high = low = close``, no volume). Without an adjusted
close the close stands for it: the table knows of no adjustments. Rows of corporate actions, which web pages put between
the bars ("0.24 Dividend"), are no bars and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.schema import empty_bars
from fints.bars.sources.base import BarRequest, Origin, canonical_exchange, clip_sessions, daily_bounds
from fints.bars.sources.columns import find_columns
from fints.bars.sources.numerals import read_numbers, read_stamps
from fints.bars.sources.stamps import local_times, place_on_grid
from fints.errors import ConfigError, FintsError, NoSuchRangeError, SourceError
from fints.sessions.calendars import get_calendar
from fints.sessions.grid import parse_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fints.bars.sources.config import TableConfig

_PRICES: Final = ("open", "high", "low", "close", "adj_close")
_ACTION: Final = r"(?i)\b(?:dividend|stock split|split|capital gain)s?\b"


@dataclass(frozen=True, slots=True)
class Contents:
    """What one table holds.

    Attributes
    ----------
    rows : pandas.DataFrame
        ``symbol, stamp``, the prices, ``volume`` and ``currency``, not yet placed on a calendar.
    broken : dict
        By symbol, why its rows cannot be used.
    named : bool
        Whether a column says the symbol of each row; without one the table is of a single symbol.
    """

    rows: pd.DataFrame
    broken: dict[str, str]
    named: bool

    def symbols(self) -> list[str]:
        """Return the symbols of the table, those included whose rows cannot be used, sorted."""
        return sorted({*self.rows["symbol"].unique(), *self.broken})


def by_symbol(tables: Iterable[pd.DataFrame]) -> dict[str, list[pd.DataFrame]]:
    """Sort the rows of many tables by symbol.

    Parameters
    ----------
    tables : iterable of pandas.DataFrame
        As :attr:`Contents.rows`; more columns may stand beside.

    Returns
    -------
    dict
        From symbol to its rows, as one frame for each way in which their stamps are to be understood: with a zone or
        without, dates or times. Rows keep the order of the tables.
    """
    kinds: dict[tuple[bool, bool], list[pd.DataFrame]] = {}
    for table in tables:
        if len(table):
            stamps = pd.DatetimeIndex(table["stamp"])
            kind = (stamps.tz is not None, bool((stamps.normalize() != stamps).any()))
            kinds.setdefault(kind, []).append(table)
    found: dict[str, list[pd.DataFrame]] = {}
    for _, parts in sorted(kinds.items(), key=lambda item: item[0]):
        for symbol, rows in pd.concat(parts, ignore_index=True).groupby("symbol", sort=True):
            found.setdefault(str(symbol), []).append(rows.reset_index(drop=True))
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """How the tables of one source are read.

    Attributes
    ----------
    options : TableConfig
        Column mapping, stamps, spelling of numbers.
    source : str
        Name that is written to the column ``source``.
    place : str
        Where the tables are, for messages.
    """

    options: TableConfig
    source: str
    place: str

    def contents(self, raw: pd.DataFrame, symbol: str, where: str) -> Contents:
        """Sort a table's rows by symbol and read their numbers and stamps.

        Parameters
        ----------
        raw : pandas.DataFrame
            As it was read, with the vendor's column names.
        symbol : str
            Symbol of every row, where no column says it.
        where : str
            The table, for messages.

        Raises
        ------
        ConfigError
            A column that is needed was not found, or the dates cannot be told.
        SourceError
            A table without a symbol column holds something that is no number, or its symbols are not text.
        """
        roles = find_columns(map(str, raw.columns), self.options.columns, where)
        table = raw.set_axis([str(name) for name in raw.columns], axis=1)[list(roles.values())]
        table = table.set_axis(list(roles), axis=1)
        if "open" in roles and not pd.api.types.is_numeric_dtype(table["open"].dtype):
            table = table[~table["open"].astype(str).str.contains(_ACTION)]
        table = table.reset_index(drop=True)
        if "symbol" not in roles or self.options.symbol is not None:
            return Contents(self._rows(table, where).assign(symbol=symbol), {}, named=False)
        symbols = _symbols(table["symbol"], where)
        try:
            return Contents(self._rows(table, where).assign(symbol=symbols.array), {}, named=True)
        except FintsError as error:
            return self._each(table, symbols, where, error)

    def _each(self, table: pd.DataFrame, symbols: pd.Series, where: str, cause: FintsError) -> Contents:
        """Read symbol by symbol, so that only those fail whose rows are at fault; all at fault is the table's fault."""
        rows: list[pd.DataFrame] = []
        broken: dict[str, str] = {}
        for name, part in table.groupby(symbols.to_numpy(), sort=True):
            try:
                mine = self._rows(part.reset_index(drop=True), f"{where}, rows of {name!r}")
                rows.append(mine.assign(symbol=str(name)))
            except FintsError as error:
                broken[str(name)] = str(error)
        if not rows:
            raise cause
        return Contents(pd.concat(rows, ignore_index=True), broken, named=True)

    def _rows(self, table: pd.DataFrame, where: str) -> pd.DataFrame:
        stamp = table["date"] if "date" in table else table["time"]
        if {"date", "time"} <= set(table.columns):
            stamp = table["date"].astype(str) + " " + table["time"].astype(str)
        rows = pd.DataFrame({"stamp": read_stamps(stamp, date_format=self.options.date_format, where=where)})
        for name in (*_PRICES, "volume"):
            # of what is not there the close stands for a price, and nothing for a volume
            rows[name] = self._numbers(table, name if name in table or name == "volume" else "close", where)
        rows["currency"] = table["currency"].astype(str) if "currency" in table else self.options.currency
        return rows

    def _numbers(self, table: pd.DataFrame, name: str, where: str) -> pd.Series:
        if name not in table.columns:
            return pd.Series(pd.NA, index=table.index, dtype="Int64")
        options = self.options
        return read_numbers(
            table[name], decimal=options.decimal, thousands=options.thousands, where=f"{where}, column {name!r}"
        )

    def check_interval(self, request: BarRequest) -> None:
        """Pass a request for the interval that the tables are said to hold.

        Raises
        ------
        NoSuchRangeError
            It asks for another one.
        """
        held = self.options.interval
        if held is not None and held != request.interval:
            raise NoSuchRangeError(f"{self.place} hold {held!r} bars; {request.interval!r} was asked for")

    def bars(self, table: pd.DataFrame, request: BarRequest) -> pd.DataFrame:
        """Place the rows of one symbol on its exchange's calendar, and keep those of the span asked for.

        Parameters
        ----------
        table : pandas.DataFrame
            One of :func:`by_symbol`, of the symbol asked for.
        request : BarRequest
            Gives symbol and interval, the span to keep, and the exchange where the options say none.

        Returns
        -------
        pandas.DataFrame
            Bars frame.
        """
        return clip_sessions(self.placed(table, request), request)

    def placed(self, table: pd.DataFrame, request: BarRequest) -> pd.DataFrame:
        """Return a bars frame of every row of ``table``, in its order, whatever the span asked for."""
        if table.empty:
            return empty_bars()
        calendar = get_calendar(canonical_exchange(self.options.exchange, request.exchange))
        local = local_times(table["stamp"], calendar, self.options.timezone)
        if parse_interval(request.interval) is None:
            bounds = daily_bounds(self._days(local, table, request.symbol), calendar)
        else:
            bounds = place_on_grid(local, calendar, request.interval, self.options.stamp)
        values = table[[*_PRICES, "volume"]].reset_index(drop=True)
        origin = Origin(
            symbol=request.symbol,
            interval=request.interval,
            exchange=calendar.mic,
            currency=self.options.currency,
            source=self.source,
            fetched_at=pd.Timestamp.now("UTC"),
        )
        bars = origin.stamp(pd.concat([bounds, values], axis=1))
        return bars.assign(currency=table["currency"].astype("str").array)

    def _days(self, local: pd.DatetimeIndex, table: pd.DataFrame, symbol: str) -> pd.DatetimeIndex:
        """Return the session dates of daily rows: the date as written, whatever the clock time.

        A stamp with a zone is a midnight of UTC that means the date (``2018-11-20T00:00:00Z``), or an instant within
        the exchange's day.
        """
        stamps = pd.DatetimeIndex(table["stamp"])
        timed = bool((stamps.normalize() != stamps).any())
        days = (local if timed and stamps.tz is not None else stamps.tz_localize(None)).normalize()
        apart = days[~stamps.duplicated()]  # the same row twice is another matter
        if timed and apart.duplicated().sum() > len(apart) // 2:
            raise ConfigError(
                f"the rows of {symbol!r} at {self.place} carry times of day, several to a date: they are no daily "
                "bars. Ask for their interval, as in interval: 1h"
            )
        return days


def _symbols(column: pd.Series, where: str) -> pd.Series:
    """Return a symbol column as text, without the spaces that pad it.

    Whole numbers (codes of Asian exchanges) are spelled; anything else is refused, because text that was turned into a
    number or a truth value cannot be turned back.
    """
    if pd.api.types.is_integer_dtype(column.dtype):
        return column.astype(str)
    wrong = [isinstance(value, bool) or not isinstance(value, str | int) or value == "" for value in column]
    if any(wrong):
        place = wrong.index(True)
        value = column.iloc[place]
        told = "is empty" if isinstance(value, str) else f"{value!r} is a {type(value).__name__}, not text"
        raise SourceError(
            f"{where}, row {place + 1}: the symbol {told}; symbols such as NA, TRUE and 1E5 have to be written as text"
        )
    return column.map(lambda value: str(value).strip())
