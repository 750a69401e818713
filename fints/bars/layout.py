"""The tables of the store: their columns on disk, and the way between them and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.schema import BAR_COLUMNS, BAR_KINDS, conform_bars, utc_stamps
from fints.sessions.grid import parse_interval

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

#: Partition columns of the table ``bars``. `period` is the year of the session, or its month for bars so short that a
#: year of them would be too much to rewrite when one is revised. Symbols are never part of a path.
BAR_PARTITIONS: Final = ("interval", "period")
_MONTHLY_BELOW: Final = pd.Timedelta(minutes=15)


def bars_schema() -> pa.Schema:
    """Return the columns of the table ``bars`` on disk."""
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "session": pa.date32(),
        "instant": pa.timestamp("us", tz="UTC"),
        "price": pa.float64(),
        "volume": pa.int64(),
    }
    fields = [pa.field(name, types[kind]) for name, kind in BAR_KINDS.items()]
    return pa.schema([*fields, pa.field("period", pa.string())])


def quarantine_schema() -> pa.Schema:
    """Return the columns of the table ``quarantine``: those of a bar, then why and when it was set aside."""
    import pyarrow as pa

    bars = [field for field in bars_schema() if field.name != "period"]
    why = [pa.field("kind", pa.string()), pa.field("reason", pa.string())]
    return pa.schema([*bars, *why, pa.field("quarantined_at", pa.timestamp("us", tz="UTC"))])


def findings_schema() -> pa.Schema:
    """Return the columns of the table ``findings``."""
    import pyarrow as pa

    instant = pa.timestamp("us", tz="UTC")
    times = {"session": pa.date32(), "end": instant, "found_at": instant}
    names = ["symbol", "interval", "session", "end", "severity", "kind", "reason", "values", "found_at"]
    return pa.schema([pa.field(name, times.get(name, pa.string())) for name in names])


def bars_to_arrow(bars: pd.DataFrame) -> pa.Table:
    """Turn a validated bars frame into rows of the table ``bars``."""
    import pyarrow as pa

    schema = bars_schema()
    rows = to_arrow(bars, pa.schema([field for field in schema if field.name != "period"]))
    codes, names = periods_of(bars)
    return rows.append_column(schema.field("period"), pa.array(names, pa.string()).take(pa.array(codes)))


def bars_from_arrow(rows: pa.Table) -> pd.DataFrame:
    """Turn rows of the table ``bars`` into a bars frame, in the order given."""
    frame = rows.select(list(BAR_COLUMNS)).to_pandas(date_as_object=False, integer_object_nulls=False)
    frame["volume"] = nullable_integers(rows, "volume")
    return conform_bars(frame)


def nullable_integers(rows: pa.Table, name: str) -> pd.Series:
    """Read an integer column with gaps; the way over float64 would lose digits above 2^53."""
    column = rows.column(name).combine_chunks()
    present = column.is_valid().to_numpy(zero_copy_only=False)
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
    return pd.Series(pd.arrays.IntegerArray(np.array(numbers, dtype=np.int64), ~present))


def to_arrow(frame: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Turn a frame into Arrow columns of ``schema``; missing values become null."""
    import pyarrow as pa

    return pa.Table.from_arrays([_to_arrow(frame[field.name], field.type) for field in schema], schema=schema)


def _to_arrow(column: pd.Series, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """Turn one column into Arrow; times by way of naive UTC, because pyarrow's own way stumbles over pandas 3.1."""
    import pyarrow as pa

    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return pa.array(column, from_pandas=True).cast(kind)
    stamps = pa.array(utc_stamps(column)).cast(pa.timestamp("us"), safe=False)
    return stamps.view(kind) if pa.types.is_timestamp(kind) else stamps.cast(kind, safe=False)


def periods_of(bars: pd.DataFrame) -> tuple[NDArray[np.int64], list[str]]:
    """Return the partition value ``period`` of each bar: ``"2021"``, or ``"2021-03"`` for bars below 15 minutes.

    Returns
    -------
    codes : int64 array, shape (rows,)
        Position in ``names``.
    names : list of str
        The distinct values.
    """
    months = utc_stamps(bars["session"]).astype("datetime64[M]").astype(np.int64)
    intervals, distinct = pd.factorize(bars["interval"])
    monthly = np.array([_monthly(text) for text in distinct], dtype=bool)[intervals]
    years = np.floor_divide(months, 12) * 12
    codes, pairs = pd.factorize(2 * np.where(monthly, months, years) + monthly)
    starts = [str(np.datetime64(int(pair) // 2, "M")) for pair in pairs]
    names = [start if pair % 2 else start[:4] for start, pair in zip(starts, pairs, strict=True)]
    return np.asarray(codes, dtype=np.int64), names


def parts_of(bars: pd.DataFrame) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    """Return the partition of each bar, as :data:`BAR_PARTITIONS` names it.

    Returns
    -------
    codes : int64 array, shape (rows,)
        Position in ``parts``.
    parts : list of (interval, period)
        The distinct ones.
    """
    codes, periods = periods_of(bars)
    intervals, distinct = pd.factorize(bars["interval"])
    places, pairs = pd.factorize(codes * max(len(distinct), 1) + intervals)
    parts = [(str(distinct[pair % len(distinct)]), periods[pair // len(distinct)]) for pair in pairs.tolist()]
    return np.asarray(places, dtype=np.int64), parts


def _monthly(interval: str) -> bool:
    length = parse_interval(interval)
    return length is not None and length < _MONTHLY_BELOW
