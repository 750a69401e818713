"""The series whose bars are counted where windows of many series are laid side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Hashable

LONGEST_CLOSURE: Final = pd.Timedelta(days=14)
"""Longer than a market rests for its holidays; the longest are the weeks of the lunar new year and of early May."""


def longest_going_on(panel: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the longest series that goes on to the end of a panel, in order.

    One that ended, a share that was delisted, say, has no bar to count any more, however long it was.

    Parameters
    ----------
    panel : pandas.DataFrame
        ``unique_id, ds``, not empty; stamps of each series in order.
    """
    reach = panel.groupby("unique_id", observed=True)["ds"].agg(["size", "max"])
    going_on = reach["max"] >= reach["max"].max() - LONGEST_CLOSURE
    longest: Hashable = reach.loc[going_on, "size"].idxmax()
    return panel[panel["unique_id"] == longest]
