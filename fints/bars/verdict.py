"""What has been decided about the rows of a frame while it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.bars.finding import Finding
from fints.bars.schema import PRICES, series_codes, sort_bars, utc_stamps

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.bars.rules import Rule


@dataclass(frozen=True, slots=True)
class Verdict:
    """Sorted bars, those set aside so far, and the findings so far; the checks fill it.

    Attributes
    ----------
    bars : pandas.DataFrame
        Sorted by key, then by what makes one of two rows with equal keys the better one.
    series : int64 array, shape (rows,)
        Number of each row's series, ascending.
    origin : int64 array, shape (rows,)
        Position of each row in the frame that was checked.
    aside : bool array, shape (rows,)
        Rows in quarantine.
    findings : list of Finding
        In the order in which they were made.
    """

    bars: pd.DataFrame
    series: NDArray[np.int64]
    origin: NDArray[np.int64]
    aside: NDArray[np.bool_]
    findings: list[Finding]

    @classmethod
    def of(cls, bars: pd.DataFrame) -> Verdict:
        """Begin with a conformed bars frame in any order, keys may repeat."""
        numbered, repeated = sort_bars(bars.assign(origin=np.arange(len(bars))))
        if repeated.any():
            # newest fetch last; of equal ones the larger volume, which a later snapshot of the same bar has; the
            # prices only make the order total, so that the result does not depend on the order given
            better = [numbered[name].to_numpy() for name in (*reversed(PRICES), "adj_close")]
            better += [numbered["volume"].fillna(-1).to_numpy(dtype=np.int64), utc_stamps(numbered["fetched_at"])]
            order = np.lexsort([*better, utc_stamps(numbered["end"]), series_codes(numbered)])
            numbered = numbered.take(order).reset_index(drop=True)
        origin = numbered.pop("origin").to_numpy(dtype=np.int64)
        return cls(numbered, series_codes(numbered), origin, np.zeros(len(bars), dtype=bool), [])

    def kept(self) -> pd.DataFrame:
        """Return the rows not set aside."""
        return self.bars[~self.aside].reset_index(drop=True) if self.aside.any() else self.bars

    def flag(self, mask: NDArray[np.bool_], rule: Rule) -> None:
        """Report the rows of ``mask``, shape (rows,), as far as they are not set aside yet."""
        self.flag_rows(np.flatnonzero(mask & ~self.aside), rule)

    def flag_rows(self, rows: NDArray[np.int64], rule: Rule) -> None:
        """Report rows by position."""
        if not rows.size:
            return
        self.aside[rows] |= rule.severity == "quarantine"
        for place, row in zip(rows.tolist(), self.bars.iloc[rows].to_dict("records"), strict=True):
            finding = Finding(
                symbol=row["symbol"],
                interval=row["interval"],
                session=row["session"],
                end=row["end"],
                severity=rule.severity,
                kind=rule.kind,
                reason=rule.reason.format_map({str(name): value for name, value in row.items()}),
                values={str(name): value for name, value in row.items()} if self.aside[place] else {},
                row=int(self.origin[place]),
            )
            self.findings.append(finding)
