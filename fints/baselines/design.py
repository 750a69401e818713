"""The regressors of a direct regression: means of the past, and what is known of the target bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.baselines.seasons import latest_in_season, previous_in_season, season_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROFILE_SESSIONS = 20
"""Sessions in the mean of a time of day."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Mean of the same time of day over the last sessions, as seen from any row.

    Parameters
    ----------
    means : ndarray, shape (T,)
        Mean of the last rows at the time of day of each row, itself included.
    previous : ndarray of int64, shape (T + future,)
        The row before at the same time of day.
    """

    means: NDArray[np.float64]
    previous: NDArray[np.int64]

    @classmethod
    def of(cls, y: NDArray[np.float64], ds: pd.DatetimeIndex, sessions: int = PROFILE_SESSIONS) -> Profile:
        """Measure it on T known values over so many sessions; `ds` may go on into the future."""
        keys = season_keys("bar", ds, np.arange(len(ds)))
        rolling = pd.Series(y).groupby(keys[: len(y)]).rolling(sessions, min_periods=1).mean()
        means = np.asarray(rolling.droplevel(0).sort_index(), dtype=np.float64)
        return cls(means=means, previous=previous_in_season(keys))

    def at(self, origins: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what each origin knew about the target's time of day, shape (n,)."""
        source = latest_in_season(self.previous, origins, targets)
        return self.means[np.where(source < 0, origins, source)]


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Regressors of any pair of origin and target row.

    Parameters
    ----------
    past : ndarray, shape (T, spans)
        Means up to each row.
    calendar : ndarray, shape (T + future, c)
        Known-future terms of each row.
    profile : Profile or None
        Time-of-day means, on intraday bars.
    """

    past: NDArray[np.float64]
    calendar: NDArray[np.float64]
    profile: Profile | None

    @property
    def width(self) -> int:
        """Regressors besides the constant."""
        return int(self.past.shape[1] + self.calendar.shape[1]) + (0 if self.profile is None else 2)

    @property
    def same_at_every_step(self) -> bool:
        """Whether regressors depend on the origin only, so that one factorisation serves all steps."""
        return self.profile is None and self.calendar.shape[1] == 0

    def matrix(self, origins: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the regressors, without the constant, shape (n, width)."""
        columns = [self.past[origins], self.calendar[targets]]
        if self.profile is not None:
            columns += [self.profile.means[origins, None], self.profile.at(origins, targets)[:, None]]
        return np.hstack(columns)
