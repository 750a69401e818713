"""The bars frame: its columns, their types and the check on entry.

One long frame holds every source, symbol and interval. The key is ``symbol, interval, end``; of a daily bar the session
takes the place of the end, so that a calendar that learns of an early close later revises the bar and adds none. A
close-only series (an index such as ``^VIX``, a spot price) is held with ``open = high = low = close`` and no volume:
every price column stays a finite number, and the missing volume tells such bars from traded ones
(:mod:`fints.bars.quality` reports them as ``close_only``).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pandas as pd

from fints.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

Kind = Literal["text", "session", "instant", "price", "volume"]

BAR_KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "symbol": "text",
        "interval": "text",
        "exchange": "text",
        "session": "session",
        "start": "instant",
        "end": "instant",
        "open": "price",
        "high": "price",
        "low": "price",
        "close": "price",
        "adj_close": "price",
        "volume": "volume",
        "currency": "text",
        "source": "text",
        "fetched_at": "instant",
    }
)
BAR_COLUMNS: Final[tuple[str, ...]] = tuple(BAR_KINDS)
BAR_KEY: Final[tuple[str, ...]] = ("symbol", "interval", "end")
PRICES: Final[tuple[str, ...]] = ("open", "high", "low", "close")
# of a currency that a source did not tell; "unknown" is how earlier versions spelled it
UNTOLD: Final[tuple[str, ...]] = ("", "unknown")
# a stored row is revised when one of these changes; source and fetched_at only say where a value came from
VALUE_COLUMNS: Final[tuple[str, ...]] = (
    "exchange", "session", "start", "end", "open", "high", "low", "close", "adj_close", "volume", "currency",
)  # fmt: skip

_VOLUME_LIMIT: Final = 2.0**63
_DAY: Final = 86_400_000_000_000  # nanoseconds
_DATE: Final = np.dtype("datetime64[ns]")
_INSTANT: Final = pd.DatetimeTZDtype("ns", "UTC")
_STORED: Final = pd.DatetimeTZDtype("us", "UTC")
_TEXT: Final = pd.Series([], dtype="str").dtype


def empty_bars() -> pd.DataFrame:
    """Return a bars frame without rows, every column typed."""
    return conform_bars(pd.DataFrame({name: _empty(kind) for name, kind in BAR_KINDS.items()}))


def conform_bars(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring the columns of a bars frame to their types and order, judging no value.

    Parameters
    ----------
    frame : pandas.DataFrame
        At least the columns ``BAR_COLUMNS``; others are left out.

    Returns
    -------
    pandas.DataFrame
        The columns ``BAR_COLUMNS``: text, naive ``datetime64[ns]`` sessions, UTC ``datetime64[ns]`` instants, float64
        prices and a nullable ``Int64`` volume, with a fresh row index in the order given. No copy is made of a frame
        that is so already.

    Raises
    ------
    SchemaError
        A column is missing, or a value cannot be read as its type; names the column and the row.
    """
    missing = [name for name in BAR_COLUMNS if name not in frame.columns]
    if missing:
        raise SchemaError(
            f"a bars frame lacks {', '.join(missing)}; it has {', '.join(map(str, frame.columns)) or 'no columns'}. "
            f"Build it with a source of fints.bars.sources, or add the columns"
        )
    numbered = frame.reset_index(drop=True)
    given = {name: numbered[name] for name in BAR_COLUMNS}
    columns = {name: _CONFORM[kind](given[name]) for name, kind in BAR_KINDS.items()}
    if all(columns[name] is given[name] for name in BAR_COLUMNS):  # of a first ingest there are millions of rows
        return numbered if tuple(numbered.columns) == BAR_COLUMNS else numbered[list(BAR_COLUMNS)]
    return pd.DataFrame(columns)


def validate_bars(frame: pd.DataFrame) -> pd.DataFrame:
    """Check a bars frame, and return it with exact types, sorted by its key.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``BAR_COLUMNS`` in any order and any row order.

    Returns
    -------
    pandas.DataFrame
        As :func:`conform_bars`, sorted by ``symbol, interval, end``.

    Raises
    ------
    SchemaError
        A column is missing or mistyped, a bar ends before it starts, or two rows share a key.
    """
    bars = conform_bars(frame)
    backwards = np.flatnonzero(utc_stamps(bars["end"]) <= utc_stamps(bars["start"]))
    if backwards.size:
        raise SchemaError(f"column 'end', {_row(bars, int(backwards[0]))}: the bar ends before it starts")
    bars, double = sort_bars(bars)
    if double.any():
        raise SchemaError(
            f"columns {', '.join(BAR_KEY)}, {_row(bars, int(np.argmax(double)))}: the key occurs twice (a daily bar's "
            "session counts for its end); fints.bars.quality.check_bars keeps the newest and reports the other"
        )
    return bars


