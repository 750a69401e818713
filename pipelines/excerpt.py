"""Rows of a panel, copied only where they are asked for, and what they hold, as a hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from numpy.typing import NDArray

_STRETCH = 65_536  # rows that are looked at together: text is laid out as objects, many times its size, to be hashed


@dataclass(frozen=True, slots=True, eq=False)
class Excerpt:
    """Some rows of a panel.

    Of many series they are as large as the panel, and most nights need no more of them than their hash.

    Parameters
    ----------
    source : pandas.DataFrame
        The panel.
    chosen : ndarray of bool, shape (n,)
        Which of its rows.
    """

    source: pd.DataFrame
    chosen: NDArray[np.bool_]

    @classmethod
    def whole(cls, panel: pd.DataFrame) -> Self:
        """Take every row."""
        return cls(panel, np.ones(len(panel), dtype=bool))

    @classmethod
    def until(cls, panel: pd.DataFrame, bar: pd.Timestamp) -> Self:
        """Take the rows up to a bar."""
        return cls(panel, (panel["ds"] <= bar).to_numpy(dtype=bool))

    @property
    def columns(self) -> list[str]:
        """Of the panel."""
        return list(map(str, self.source.columns))

    def cut(self) -> pd.DataFrame:
        """Copy the rows, with a fresh index; where they are all, nothing is copied."""
        rows = self.source if self.chosen.all() else self.source[self.chosen]
        return rows.reset_index(drop=True)

    def hashed(self, column: str | None = None) -> Iterator[bytes]:
        """Hash what each row holds, a stretch of the rows at a time.

        Put together, it is what `pandas.util.hash_pandas_object` gives for the rows at once, so that names of fits that
        were made of it do not depend on the way that they are worked out.

        Parameters
        ----------
        column : str, optional
            Whose values are hashed; each row as a whole by default.
        """
        wanted = self.source if column is None else self.source[column]
        for first in range(0, len(self.source), _STRETCH):
            stretch = slice(first, first + _STRETCH)
            rows = wanted.iloc[stretch][self.chosen[stretch]]
            yield pd.util.hash_pandas_object(rows, index=False).to_numpy().tobytes()
