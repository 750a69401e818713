"""One commit of bars: merged by key into the partitions they fall in, in one transaction."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.keys import compare_bars
from fints.bars.layout import BAR_PARTITIONS, bars_from_arrow, bars_schema, bars_to_arrow, parts_of
from fints.bars.schema import PRICES, conform_bars, empty_bars, sort_bars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow.compute import Expression

    from fints.bars.finding import Finding
    from fints.bars.table import StoreTable

    Part = tuple[str, str]

# a night appends one small file per partition; at this many, the next commit writes the partition anew as one file
_MAX_FILES: Final = 40
# rows turned into those of the table at once, some 30 MB
_AT_ONCE: Final = 250_000
# by how much a corrected calendar may move the end of a stored session
_MOVED: Final = timedelta(days=1)


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


_COUNTS: Final = ("inserted", "revised", "unchanged", "withdrawn")


def merge_bars(table: StoreTable, bars: Sequence[pd.DataFrame], void: pd.DataFrame) -> Commit:
    """Merge validated bars frames into the table ``bars``, and take out rows that have turned out to be errors.

    Where every key is new the rows are appended. Where one is revised or taken out, the partitions touched are read
    and replaced as a whole: they are small (a year of one interval), so that this costs what the partition costs and no
    scan of the table. Rows are turned into those of the table as they are written, some at a time.

    Parameters
    ----------
    table : StoreTable
        The table ``bars``.
    bars : sequence of pandas.DataFrame
        Rows to hold; no series is in two of the frames.
    void : pandas.DataFrame
        Rows not to hold, none of them in ``bars``. A stored row is taken out where it has the same prices; where they
        differ the error is in the delivery alone, and the stored row stays.
    """
    base = table.at()
    files = _files_per_part(table)
    met = [_meet(table, some, errors, files) for some, errors in _pairs(bars, void)]
    touched = sorted({part for one in met for part in one.touched})
    version = int(base.version())
    if touched:
        crowded = any(files[part] >= _MAX_FILES for part in touched)
        if crowded or any(one.rewrites for one in met):
            named = [dict(zip(BAR_PARTITIONS, part, strict=True)) for part in touched]
            version = table.replace(_stream(_whole(table, touched, met)), named, to=base)
        else:
            version = table.append(_stream(one.fresh for one in met), to=base)
    counts = (sum((one.counts[which] for one in met), Counter()) for which in range(len(_COUNTS)))
    return Commit(version, **dict(zip(_COUNTS, map(dict, counts), strict=True)))


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


@dataclass(frozen=True, slots=True)
class _Met:
    """Bars as they stand to the stored ones.

    Attributes
    ----------
    fresh, withdrawn : pandas.DataFrame
        Rows that are new or have another value; stored rows to be taken out.
    touched : set of (interval, period)
        Partitions of both.
    rewrites : bool
        Whether rows that are stored change.
    counts : tuple of Counter
        Rows per symbol, by ``_COUNTS``.
    """

    fresh: pd.DataFrame
    withdrawn: pd.DataFrame
    touched: set[Part]
    rewrites: bool
    counts: tuple[Counter[str], ...]


def _pairs(bars: Sequence[pd.DataFrame], void: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield each frame with the errors of its symbols, at the end those of other symbols."""
    for some in bars:
        mine = void["symbol"].isin(some["symbol"].unique()).to_numpy(dtype=bool)
        yield some, void[mine]
        void = void[~mine]
    if len(void):
        yield void.iloc[:0], void


def _meet(table: StoreTable, bars: pd.DataFrame, void: pd.DataFrame, files: Mapping[Part, int]) -> _Met:
    rows = pd.concat([bars, void], ignore_index=True) if len(void) else bars
    parts = parts_of(rows)[1]
    known = [part for part in parts if files[part]]
    stored = bars_from_arrow(table.rows(_within(known) & _around(rows))) if known else bars.iloc[:0]
    found = compare_bars(bars, stored)
    new, revised = found.inserted, found.revised
    withdrawn = stored[in_error(stored, void)]
    changed = new | revised
    whole = bool(changed.all()) and withdrawn.empty
    fresh = bars if whole else bars[changed]
    touched = parts if whole else [part for frame in (fresh, withdrawn) for part in parts_of(frame)[1]]
    counted = (bars["symbol"][new], bars["symbol"][revised], bars["symbol"][~changed], withdrawn["symbol"])
    rewrites = bool(revised.any()) or len(withdrawn) > 0
    return _Met(fresh, withdrawn, set(touched), rewrites, tuple(map(_count, counted)))


def _whole(table: StoreTable, touched: Sequence[Part], met: Sequence[_Met]) -> Iterator[pd.DataFrame]:
    """Return for each partition all rows that it is to hold, in order: the stored ones with ``met`` in their place."""
    # read before the first is written: Delta Lake cannot read a table while it waits for rows to write
    held = {part: table.rows(_within([part])) for part in touched}
    fresh, withdrawn = (_divided(frames) for frames in ([one.fresh for one in met], [one.withdrawn for one in met]))

    def rows_of(part: Part) -> pd.DataFrame:
        stored, put, taken = bars_from_arrow(held.pop(part)), fresh.get(part, []), withdrawn.get(part, [])
        kept = stored[compare_bars(pd.concat([*put, *taken], ignore_index=True), stored).gone]
        return sort_bars(pd.concat([kept, *put], ignore_index=True))[0]

    return map(rows_of, touched)


def _divided(frames: Iterable[pd.DataFrame]) -> Mapping[Part, list[pd.DataFrame]]:
    """Divide frames by partition."""
    divided: dict[Part, list[pd.DataFrame]] = {}
    for frame in frames:
        places, parts = parts_of(frame)
        for place, part in enumerate(parts):
            divided.setdefault(part, []).append(frame[places == place])
    return divided


def _stream(frames: Iterable[pd.DataFrame]) -> pa.RecordBatchReader:
    """Turn frames into rows of the table as they are asked for: of decades of many symbols never all at once."""
    import pyarrow as pa

    pieces = (frame.iloc[row : row + _AT_ONCE] for frame in frames for row in range(0, len(frame), _AT_ONCE))
    batches = (batch for piece in pieces for batch in bars_to_arrow(piece).to_batches())
    return pa.RecordBatchReader.from_batches(bars_schema(), batches)


def _count(symbols: pd.Series) -> Counter[str]:
    return Counter({str(symbol): int(size) for symbol, size in symbols.value_counts(sort=False).items()})


def _files_per_part(table: StoreTable) -> Counter[Part]:
    return Counter((file["partition.interval"], file["partition.period"]) for file in table.files().values())


def _within(parts: Sequence[Part]) -> Expression:
    import pyarrow.compute as pc

    where = pc.scalar(value=False)
    for part in parts:
        here = pc.scalar(value=True)
        for name, value in zip(BAR_PARTITIONS, part, strict=True):
            here &= pc.field(name) == value
        where |= here
    return where


def _around(rows: pd.DataFrame) -> Expression:
    """Select the symbols of rows, from the first of them to the last."""
    import pyarrow.compute as pc

    first, last = (instant.to_pydatetime() for instant in (rows["end"].min(), rows["end"].max()))
    inside = (pc.field("end") >= pc.scalar(first - _MOVED)) & (pc.field("end") <= pc.scalar(last + _MOVED))
    return inside & pc.field("symbol").isin(rows["symbol"].unique().tolist())
