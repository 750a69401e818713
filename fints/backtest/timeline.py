"""The spans of a walk-forward comparison, to be drawn: what each window learns from, keeps apart and forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest.folds import leading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.backtest.folds import Folds

COLUMNS = ["fold", "cutoff", "part", "start", "end", "bars"]


def fold_timeline(folds: Folds, panel: pd.DataFrame, fitted_at: Sequence[int] | None = None) -> pd.DataFrame:
    """Lay the windows out as spans on the series that reaches furthest.

    Parameters
    ----------
    folds : Folds
    panel : pandas.DataFrame
        The one that the folds were made for.
    fitted_at : sequence of int, optional
        The window whose rows each window's model was fitted on; its own by default.

    Returns
    -------
    pandas.DataFrame
        One row for each window and part that is not empty: ``fold, cutoff, part`` (``train``; ``embargo``; ``purge``;
        ``history``: known and read, but younger than the fit; ``test``), ``start`` and ``end`` (first and last stamp,
        both included), ``bars``. The parts of a window follow each other without a gap.
    """
    _, stamps = leading(panel)
    place = {stamp: i for i, stamp in enumerate(stamps)}
    rows = []
    for fold, cutoff in enumerate(folds):
        fit = place[folds.cutoffs[fold if fitted_at is None else fitted_at[fold]]] + 1
        end = place[cutoff] + 1
        learned = max(fit - folds.dropped, 0)
        oldest = 0 if folds.input_size is None else max(learned - folds.input_size, 0)
        edges = {
            "train": (oldest, learned),
            "embargo": (learned, max(fit - folds.purge, 0)),
            "purge": (max(fit - folds.purge, 0), fit),
            "history": (fit, end),
            "test": (end, min(end + folds.h, len(stamps))),
        }
        rows += [
            (fold, cutoff, part, stamps[first], stamps[last - 1], last - first)
            for part, (first, last) in edges.items()
            if last > first
        ]
    return pd.DataFrame(rows, columns=COLUMNS)
