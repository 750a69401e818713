"""One commit of bars: merged by key into the partitions they fall in, in one transaction."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.keys import Comparison, compare_bars
from fints.bars.layout import BAR_PARTITIONS, bars_from_arrow, bars_to_arrow
from fints.bars.schema import PRICES, conform_bars, empty_bars, sort_bars

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow.compute import Expression

    from fints.bars.finding import Finding
    from fints.bars.table import StoreTable

    Part = dict[str, str | int]

# a night appends one small file per partition; at this many, the next commit writes the partition anew as one file
_MAX_FILES: Final = 40
# by how much a corrected calendar may move the end of a stored session
_MOVED: Final = pd.Timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit did.

    Attributes
    ----------
    version : int
        Version of the bars after it; unchanged where nothing was new.
    inserted, revised, unchanged, withdrawn : mapping from symbol to row count
        Rows with a new key, with another value, equal to the stored ones, and taken out; symbols with none are absent.
    """

    version: int
    inserted: Mapping[str, int] = field(default_factory=dict, hash=False)
    revised: Mapping[str, int] = field(default_factory=dict, hash=False)
    unchanged: Mapping[str, int] = field(default_factory=dict, hash=False)
    withdrawn: Mapping[str, int] = field(default_factory=dict, hash=False)


def merge_bars(table: StoreTable, bars: pd.DataFrame, void: pd.DataFrame) -> Commit:
    """Merge a validated bars frame into the table ``bars``, and take out rows that have turned out to be errors.

    Where every key is new the rows are appended. Where one is revised or taken out, the partitions touched are read
    and replaced as a whole: they are small (a year of one interval), so that this costs what the partition costs and no
    scan of the table.

    Parameters
    ----------
    table : StoreTable
        The table ``bars``.
    bars : pandas.DataFrame
        Rows to hold.
    void : pandas.DataFrame
        Rows not to hold, none of them in ``bars``. A stored row is taken out where it has the same prices; where they
        differ the error is in the delivery alone, and the stored row stays.
    """
    base = table.at()
    rows = bars_to_arrow(pd.concat([bars, void], ignore_index=True) if len(void) else bars)
    parts = _parts(rows)
    files = _files_per_part(table)
    known = [part for part in parts if files[_name(part)]]
    stored = bars_from_arrow(table.rows(_within(known) & _span(rows))) if known else bars.iloc[:0]
    comparison = compare_bars(bars, stored)
    new, revised = comparison.inserted, comparison.revised
    withdrawn = stored[in_error(stored, void)]
    fresh = bars[new | revised]
    version = int(base.version())
    if len(fresh) or len(withdrawn):
        touched = _parts(bars_to_arrow(pd.concat([fresh, withdrawn], ignore_index=True) if len(withdrawn) else fresh))
        crowded = any(files[_name(part)] >= _MAX_FILES for part in touched)
        if revised.any() or crowded or len(withdrawn):
            version = table.replace(_whole(table, touched, fresh, withdrawn), touched, to=base)
        else:
            version = table.append(bars_to_arrow(fresh), to=base)
    return Commit(version, *_counts(bars, comparison), _count(withdrawn["symbol"]))


def void_rows(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return the rows in quarantine that looked like bars until later ones came, so that they may be stored."""
    rows = [dict(finding.values) for finding in findings if finding.kind == "price_excursion"]
    return conform_bars(pd.DataFrame(rows)) if rows else empty_bars()


def in_error(stored: pd.DataFrame, void: pd.DataFrame) -> NDArray[np.bool_]:
    """Mark stored rows with the very prices that have turned out to be an error, shape (stored rows,)."""
    found = compare_bars(void, stored)
    same = ~found.inserted & ~np.any([found.changed[name] for name in PRICES], axis=0)
    marked = np.zeros(len(stored), dtype=bool)
    marked[found.place[same]] = True
    return marked


def _whole(table: StoreTable, parts: Sequence[Part], bars: pd.DataFrame, withdrawn: pd.DataFrame) -> pa.Table:
    """Return all rows that the partitions are to hold, in order: the stored ones with ``bars`` put in their place."""
    stored = bars_from_arrow(table.rows(_within(parts)))
    kept = stored[compare_bars(bars, stored).gone & compare_bars(withdrawn, stored).gone]
    return bars_to_arrow(sort_bars(pd.concat([kept, bars], ignore_index=True))[0])


def _counts(bars: pd.DataFrame, found: Comparison) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    symbols, new, revised = bars["symbol"], found.inserted, found.revised
    return _count(symbols[new]), _count(symbols[revised]), _count(symbols[~(new | revised)])


def _count(symbols: pd.Series) -> dict[str, int]:
    return {str(symbol): int(size) for symbol, size in symbols.value_counts(sort=False).items()}


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
    first, last = span["min"] - _MOVED, span["max"] + _MOVED
    return (pc.field("end") >= pc.scalar(first)) & (pc.field("end") <= pc.scalar(last))
