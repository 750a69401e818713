"""Series that can be forecast as far as is wanted: some exchanges publish their holidays a year ahead, or later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.errors import CalendarError
from fints.series.future import future_frame
from fints.series.problems import SeriesProblem

if TYPE_CHECKING:
    import pandas as pd

_READ = ("unique_id", "ds", "y", "exchange", "interval")


def within_reach(panel: pd.DataFrame, h: int) -> tuple[pd.DataFrame, list[SeriesProblem]]:
    """Keep the series whose calendar reaches `h` bars beyond their last one; the others go on without them.

    Parameters
    ----------
    panel : pandas.DataFrame
        A valid panel.
    h : int
        Bars ahead.

    Returns
    -------
    kept : pandas.DataFrame
        Rows in the panel's order, with a fresh index; the panel itself if all are kept.
    problems : list of SeriesProblem
        One per series that was left out, ordered by name.
    """
    ends = panel.groupby("unique_id", sort=False).agg(exchange=("exchange", "first"), last=("ds", "last"))
    problems = []
    for _, alike in ends.groupby(["exchange", "last"]):
        one = panel.loc[panel["unique_id"] == alike.index[0], list(_READ)]
        try:
            future_frame(one, h)
        except CalendarError as error:
            said = f"its next {h} bars cannot be dated: {error}, or lower h"
            problems += [SeriesProblem(str(name), said) for name in alike.index]
    if not problems:
        return panel, []
    out = {problem.unique_id for problem in problems}
    kept = panel[~panel["unique_id"].isin(out)].reset_index(drop=True)
    return kept, sorted(problems, key=lambda problem: problem.unique_id)
