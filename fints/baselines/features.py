"""Features of a pooled model: what any origin knew of its series, in units of its own window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.baselines.design import Profile
from fints.series.lags import LONG_HAR_SPANS, har_features, lag_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.baselines.history import History

LEAST_SESSIONS = 20
"""Sessions that a window needs before anything is forecast from it."""

LONGEST_MEAN = max(LONG_HAR_SPANS)
"""Sessions."""

_WEEK = 5
_FLAT = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class PastFeatures:
    """Features of any pair of origin and target row of one series.

    Parameters
    ----------
    centre, spread : ndarray, shape (T,)
        Mean over the last week, and standard deviation over the window, up to each row.
    past : ndarray, shape (T, n)
        Lags and means, scaled; NaN where they reach before the first row.
    calendar : ndarray, shape (T + future, c)
        Known-future covariates.
    profile : Profile or None
        Time-of-day means, on intraday bars.
    first : int
        First row that can be an origin.
    """

    centre: NDArray[np.float64]
    spread: NDArray[np.float64]
    past: NDArray[np.float64]
    calendar: NDArray[np.float64]
    profile: Profile | None
    first: int

    @classmethod
    def of(
        cls,
        history: History,
        lags: Sequence[int],
        context: int,
        columns: Sequence[str],
        future: pd.DataFrame | None = None,
    ) -> PastFeatures:
        """Measure them on a history, which may go on into `future` (columns of `future_frame`).

        Parameters
        ----------
        history : History
        lags : sequence of int
            1 is the last value.
        context : int
            Sessions that a window's spread is measured on.
        columns : sequence of str
            Covariates.
        future : pandas.DataFrame, optional
        """
        session, y = history.bars_per_session(), history.y
        rolling = pd.Series(y).rolling(context * session, min_periods=LEAST_SESSIONS * session)
        week = _WEEK * session
        # the same mean as among the features, which is then zero there and no rounding that trees could split on
        centre = np.array(pd.Series(y).expanding().mean(), dtype=np.float64)
        centre[week - 1 :] = har_features(y, [week])[week - 1 :, 0]
        deviation = np.asarray(rolling.std(ddof=0), dtype=np.float64)
        spread = np.where(deviation > _FLAT * np.maximum(np.abs(centre), 1.0), deviation, 1.0)
        means = har_features(y, [span * session for span in LONG_HAR_SPANS if span * session > 1])
        past = np.hstack([lag_features(y, [lag - 1 for lag in lags]), means])
        ds, calendar = history.ds, history.covariates[list(columns)].to_numpy(np.float64)
        if future is not None:
            ds = pd.DatetimeIndex(ds.append(pd.DatetimeIndex(future["ds"])))
            calendar = np.vstack([calendar, future[list(columns)].to_numpy(np.float64)])
        return cls(
            centre=centre,
            spread=spread,
            past=(past - centre[:, None]) / spread[:, None],
            calendar=calendar,
            profile=Profile.of(y, ds) if history.intraday else None,
            first=LEAST_SESSIONS * session - 1,
        )

    def matrix(
        self, origins: NDArray[np.int64], targets: NDArray[np.int64], steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the features of pairs, shape (n, features)."""
        columns = [self.past[origins], steps[:, None].astype(np.float64), self.calendar[targets]]
        if self.profile is not None:
            around = np.column_stack([self.profile.at(origins, targets), self.profile.means[origins]])
            columns.append((around - self.centre[origins, None]) / self.spread[origins, None])
        return np.hstack(columns)
