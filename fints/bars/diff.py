"""What changed between two versions: in the bars, by kind of revision, and in the actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.actions import ACTION_KEY
from fints.bars.keys import compare_bars
from fints.bars.layout import bars_from_arrow
from fints.bars.revision import REVISION_KINDS, classify, summarise
from fints.bars.schema import VALUE_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.bars.action_table import ActionTable
    from fints.bars.table import StoreTable

_SERIES: Final = ["symbol", "interval"]
DIFF_COLUMNS: Final = (
    *("symbol", "interval", "inserted", "revised"), *REVISION_KINDS, "factor", "removed", "columns", "first", "last",
)  # fmt: skip
ACTION_DIFF_COLUMNS: Final = ("symbol", "session", "kind", "change", "before", "after")


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
        ``DIFF_COLUMNS``, sorted by series: row counts, the revised ones also by the kinds of
        :data:`fints.bars.revision.REVISION_KINDS`; ``factor`` of the earliest bar that a split rescaled, or else of the
        earliest adjusted close that a dividend restated.

    Raises
    ------
    StoreError
        A version does not exist.
    """
    older, newer = _apart(table, a, b)
    found = compare_bars(newer, older)
    here = newer[[*_SERIES, "session"]].assign(
        inserted=found.inserted, revised=found.revised, removed=False, columns=_names(found.changed, len(newer))
    )
    kinds = classify(newer, older, found)
    here = here.assign(kind=kinds["kind"].reindex(here.index), factor=kinds["factor"].reindex(here.index))
    gone = older.loc[found.gone, [*_SERIES, "session"]].assign(
        inserted=False, revised=False, removed=True, columns=0, kind=None, factor=np.nan
    )
    changes = [part for part in (here[here["inserted"] | here["revised"]], gone) if len(part)]
    if not changes:
        return pd.DataFrame(columns=list(DIFF_COLUMNS))
    return _count(pd.concat(changes, ignore_index=True).sort_values([*_SERIES, "session"], kind="stable"))


def restated_between(table: StoreTable, a: int, b: int) -> pd.DataFrame:
    """Say what was revised from version ``a`` of the table ``bars`` to version ``b``, by series and kind.

    Returns
    -------
    pandas.DataFrame
        :data:`fints.bars.revision.RESTATED_COLUMNS`, as :func:`fints.bars.revision.summarise` gives.

    Raises
    ------
    StoreError
        A version does not exist.
    """
    older, newer = _apart(table, a, b)
    return summarise(classify(newer, older, compare_bars(newer, older)))


def _apart(table: StoreTable, a: int, b: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the files that one version has and the other lacks."""
    shared = table.files(a).keys() & table.files(b).keys()
    older, newer = (bars_from_arrow(table.rows_outside(shared, version=v)) for v in (a, b))
    return older, newer


def diff_actions(table: ActionTable, a: int, b: int) -> pd.DataFrame:
    """Compare version ``a`` of the table ``actions`` with version ``b``.

    Returns
    -------
    pandas.DataFrame
        ``ACTION_DIFF_COLUMNS``: ``change`` is ``added``, ``changed`` or ``withdrawn``, ``before`` and ``after`` are the
        values stated.
    """
    key = list(ACTION_KEY)
    before, after = (table.read(version=version)[[*key, "value"]] for version in (a, b))
    if before.empty and after.empty:
        return pd.DataFrame(columns=list(ACTION_DIFF_COLUMNS))
    both = before.merge(after, on=key, how="outer", suffixes=("_before", "_after"), indicator=True)
    change = both["_merge"].map({"left_only": "withdrawn", "right_only": "added", "both": "changed"})
    told = both.assign(change=change.astype("str"), before=both["value_before"], after=both["value_after"])
    return told.loc[told["before"] != told["after"], list(ACTION_DIFF_COLUMNS)].reset_index(drop=True)


def _count(changes: pd.DataFrame) -> pd.DataFrame:
    counted = changes.assign(**{kind: changes["kind"] == kind for kind in REVISION_KINDS})
    # a factor of a split goes before one of a dividend
    counted["rescaled"] = counted["factor"].where(counted["split"])
    sums = {name: (name, "sum") for name in ("inserted", "revised", *REVISION_KINDS, "removed")}
    by = counted.groupby(_SERIES).agg(
        **sums,
        rescaled=("rescaled", "first"),
        factor=("factor", "first"),
        columns=("columns", _spell),
        first=("session", "min"),
        last=("session", "max"),
    )
    by["factor"] = by["rescaled"].fillna(by["factor"])
    return by.reset_index()[list(DIFF_COLUMNS)]


def _names(changed: dict[str, NDArray[np.bool_]], rows: int) -> NDArray[np.int64]:
    """Encode the changed columns of each row as the bits of one integer, shape (rows,)."""
    bits = np.zeros(rows, dtype=np.int64)
    for place, name in enumerate(VALUE_COLUMNS):
        bits |= changed[name].astype(np.int64) << place
    return bits


def _spell(bits: pd.Series) -> str:
    union = int(np.bitwise_or.reduce(bits.to_numpy(dtype=np.int64)))
    return ", ".join(name for place, name in enumerate(VALUE_COLUMNS) if union >> place & 1)
