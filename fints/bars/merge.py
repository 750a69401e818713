"""One commit of bars: merged by key into the partitions they fall in, in one transaction."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.keys import Comparison, compare_bars
from fints.bars.layout import BAR_PARTITIONS, bars_from_arrow, bars_to_arrow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow.compute import Expression

    from fints.bars.table import StoreTable

    Part = dict[str, str | int]

# a night appends one small file per partition; at this many, the next commit writes the partition anew as one file
_MAX_FILES: Final = 40


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit did.

    Attributes
    ----------
    version : int
        Version of the bars after it; unchanged where nothing was new.
    inserted, revised, unchanged : mapping from symbol to row count
        Rows with a new key, with another value, and equal to the stored ones; symbols with none are absent.
    """

    version: int
    inserted: Mapping[str, int] = field(default_factory=dict, hash=False)
    revised: Mapping[str, int] = field(default_factory=dict, hash=False)
    unchanged: Mapping[str, int] = field(default_factory=dict, hash=False)


def merge_bars(table: StoreTable, bars: pd.DataFrame) -> Commit:
    """Merge a validated bars frame into the table ``bars``.

    Where every key is new the rows are appended. Where one is revised, the partitions touched are read and replaced
    as a whole: they are small (a year of one interval), so that this costs what the partition costs and no scan of
    the table.
    """
    base = table.at()
    rows = bars_to_arrow(bars)
    parts = _parts(rows)
    files = _files_per_part(table)
    known = [part for part in parts if files[_name(part)]]
    stored = bars_from_arrow(table.rows(_within(known) & _span(rows))) if known else bars.iloc[:0]
    comparison = compare_bars(bars, stored)
    new, revised = comparison.inserted, comparison.revised
    version = int(base.version())
    if (new | revised).any():
        fresh = rows if new.all() else rows.filter(new | revised)
        touched = _parts(fresh)
        crowded = any(files[_name(part)] >= _MAX_FILES for part in touched)
        if revised.any() or crowded:
            fresh = _whole(table, touched, bars[new | revised])
            version = table.replace(fresh, touched, to=base)
        else:
            version = table.append(fresh, to=base)
    return Commit(version, *_counts(bars, comparison))


def _whole(table: StoreTable, parts: Sequence[Part], bars: pd.DataFrame) -> pa.Table:
    """Return all rows that the partitions are to hold, in order: the stored ones with ``bars`` put in their place."""
    stored = bars_from_arrow(table.rows(_within(parts)))
    kept = stored[compare_bars(bars, stored).gone]
    merged = pd.concat([kept, bars], ignore_index=True)
    return bars_to_arrow(merged.sort_values(["symbol", "interval", "end"], kind="stable", ignore_index=True))


def _counts(bars: pd.DataFrame, found: Comparison) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    codes, symbols = pd.factorize(bars["symbol"])

    def count(mask: NDArray[np.bool_]) -> dict[str, int]:
        sizes = np.bincount(codes[mask], minlength=len(symbols)).tolist()
        return {str(symbol): size for symbol, size in zip(symbols, sizes, strict=True) if size}

    new, revised = found.inserted, found.revised
    return count(new), count(revised), count(~(new | revised))


def _parts(rows: pa.Table) -> list[Part]:
    found: list[Part] = rows.select(list(BAR_PARTITIONS)).group_by(list(BAR_PARTITIONS)).aggregate([]).to_pylist()
    return found


def _files_per_part(table: StoreTable) -> Counter[tuple[str | int, ...]]:
    return Counter(tuple(file[f"partition.{p}"] for p in BAR_PARTITIONS) for file in table.files().values())


def _name(part: Part) -> tuple[str | int, ...]:
    return tuple(part[name] for name in BAR_PARTITIONS)


def _within(parts: Sequence[Part]) -> Expression:
    import pyarrow.compute as pc

    where = pc.scalar(value=False)
    for part in parts:
        here = pc.scalar(value=True)
        for name in BAR_PARTITIONS:
            here &= pc.field(name) == part[name]
        where |= here
    return where


def _span(rows: pa.Table) -> Expression:
    import pyarrow.compute as pc

    span = pc.min_max(rows.column("end")).as_py()
    return (pc.field("end") >= pc.scalar(span["min"])) & (pc.field("end") <= pc.scalar(span["max"]))
