"""What changed in the bars between two versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.keys import compare_bars
from fints.bars.layout import bars_from_arrow
from fints.bars.schema import VALUE_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.bars.table import StoreTable

_SERIES = ["symbol", "interval"]
_COLUMNS = ["symbol", "interval", "inserted", "revised", "removed", "columns", "first", "last"]


def diff_bars(table: StoreTable, a: int, b: int) -> pd.DataFrame:
    """Compare version ``a`` of the table ``bars`` with version ``b``, by series.

    Data files never change, so only the files that one version has and the other lacks are read.

    Parameters
    ----------
    table : StoreTable
        The table ``bars``.
    a, b : int
        Versions; ``inserted`` means in ``b`` and not in ``a``.

    Returns
    -------
    pandas.DataFrame
        ``symbol, interval, inserted, revised, removed, columns, first, last``, sorted by series.

    Raises
    ------
    StoreError
        A version does not exist.
    """
    shared = table.files(a).keys() & table.files(b).keys()
    older, newer = (bars_from_arrow(table.rows_outside(shared, version=v)) for v in (a, b))
    found = compare_bars(newer, older)
    here = newer[[*_SERIES, "session"]].assign(
        inserted=found.inserted, revised=found.revised, removed=False, columns=_names(found.changed, len(newer))
    )
    gone = older.loc[found.gone, [*_SERIES, "session"]].assign(inserted=False, revised=False, removed=True, columns=0)
    changes = pd.concat([here[here["inserted"] | here["revised"]], gone], ignore_index=True)
    if changes.empty:
        return pd.DataFrame(columns=_COLUMNS)
    return (
        changes.groupby(_SERIES)
        .agg(
            inserted=("inserted", "sum"),
            revised=("revised", "sum"),
            removed=("removed", "sum"),
            columns=("columns", _spell),
            first=("session", "min"),
            last=("session", "max"),
        )
        .reset_index()
    )


def _names(changed: dict[str, NDArray[np.bool_]], rows: int) -> NDArray[np.int64]:
    """Encode the changed columns of each row as the bits of one integer, shape (rows,)."""
    bits = np.zeros(rows, dtype=np.int64)
    for place, name in enumerate(VALUE_COLUMNS):
        bits |= changed[name].astype(np.int64) << place
    return bits


def _spell(bits: pd.Series) -> str:
    union = int(np.bitwise_or.reduce(bits.to_numpy(dtype=np.int64)))
    return ", ".join(name for place, name in enumerate(VALUE_COLUMNS) if union >> place & 1)
