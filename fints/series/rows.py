"""Rows of a long frame: which belong to a series, and how they are named in a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_DATES_SHOWN = 3


def series_rows(panel: pd.DataFrame) -> dict[str, NDArray[np.intp]]:
    """Row numbers of each series, ordered by ``unique_id``."""
    groups = panel.groupby("unique_id", sort=True).indices
    return {str(uid): np.asarray(rows, dtype=np.intp) for uid, rows in groups.items()}


def named_dates(ds: Iterable[pd.Timestamp]) -> str:
    """First few of some dates as text, with the time of day only where there is one."""
    every = [pd.Timestamp(day) for day in ds]
    texts = [f"{day:%Y-%m-%d}" if day == day.normalize() else f"{day:%Y-%m-%d %H:%M}" for day in every[:_DATES_SHOWN]]
    more = len(every) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")