def validate_each(frames: pd.DataFrame | Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Check a bars frame, or several, of which no symbol is in two; return one at least.

    Raises
    ------
    SchemaError
        As :func:`validate_bars`, or a symbol is in two frames.
    """
    valid = [validate_bars(frame) for frame in ([frames] if isinstance(frames, pd.DataFrame) else frames)]
    symbols = pd.Series([symbol for frame in valid for symbol in frame["symbol"].unique()], dtype="str")
    if symbols.duplicated().any():
        raise SchemaError(f"{symbols[symbols.duplicated()].iloc[0]!r} is in two bars frames; put its rows into one")
    return valid or [empty_bars()]


def sort_bars(bars: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Sort a conformed bars frame by ``symbol, interval, end``; equal keys keep their order.

    Returns
    -------
    bars : pandas.DataFrame
        Sorted; the frame itself where it was in order.
    repeated : bool array, shape (rows,)
        Rows whose key equals that of the row before; see :func:`key_moments`.
    """
    ends, series = utc_stamps(bars["end"]), series_codes(bars)
    step = np.diff(series)
    if not ((step > 0) | ((step == 0) & (ends[1:] >= ends[:-1]))).all():
        order = np.lexsort((ends, series))
        bars = bars.take(order).reset_index(drop=True)
        ends, series = ends[order], series[order]
    repeated = np.zeros(len(bars), dtype=bool)
    moments = key_moments(bars)
    repeated[1:] = (np.diff(series) == 0) & (moments[1:] == moments[:-1])
    return bars, repeated


def delivered_span(bars: pd.DataFrame) -> pd.DataFrame:
    """Return the sessions that the newest fetch of each symbol covers.

    Rows fetched earlier that are among them (stored bars brought to a new basis) were not delivered.

    Returns
    -------
    pandas.DataFrame
        ``symbol, interval, source, first, last, fetched_at``, a row per series and source.
    """
    fetched = utc_stamps(bars["fetched_at"])
    if len(bars) and (fetched == fetched[0]).all():  # as of a night, of which there may be millions
        delivered = bars
    else:
        delivered = bars[bars["fetched_at"] == bars.groupby("symbol")["fetched_at"].transform("max")]
    by = delivered.groupby(["symbol", "interval", "source"], sort=False)
    spans = by.agg(first=("session", "min"), last=("session", "max"), fetched_at=("fetched_at", "max"))
    return spans.reset_index()


def key_moments(bars: pd.DataFrame) -> NDArray[np.datetime64]:
    """Return what names each row within its series: the session of a daily bar, the end of any other; shape (rows,)."""
    daily = (bars["interval"] == "1d").to_numpy(dtype=bool)
    return np.where(daily, utc_stamps(bars["session"]), utc_stamps(bars["end"]))


def series_codes(bars: pd.DataFrame) -> NDArray[np.int64]:
    """Return the rank of each row's series among the distinct pairs ``symbol, interval``, shape (rows,)."""
    intervals, distinct = pd.factorize(bars["interval"], sort=True)
    symbols = np.zeros(len(bars), dtype=np.int64) if bars.empty else pd.factorize(bars["symbol"], sort=True)[0]
    return np.asarray(symbols * max(len(distinct), 1) + intervals, dtype=np.int64)


def utc_stamps(times: pd.Series | pd.Index) -> NDArray[np.datetime64]:
    """Return instants as naive UTC, or naive dates as they are: ``datetime64[ns]`` of shape (rows,)."""
    return np.asarray(times.to_numpy(dtype="datetime64[ns]"))


def _empty(kind: Kind) -> pd.Series:
    dtypes = {"text": "str", "session": "datetime64[ns]", "price": "float64", "volume": "Int64"}
    return pd.Series([], dtype=_INSTANT if kind == "instant" else dtypes[kind])


def _text(column: pd.Series) -> pd.Series:
    if column.isna().any():
        raise SchemaError(f"column {column.name!r}, row {int(np.argmax(column.isna()))}: the text is missing")
    if not isinstance(column.dtype, pd.StringDtype):
        wrong = next((i for i, value in enumerate(column) if not isinstance(value, str)), None)
        if wrong is not None:
            raise SchemaError(
                f"column {column.name!r}, row {wrong}: {column.iloc[wrong]!r} is a {type(column.iloc[wrong]).__name__},"
                " not text; quote it where it was written (tickers such as NA, TRUE and 1E5 are text)"
            )
    return column if column.dtype == _TEXT else column.astype(str)


def _session(column: pd.Series) -> pd.Series:
    dates = _datetimes(column)
    if dates.dt.tz is not None:
        raise SchemaError("column 'session': a session is a date of its exchange, without a time zone")
    dates = _nanoseconds(dates)
    timed = np.flatnonzero(utc_stamps(dates).astype(np.int64) % _DAY)
    if timed.size:
        raise SchemaError(f"column 'session', row {timed[0]}: {dates.iloc[timed[0]]} has a time of day; give the date")
    return dates


def _instant(column: pd.Series) -> pd.Series:
    instants = _datetimes(column)
    if instants.dt.tz is None:
        raise SchemaError(f"column {column.name!r}: instants need a time zone; localise them and convert to UTC")
    if instants.dtype == _INSTANT and not (utc_stamps(instants).astype(np.int64) % 1000).any():
        return instants
    # the store keeps microseconds: finer digits would make a bar differ from itself after a round trip
    return _nanoseconds(instants.astype(_STORED))


def _nanoseconds(times: pd.Series) -> pd.Series:
    if times.dtype in (_DATE, _INSTANT):
        return times
    try:
        exact: pd.Series = times.dt.as_unit("ns")
    except (pd.errors.OutOfBoundsDatetime, OverflowError) as error:
        raise SchemaError(
            f"column {times.name!r} goes from {times.min()} to {times.max()}; dates are held from 1677-09-22 to "
            "2262-04-11"
        ) from error
    return exact


def _datetimes(column: pd.Series) -> pd.Series:
    try:
        instants = column if column.dtype.kind == "M" else pd.to_datetime(column)
    except (ValueError, TypeError) as error:
        raise SchemaError(f"column {column.name!r} holds values that are not dates: {error}") from error
    if instants.isna().any():
        raise SchemaError(f"column {column.name!r}, row {int(np.argmax(instants.isna()))}: the date is missing")
    return instants


def _price(column: pd.Series) -> pd.Series:
    return column if column.dtype == np.float64 else _numbers(column).astype("float64")


def _volume(column: pd.Series) -> pd.Series:
    if str(column.dtype) in {"Int64", "int64"}:
        return column if str(column.dtype) == "Int64" else column.astype("Int64")
    numbers = _numbers(column).astype("Float64")
    broken = np.flatnonzero((numbers % 1 != 0).fillna(value=False).to_numpy(dtype=bool))
    if broken.size:
        raise SchemaError(f"column 'volume', row {broken[0]}: {numbers.iloc[broken[0]]} is not a whole number of units")
    beyond = np.flatnonzero((numbers.abs() >= _VOLUME_LIMIT).fillna(value=False).to_numpy(dtype=bool))
    if beyond.size:  # the cast would wrap it around to another number
        raise SchemaError(f"column 'volume', row {beyond[0]}: {numbers.iloc[beyond[0]]:.6g} is beyond any volume, 2^63")
    return numbers.astype("Int64")


def _numbers(column: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    wrong = np.flatnonzero((numbers.isna() & column.notna()).to_numpy(dtype=bool))
    if wrong.size:
        raise SchemaError(f"column {column.name!r}, row {wrong[0]}: {column.iloc[wrong[0]]!r} is not a number")
    return numbers


def _row(bars: pd.DataFrame, position: int) -> str:
    row = bars.iloc[position]
    return f"row {position} ({row['symbol']!r}, {row['interval']}, {row['session']:%Y-%m-%d})"


_CONFORM = MappingProxyType(
    {"text": _text, "session": _session, "instant": _instant, "price": _price, "volume": _volume}
)
