"""Calendar features of a panel, computed once per exchange and shared by its series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.series.grid import located
from fints.sessions import calendar_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.series.grid import Instant

CALENDAR_PREFIX = "cal_"
PAST_PREFIX = "past_"


def feature_names(features: bool | Sequence[str]) -> list[str] | None:
    """Names to compute, without prefix; None stands for all of them."""
    if isinstance(features, bool):
        return None if features else []
    return [str(name).removeprefix(CALENDAR_PREFIX) for name in features]


def add_features(
    panel: pd.DataFrame, features: bool | Sequence[str] = True, *, known_at: Instant | None = None
) -> pd.DataFrame:
    """Give a panel its known-future calendar features.

    Parameters
    ----------
    panel : pandas.DataFrame
        A valid panel, sorted by ``unique_id, ds``; ``cal_`` columns that it already has are replaced.
    features : bool or sequence of str
        True for every feature of :data:`fints.sessions.FEATURES`, or the names of some.
    known_at : date or instant, optional
        Calendar facts as known then; today's knowledge if omitted.

    Returns
    -------
    pandas.DataFrame
        The panel with float64 columns ``cal_<name>`` after ``interval``.

    Raises
    ------
    SeriesError
        If a row lies outside every session of its exchange.
    UnknownNameError
        If a feature or an exchange does not exist.
    """
    names = feature_names(features)
    base = panel.drop(columns=[column for column in panel.columns if column.startswith(CALENDAR_PREFIX)])
    if names == [] or base.empty:
        return base
    parts = [(part, calendar_features(part.bars, part.calendar, names)) for part in located(base, known_at)]
    columns = list(dict.fromkeys(str(column) for _, table in parts for column in table.columns))
    # of many series they are most of a panel: laid out once, as the frame holds them
    values = np.full((len(columns), len(base)), np.nan)
    for part, table in parts:
        for column, own in zip(columns, values, strict=True):
            if column in table.columns:
                own[part.rows] = table[column].to_numpy(dtype=np.float64)[part.bar_of_row]
    past = [column for column in base.columns if column.startswith(PAST_PREFIX)]
    lead = [column for column in base.columns if column not in past]
    calendar = pd.DataFrame(values.T, index=base.index, columns=columns, copy=False)
    return pd.concat([base[lead], calendar, base[past]], axis=1)
