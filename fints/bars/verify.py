"""Whether the store is sound: every file there and readable, types as laid out, keys distinct, rows in their partition.

The order of rows within a file is not checked: the writer is parallel and does not keep it; reading sorts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from fints.bars.damage import cure_of, damaged
from fints.bars.layout import bars_from_arrow, periods_of
from fints.bars.schema import sort_bars
from fints.errors import FintsError

if TYPE_CHECKING:
    from fints.bars.table import StoreTable


def verify_files(table: StoreTable) -> list[str]:
    """Return the problems of a table's log, types and data files."""
    import pyarrow as pa

    try:
        if not table.exists():
            return []
        delta = table.at()
        stored = {field.name: field.type for field in pa.schema(delta.schema().to_arrow())}
        files = table.files()
    except FintsError as error:
        return [str(error)]
    wrong = [
        f"{table.path}: column {field.name!r} is {stored.get(field.name, 'missing')}, expected {field.type}"
        for field in table.schema
        if not _same_type(stored.get(field.name), field.type)
    ]
    wrong += [f"{said}. {cure_of(table.path)}" for said in damaged(table.path, files)]
    return wrong + [problem for path, action in files.items() for problem in _verify_file(table, path, action)]


def verify_bars(table: StoreTable) -> list[str]:
    """Return the problems of the rows of the table ``bars``: equal keys, rows in a wrong partition."""
    try:
        rows = table.rows()
        bars = bars_from_arrow(rows)
    except FintsError as error:
        return [f"{table.path}: {error}"]
    problems = []
    codes, names = periods_of(bars)
    misplaced = np.array(names, dtype=object)[codes] != rows.column("period").to_numpy() if names else np.zeros(0)
    if misplaced.any():
        problems.append(f"{table.path}: {misplaced.sum()} rows lie in the partition of another period")
    bars, repeated = sort_bars(bars)
    for position in np.flatnonzero(repeated):
        row = bars.iloc[int(position)]
        problems.append(f"{table.path}: {row['symbol']!r} {row['interval']} {row['end']} is stored twice")
    return problems


def _verify_file(table: StoreTable, path: str, action: dict[str, object]) -> list[str]:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(table.path / unquote(path))
    except PermissionError:
        return [f"{table.path}: the file {path} cannot be read: permission denied. Make it readable"]
    except (OSError, ValueError):  # told with the others that are damaged
        return []
    try:
        rows = file.read().num_rows
    except (OSError, ValueError) as error:
        return [f"{table.path}: the file {path} cannot be read: {error}"]
    expected = action.get("num_records")
    return [] if expected in {None, rows} else [f"{table.path}: the file {path} has {rows} rows, expected {expected}"]


def _same_type(stored: object, expected: object) -> bool:
    import pyarrow as pa

    texts = (pa.string(), pa.large_string(), pa.string_view())
    return stored == expected or (stored in texts and expected in texts)
