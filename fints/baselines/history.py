"""What is known of one series when it is forecast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.series import CALENDAR_PREFIX, PAST_PREFIX

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAILY = "1d"


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The known rows of one series, oldest first.

    Parameters
    ----------
    unique_id : str
        Its name, for messages.
    ds : pandas.DatetimeIndex, shape (T,)
        Session dates, or exchange-local starts of intraday bars.
    y : ndarray, shape (T,)
        Finite values.
    covariates : pandas.DataFrame, shape (T, c)
        The columns ``cal_…`` of the panel.
    companions : pandas.DataFrame, shape (T, p)
        The columns ``past_…`` of the panel.
    intraday : bool
        Whether several bars share a session.
    """

    unique_id: str
    ds: pd.DatetimeIndex
    y: NDArray[np.float64]
    covariates: pd.DataFrame
    companions: pd.DataFrame
    intraday: bool

    @classmethod
    def of(cls, rows: pd.DataFrame) -> History:
        """Read one series of a panel; rows whose ``y`` is unknown are passed over."""
        known = rows[np.isfinite(rows["y"].to_numpy(float))]
        interval = str(rows["interval"].iloc[0]) if "interval" in rows.columns else DAILY
        return cls(
            unique_id=str(rows["unique_id"].iloc[0]),
            ds=pd.DatetimeIndex(known["ds"]),
            y=known["y"].to_numpy(float),
            covariates=known.filter(regex=f"^{CALENDAR_PREFIX}").reset_index(drop=True),
            companions=known.filter(regex=f"^{PAST_PREFIX}").reset_index(drop=True),
            intraday=interval != DAILY,
        )

    def tail(self, size: int) -> History:
        """Return the last rows, at most so many."""
        if len(self.y) <= size:
            return self
        return replace(
            self,
            ds=self.ds[-size:],
            y=self.y[-size:],
            covariates=self.covariates.iloc[-size:].reset_index(drop=True),
            companions=self.companions.iloc[-size:].reset_index(drop=True),
        )

    def bars_per_session(self) -> int:
        """Count the bars of an ordinary session: the most frequent count; 1 on daily bars."""
        if not self.intraday or not len(self.ds):
            return 1
        counts = pd.Series(1, index=self.ds.normalize()).groupby(level=0).sum()
        return int(counts.mode().max())
