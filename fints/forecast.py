"""What a forecast is, and what can make one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from fints.errors import ConfigError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from numpy.typing import NDArray

QUANTILES: tuple[float, ...] = (
    0.025, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.975,
)  # fmt: skip
"""Probabilities at which every forecaster states its distribution."""

_SAME = 1e-12

KEYS = ("unique_id", "ds", "step")


def quantile_name(probability: float) -> str:
    """Name the column of a quantile: 0.1 is ``q10``, 0.025 is ``q025``.

    Parameters
    ----------
    probability : float
        Strictly between 0 and 1.

    Returns
    -------
    str
        ``q`` and the digits after the decimal point, at least two of them.
    """
    return "q" + f"{probability:.4f}".split(".")[1].rstrip("0").ljust(2, "0")


QUANTILE_COLUMNS: tuple[str, ...] = tuple(quantile_name(p) for p in QUANTILES)


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The forecast distribution of one or more series, h bars ahead.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per forecast bar, with the columns ``unique_id``, ``ds`` (session date, or exchange-local start of an
        intraday bar) and ``step`` (1 is the first bar after the history).
    mean : ndarray, shape (n,)
        Point forecast in the unit of ``y``.
    quantiles : ndarray, shape (n, len(QUANTILES))
        Forecast at each probability of `QUANTILES`, not decreasing along the last axis.

    Raises
    ------
    SchemaError
        If the shapes do not agree or a column is missing.
    """

    frame: pd.DataFrame
    mean: NDArray[np.float64]
    quantiles: NDArray[np.float64]

    def __post_init__(self) -> None:
        missing = [c for c in KEYS if c not in self.frame.columns]
        if missing:
            raise SchemaError(f"a forecast frame needs the columns {KEYS}; {missing} are missing")
        n = len(self.frame)
        if self.mean.shape != (n,) or self.quantiles.shape != (n, len(QUANTILES)):
            raise SchemaError(
                f"a forecast of {n} rows needs a mean of shape ({n},) and quantiles of shape ({n}, {len(QUANTILES)}); "
                f"got {self.mean.shape} and {self.quantiles.shape}"
            )

    def __len__(self) -> int:
        return len(self.frame)

    def at(self, probability: float) -> NDArray[np.float64]:
        """Read the distribution at a probability, linearly between the stated ones.

        Parameters
        ----------
        probability : float
            Within the range of `QUANTILES`: nothing is extrapolated into the tails.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        ConfigError
            If the probability lies outside the stated range.
        """
        if not QUANTILES[0] <= probability <= QUANTILES[-1]:
            raise ConfigError(
                f"no forecast is stated at probability {probability:g}; "
                f"ask for one between {QUANTILES[0]:g} and {QUANTILES[-1]:g}"
            )
        right = int(np.searchsorted(QUANTILES, probability - _SAME))
        if abs(QUANTILES[right] - probability) < _SAME:
            return self.quantiles[:, right].copy()
        left = right - 1
        share = (probability - QUANTILES[left]) / (QUANTILES[right] - QUANTILES[left])
        blended: NDArray[np.float64] = (1 - share) * self.quantiles[:, left] + share * self.quantiles[:, right]
        return blended

    def band(self, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the central band that holds `level` percent of the distribution.

        Parameters
        ----------
        level : float
            In percent, above 0 and at most 95.

        Returns
        -------
        lower, upper : ndarray, shape (n,)
        """
        tail = (1 - level / 100) / 2
        return self.at(round(tail, 9)), self.at(round(1 - tail, 9))

    def of(self, rows: NDArray[np.bool_]) -> Self:
        """Select some of the rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (n,)
        """
        return type(self)(self.frame[rows].reset_index(drop=True), self.mean[rows], self.quantiles[rows])

    def to_wide(self, name: str, level: Iterable[float] = ()) -> pd.DataFrame:
        """Lay the forecast out as the Nixtla libraries do.

        Parameters
        ----------
        name : str
            Column of the point forecast.
        level : iterable of float
            Bands in percent; each gives ``<name>-lo-<level>`` and ``<name>-hi-<level>``.

        Returns
        -------
        pandas.DataFrame
            ``unique_id``, ``ds``, then the forecast columns.
        """
        wide = self.frame[["unique_id", "ds"]].reset_index(drop=True)
        wide[name] = self.mean
        for percent in level:
            lower, upper = self.band(percent)
            wide[f"{name}-lo-{percent:g}"] = lower
            wide[f"{name}-hi-{percent:g}"] = upper
        return wide

    def to_long(self) -> pd.DataFrame:
        """Return keys, ``mean`` and one column per quantile (``q025`` … ``q975``)."""
        long = self.frame.reset_index(drop=True).copy()
        long["mean"] = self.mean
        long[list(QUANTILE_COLUMNS)] = self.quantiles
        return long

    @classmethod
    def concat(cls, parts: Iterable[Self]) -> Self:
        """Stack forecasts of different series or origins, in the order given.

        Raises
        ------
        SchemaError
            If there is nothing to stack.
        """
        parts = list(parts)
        if not parts:
            raise SchemaError("no forecasts to put together: every series was left out")
        return cls(
            frame=pd.concat([p.frame for p in parts], ignore_index=True),
            mean=np.concatenate([p.mean for p in parts]),
            quantiles=np.concatenate([p.quantiles for p in parts]),
        )


@runtime_checkable
class Forecaster(Protocol):
    """Anything that learns from a panel and forecasts its series.

    A forecaster never looks at a row after the history it is given: `fit` sees the training panel, `forecast` the
    history up to its own cutoff, nothing is re-estimated in between.

    One may state a ``lookback``, the number of last known values of a daily series that its forecasts depend on: it may
    then be asked from these alone (`lookback`).
    """

    @property
    def name(self) -> str:
        """Name under which it stands in tables."""

    @property
    def h(self) -> int:
        """Bars ahead that it was trained for."""

    def fit(self, panel: pd.DataFrame) -> Self:
        """Estimate everything from the panel (schema ``panel`` of the documentation) and return itself."""

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> Forecast:
        """Forecast the h bars that follow a history.

        Parameters
        ----------
        panel : pandas.DataFrame, optional
            History to forecast from, the fitted panel by default. Nothing is re-estimated.
        at : date, optional
            Ask the same history about the h bars from the first one on or after this date, instead of the next ones.
        known_at : date or instant, optional
            The calendar as it was known then; by default at the close of each series' last bar.
        """

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame: ``unique_id``, ``ds``, the point forecast and its bands."""


@runtime_checkable
class Tracker(Protocol):
    """Where studies, tuning and nightly runs report to; `fints.tracking` implements it with MLflow."""

    def log_params(self, params: dict[str, object]) -> None:
        """Record flat settings."""

    def log_metrics(self, metrics: dict[str, float], step: int = 0) -> None:
        """Record figures at a step."""


def lookback(model: Forecaster) -> int | None:
    """Return how many of the last known values of a daily series a forecaster reads.

    It is what the forecaster states as its ``lookback``; None, of one that states none, means that all of them may
    matter. A history cut to them gives the same forecast to the bit.
    """
    stated: int | None = getattr(model, "lookback", None)
    return stated
