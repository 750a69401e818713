"""Data files of a table that cannot be read: which they are, whose rows they hold, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NAMED: Final = 3  # files that are told one by one
_FETCHED: Final = ("bars",)  # tables that a source can fill again
_SERIES: Final = ("symbol", "unique_id")  # what a series is called in a table


def damage_in_words(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> str:
    """Say which data files of a table are gone or damaged, and the cure; empty where all of them are whole.

    Parameters
    ----------
    folder : pathlib.Path
        Of the table.
    files : mapping of str to mapping
        As `fints.bars.table.StoreTable.files` gives: each file with its size, partition, and least and greatest values.
    """
    said = damaged(folder, files)
    if not said:
        return ""
    more = f"; and {len(said) - _NAMED} more files" if len(said) > _NAMED else ""
    return f"{'; '.join(said[:_NAMED])}{more}. {cure_of(folder)}. `fints data verify` lists what is damaged"


def damaged(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say of each data file that is gone or damaged what is wrong with it, and whose rows it holds."""
    return [
        f"{folder / unquote(path)} cannot be read ({fault}); it holds {_whose(action)}"
        for path, action in files.items()
        if (fault := _fault(folder / unquote(path), action))
    ]


def cure_of(folder: Path) -> str:
    """Say what to do about damaged files of a table; only bars can be fetched once more."""
    restore = "Restore what is damaged from a backup"
    if folder.name not in _FETCHED:
        return restore
    return (
        f"{restore}; or move the folder {folder} away and run `fints ingest`, which fetches all bars anew (their "
        "earlier versions are lost then, and past nights cannot be replayed any more)"
    )


def _fault(place: Path, action: Mapping[str, Any]) -> str:
    """Say what is wrong with a file; only its size and its last bytes are looked at."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    expected = action.get("size_bytes")
    try:
        if not place.is_file():
            return "it is gone"
        size = place.stat().st_size
        if expected is not None and size < expected:
            return f"it is cut short: {size:,} of {expected:,} bytes"
        pq.ParquetFile(place).close()
    except PermissionError:  # whole, for all that is known
        return ""
    except (OSError, pa.ArrowException):
        return "it is damaged"
    return "" if expected in {None, size} else f"it is damaged: {size:,} bytes in place of {expected:,}"


def _whose(action: Mapping[str, Any]) -> str:
    """Say whose rows a file holds, as the log of the table has it: it can no longer be asked itself."""
    parts = [
        f"{key.removeprefix('partition.')} {value}" for key, value in action.items() if key.startswith("partition.")
    ]
    bounds = [(action.get(f"min.{name}"), action.get(f"max.{name}")) for name in _SERIES]
    series = [
        f"of {low}" if low == high else f"of the symbols from {low} to {high}"
        for low, high in bounds
        if low is not None and high is not None
    ]
    rows = action.get("num_records")
    what = [
        f"{rows:,} rows" if isinstance(rows, int) else "rows",
        *series,
        *([f"({', '.join(parts)})"] if parts else []),
    ]
    return " ".join(what)
