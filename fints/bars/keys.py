"""Rows of two bars frames compared by key: which are new, which changed, and in what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.schema import VALUE_COLUMNS, key_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the rows of a newer frame stand to an older one.

    Attributes
    ----------
    place : int64 array, shape (rows of newer,)
        Position in the older frame of the row with the same key, -1 where there is none.
    changed : mapping from column to bool array, shape (rows of newer,)
        Where a row that is in both differs in this column.
    gone : bool array, shape (rows of older,)
        Rows of the older frame whose key the newer one lacks.
    """

    place: NDArray[np.int64]
    changed: dict[str, NDArray[np.bool_]]
    gone: NDArray[np.bool_]

    @property
    def inserted(self) -> NDArray[np.bool_]:
        """Rows of the newer frame with a new key, shape (rows of newer,)."""
        return self.place < 0

    @property
    def revised(self) -> NDArray[np.bool_]:
        """Rows of the newer frame that are in both with another value, shape (rows of newer,)."""
        return np.asarray(np.any(list(self.changed.values()), axis=0), dtype=bool)

    def of(self, rows: NDArray[np.bool_]) -> Comparison:
        """Return the comparison of some rows of the newer frame, given a mask of shape (rows of newer,)."""
        return Comparison(self.place[rows], {name: mask[rows] for name, mask in self.changed.items()}, self.gone)


def compare_bars(newer: pd.DataFrame, older: pd.DataFrame) -> Comparison:
    """Compare two bars frames of distinct keys, in any order.

    The columns ``source`` and ``fetched_at`` do not count: the same values fetched again are the same bar.
    """
    if older.empty:
        nothing = {name: np.zeros(len(newer), dtype=bool) for name in VALUE_COLUMNS}
        return Comparison(np.full(len(newer), -1, dtype=np.int64), nothing, np.zeros(0, dtype=bool))
    keys, old_keys = _shared_keys(newer, older)
    order = np.argsort(old_keys)
    ranked = old_keys[order]
    at = np.searchsorted(ranked, keys).clip(max=len(ranked) - 1)
    found = ranked[at] == keys
    place = np.where(found, order[at], -1)
    gone = np.ones(len(older), dtype=bool)
    gone[place[found]] = False
    both = np.flatnonzero(found)
    changed = {}
    for name in VALUE_COLUMNS:
        differs = np.zeros(len(newer), dtype=bool)
        differs[both] = _differs(newer[name].iloc[both], older[name].iloc[place[both]])
        changed[name] = differs
    return Comparison(place, changed, gone)


def _shared_keys(newer: pd.DataFrame, older: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the rows of both frames one integer each, equal where the keys are."""
    keys = np.zeros(len(newer) + len(older), dtype=np.int64)
    parts = [pd.concat([newer[name], older[name]], ignore_index=True) for name in ("symbol", "interval")]
    for part in (*parts, pd.Series(np.concatenate([key_moments(newer), key_moments(older)]))):
        codes, distinct = pd.factorize(part)
        keys = keys * max(len(distinct), 1) + codes
    return keys[: len(newer)], keys[len(newer) :]


def _differs(left: pd.Series, right: pd.Series) -> NDArray[np.bool_]:
    lost, was_lost = left.isna().to_numpy(), right.isna().to_numpy()
    unequal = (left.reset_index(drop=True) != right.reset_index(drop=True)).fillna(value=True).to_numpy(dtype=bool)
    return np.asarray((unequal & ~(lost & was_lost)) | (lost != was_lost), dtype=bool)
