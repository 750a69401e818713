"""The end of every series of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.sessions import parse_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


def recent(panel: pd.DataFrame, size: int | None, among: NDArray[np.bool_] | None = None) -> pd.DataFrame:
    """Keep the rows from the last known values of every series on: of long histories the rest is most of the work.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``, sorted by series and bar.
    size : int, optional
        Values that are read; None keeps all rows, and so does a panel of intraday bars, on which what is read is
        counted in sessions.
    among : ndarray of bool, shape (n,), optional
        Rows that count; the others are left out.

    Returns
    -------
    pandas.DataFrame
        With a fresh index. Rows without a value that lie between those kept stay, for places on the clocks come from
        them.
    """
    chosen = np.ones(len(panel), dtype=bool) if among is None else among
    if size is not None and len(panel) and parse_interval(str(panel["interval"].iloc[0])) is None:
        owner, _ = pd.factorize(panel["unique_id"])
        known = np.cumsum(chosen & np.isfinite(panel["y"].to_numpy(float)))
        last = np.flatnonzero(np.append(np.diff(owner) != 0, [True]))
        chosen = chosen & (known[last][owner] - known < size)
    kept = panel if chosen.all() else panel[chosen]  # a panel of many series is not copied for nothing
    return kept.reset_index(drop=True)
