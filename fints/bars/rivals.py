"""Rows in quarantine beside the bars that are stored in their place: a right bar came later, or was there before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.keys import compare_bars
from fints.bars.schema import PRICES, conform_bars
from fints.bars.spans import read_spans, spans_of
from fints.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.bars.table import StoreTable


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The stored bars of the keys of some rows.

    Attributes
    ----------
    rows : pandas.DataFrame
        In quarantine, with ``id``.
    stored : pandas.DataFrame
        Bars frame.
    place : int64 array, shape (rows,)
        Position of the stored bar of a row's key, -1 where none is.
    other : bool array, shape (rows,)
        Where it has other values than the row.
    """

    rows: pd.DataFrame
    stored: pd.DataFrame
    place: NDArray[np.int64]
    other: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: pd.DataFrame, bars: StoreTable) -> Rivals:
        """Look the rows up among the stored bars."""
        conformed = conform_bars(rows)
        stored = read_spans(bars, spans_of(conformed))
        told = compare_bars(conformed, stored)
        return cls(rows, stored, told.place, told.revised)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Rows of whose key a bar is stored, shape (rows,)."""
        return np.asarray(self.place >= 0, dtype=bool)

    def refuse_to_replace(self) -> None:
        """Pass rows that would take no other bar's place.

        Raises
        ------
        UsageError
            One would; the message has the values of both.
        """
        if not self.other.any():
            return
        at = int(np.flatnonzero(self.other)[0])
        row, held = self.rows.iloc[at], self.stored.iloc[int(self.place[at])]
        raise UsageError(
            f"row {row['id']} would take the place of the bar of {row['symbol']} that is stored for "
            f"{row['session']:%Y-%m-%d}: {_values(held)}, fetched {held['fetched_at']:%Y-%m-%d %H:%M} UTC. The row has "
            f"{_values(row)}. If it is wrong, drop it; if the stored bar is wrong, release the row with --force"
        )


def _values(bar: pd.Series) -> str:
    return ", ".join(f"{name} {'none' if pd.isna(bar[name]) else bar[name]}" for name in (*PRICES, "volume"))
