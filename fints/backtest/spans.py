"""Windows that overlap: which of them tests count as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.backtest.significance import overlap_lag

if TYPE_CHECKING:
    import pandas as pd

    from fints.backtest.folds import Folds


@dataclass(frozen=True, slots=True)
class Spans:
    """Neighbouring windows that together reach hardly further than one, and are one to every test.

    Tests that take windows as they overlap, and allow for it in the variance, are too sure of themselves on a few dozen
    of them: with 25 that begin a fifth of their length apart, equally good models are told apart in one backtest of
    five, by Diebold-Mariano with Holm as by superior ability, where it should be one of twenty. Side by side, it is one
    of thirty.

    Parameters
    ----------
    together : int
        Windows that are counted as one; 1 where they lie side by side.
    begin : dict of pandas.Timestamp to pandas.Timestamp
        For the cutoff of every window, that of the first one that it is counted with. Nearly all spans have as many
        windows, and no window is left out.
    lag : int
        Spans up to which losses may be correlated; see `overlap_lag`.
    """

    together: int
    begin: dict[pd.Timestamp, pd.Timestamp]
    lag: int

    @classmethod
    def of(cls, folds: Folds) -> Spans:
        """Put windows together."""
        together, windows = max(int(folds.h / folds.step_size + 0.5), 1), len(folds)
        spans = max(windows // together, 1)
        number = [window * spans // windows for window in range(windows)]
        begin = {cutoff: folds.cutoffs[number.index(i)] for cutoff, i in zip(folds.cutoffs, number, strict=True)}
        return cls(together, begin, overlap_lag(folds.h, folds.step_size * together))

    def joined(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows whose ``cutoff`` is that of the first window of their span."""
        return rows if self.together == 1 else rows.assign(cutoff=rows["cutoff"].map(self.begin))
