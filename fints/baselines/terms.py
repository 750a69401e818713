"""Regressors of a regression with time-series errors: what the calendar alone says of a bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.baselines.seasons import season_keys
from fints.errors import ConfigError, SchemaError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.baselines.history import History


@dataclass(frozen=True, slots=True, eq=False)
class CalendarTerms:
    """Columns that stand for the calendar, centred on the training rows.

    Parameters
    ----------
    columns : tuple of str
        Known-future covariates (``cal_…``) among them.
    times : ndarray of int64, shape (b,)
        Times of day seen in training, one 0/1 column each; empty on daily bars. A bar at another time of day counts as
        an average one.
    centre : ndarray, shape (c + b,)
        Means over the training rows.
    """

    columns: tuple[str, ...]
    times: NDArray[np.int64]
    centre: NDArray[np.float64]

    @classmethod
    def of(cls, history: History, *, calendar: bool) -> CalendarTerms:
        """Choose the columns from a training history.

        Raises
        ------
        ConfigError
            If calendar terms are asked for and the panel has none.
        """
        columns = tuple(map(str, history.covariates.columns)) if calendar else ()
        if calendar and not columns:
            raise ConfigError(
                f"{history.unique_id}: a model with calendar=True needs known-future covariates (cal_…) in the panel; "
                "make it with features=True"
            )
        times = np.unique(_time_of_day(history.ds)) if history.intraday else np.empty(0, np.int64)
        raw = _raw(columns, times, history.covariates, history.ds)
        return cls(columns, times, raw.mean(axis=0))

    def matrix(self, covariates: pd.DataFrame, ds: pd.DatetimeIndex) -> NDArray[np.float64]:
        """Return the regressors of some bars, shape (n, c + b).

        Raises
        ------
        SchemaError
            If the bars lack a covariate.
        """
        missing = [column for column in self.columns if column not in covariates.columns]
        if missing:
            raise SchemaError(f"the bars lack the covariates {missing}, which the model was fitted with")
        centred = _raw(self.columns, self.times, covariates, ds) - self.centre
        if len(self.times):
            centred[~np.isin(_time_of_day(ds), self.times), len(self.columns) :] = 0.0
        return centred


def _time_of_day(ds: pd.DatetimeIndex) -> NDArray[np.int64]:
    return season_keys("bar", ds, np.empty(0, np.int64))


def _raw(
    columns: tuple[str, ...], times: NDArray[np.int64], covariates: pd.DataFrame, ds: pd.DatetimeIndex
) -> NDArray[np.float64]:
    at_time = (_time_of_day(ds)[:, None] == times[None, :]).astype(np.float64)
    return np.hstack([covariates[list(columns)].to_numpy(np.float64), at_time])
