"""Which earlier row belongs to the same season as a later one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

Season = Literal["week", "bar"] | int

_DAY_NS = 86_400_000_000_000


def season_keys(season: Season, ds: pd.DatetimeIndex, position: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give rows of the same season the same number.

    Parameters
    ----------
    season : {"week", "bar"} or int
        Weekday and time of day; time of day; or a lag in bars.
    ds : pandas.DatetimeIndex, shape (n,)
        Exchange-local times of the rows.
    position : ndarray of int64, shape (n,)
        Ordinals of the rows, which a lag counts in.

    Returns
    -------
    ndarray of int64, shape (n,)
        Equal for rows of the same season.
    """
    if not isinstance(season, str):
        return position % season
    time_of_day = ds.to_numpy().astype("datetime64[ns]").astype(np.int64) % _DAY_NS
    if season == "bar":
        return time_of_day
    weekday = np.asarray(ds.day_of_week, dtype=np.int64)
    return weekday * _DAY_NS + time_of_day


def previous_in_season(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row before each row with the same key; -1 where there is none; shape (n,)."""
    rows = pd.Series(np.arange(len(keys)))
    previous: NDArray[np.int64] = rows.groupby(keys).shift(1).fillna(-1).to_numpy(np.int64)
    return previous


def latest_in_season(
    previous: NDArray[np.int64], origins: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Find the last row, not after the origin, that is of the target's season.

    Parameters
    ----------
    previous : ndarray of int64, shape (n,)
        From `previous_in_season`.
    origins, targets : ndarray of int64, shape (m,)
        Rows, each target after its origin.

    Returns
    -------
    ndarray of int64, shape (m,)
        -1 where the season was never seen by then.
    """
    source = previous[targets]
    while (late := source > origins).any():
        source = np.where(late, previous[source], source)
    return source
