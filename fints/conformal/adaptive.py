"""Bands that follow what came: conformal control of a forecaster's quantiles."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.conformal.bands import Bands
from fints.conformal.scores import MIDDLE, scores, shares_of_quantiles, stretch_of, widths
from fints.errors import ConfigError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES, Forecast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_P = np.array(QUANTILES)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast bands follow.

    Parameters
    ----------
    half_life : float
        Sessions in which the smoothed size of the errors forgets half. The bars of one session count together.
    rate : float
        Step of the quantile trackers each session, in widths of the band.
    shrink : float
        Share of the logarithm of a size below 1 that bands follow; one above 1 is followed fully. By chance alone,
        errors are small for a while and then are not: bands that had followed all the way hold too little.
    """

    half_life: float = 15.0
    rate: float = 0.002
    shrink: float = 0.5

    def __post_init__(self) -> None:
        if not self.half_life > 0 or not 0 <= self.rate < 1 or not 0 <= self.shrink <= 1:
            raise ConfigError(
                f"bands follow with a half-life above 0, a rate from 0 to below 1 and a shrink from 0 to 1; got "
                f"{self.half_life:g}, {self.rate:g} and {self.shrink:g}"
            )

    def multiple(self, size: float) -> float:
        """Say by how much bands are multiplied for a smoothed size of the errors."""
        return float(size**self.shrink) if size < 1 else size


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """How far the bands of a series have moved since they were calibrated.

    Parameters
    ----------
    size : float
        Smoothed size of the recent errors, as a multiple of what the calibrated bands say: a storm is one at every
        step ahead, and steps with few errors of their own learn of it from the others.
    tracked : ndarray, shape (S, len(QUANTILES))
        What the trackers add to each quantile, in widths; one row per stretch of the horizon.
    """

    size: float
    tracked: NDArray[np.float64]

    @classmethod
    def none(cls, stretches: int) -> Drift:
        """Start where the calibration left the bands."""
        return cls(1.0, np.zeros((stretches, len(QUANTILES))))


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveBands:
    """Bands and how far they have moved: a value that can be stored between nights.

    Conformal PID control (Angelopoulos, Candès & Tibshirani 2023, "Conformal PID control for time series prediction",
    NeurIPS 36) for every stated quantile: a scorecaster, the exponentially smoothed size of a series' errors, by which
    the distances from the median are multiplied (see `Pace.shrink` for sizes below 1), and quantile tracking (eq. 3) of
    what is left, whose long-run coverage holds whatever the series does. The tracker looks at each error with the bands
    of today rather than with those at the time of its forecast, since errors of long horizons come late. There is no
    integrator.

    Parameters
    ----------
    base : Bands
        As calibrated.
    pace : Pace
    drifts : mapping of str to Drift
        By ``unique_id``; series without one are where the calibration left them.
    until : str
        ISO stamp of the last bar learned from; empty before the first.
    """

    base: Bands
    pace: Pace = field(default_factory=Pace)
    drifts: Mapping[str, Drift] = field(default_factory=dict)
    until: str = ""

    def apply(self, forecast: Forecast) -> Forecast:
        """Correct the quantiles of a model's own forecast; its mean stays."""
        steps = forecast.frame["step"].to_numpy(np.int64)
        names = forecast.frame["unique_id"].astype(str).to_numpy()
        quantiles = np.empty_like(forecast.quantiles)
        for name in np.unique(names):
            rows = names == name
            quantiles[rows] = self._moved(name, forecast.quantiles[rows], steps[rows])
        return Forecast(forecast.frame, forecast.mean, np.sort(quantiles, axis=1))

    def update(self, frame: pd.DataFrame) -> AdaptiveBands:
        """Learn from forecasts whose outcome has become known.

        Parameters
        ----------
        frame : pandas.DataFrame
            ``unique_id, ds, step, y`` and the quantile columns of the model's own forecasts, before any correction.
            Rows up to `until` have been learned from and are passed over, as are those whose ``y`` is unknown.

        Returns
        -------
        AdaptiveBands
            A new value; this one stays as it is.
        """
        fresh = frame[np.isfinite(frame["y"].to_numpy(float))]
        if self.until:
            fresh = fresh[fresh["ds"] > pd.Timestamp(self.until)]
        if fresh.empty:
            return self
        drifts = dict(self.drifts)
        for name, rows in fresh.groupby("unique_id", sort=True):
            drifts[str(name)] = self._followed(str(name), rows)
        return replace(self, drifts=drifts, until=pd.Timestamp(fresh["ds"].max()).isoformat())

    def to_json(self) -> str:
        """Write as JSON."""
        return json.dumps(
            {
                "base": self.base.to_plain(),
                "pace": asdict(self.pace),
                "drifts": {name: {"size": d.size, "tracked": d.tracked.tolist()} for name, d in self.drifts.items()},
                "until": self.until,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> AdaptiveBands:
        """Read what `to_json` wrote.

        Raises
        ------
        ConfigError
            If it is something else.
        """
        try:
            plain: dict[str, Any] = json.loads(text)
            base = Bands.from_plain(plain["base"])
            pace = Pace(*(float(plain["pace"][part.name]) for part in fields(Pace)))
            drifts = {
                str(name): Drift(float(d["size"]), np.array(d["tracked"], float)) for name, d in plain["drifts"].items()
            }
            until = str(plain["until"])
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ConfigError(f"these are no adaptive bands: {error!r}; calibrate again") from error
        return cls(base, pace, drifts, until)

    def _drift(self, name: str) -> Drift:
        return self.drifts.get(name) or Drift.none(len(self.base.ends) + 1)

    def _moved(self, name: str, quantiles: NDArray[np.float64], steps: NDArray[np.int64]) -> NDArray[np.float64]:
        stretch, drift = stretch_of(steps, self.base.ends), self._drift(name)
        middle, wide = quantiles[:, [MIDDLE]], widths(quantiles)[:, None]
        away = quantiles - middle + self.base.of(name)[stretch] * wide
        moved: NDArray[np.float64] = middle + self.pace.multiple(drift.size) * away + drift.tracked[stretch] * wide
        return moved

    def _followed(self, name: str, rows: pd.DataFrame) -> Drift:
        drift, normal = self._drift(name), self.base.of(name)
        size, tracked = drift.size, drift.tracked.copy()
        rows = rows.sort_values("ds", kind="stable")
        stretch = stretch_of(rows["step"].to_numpy(np.int64), self.base.ends)
        missed = scores(rows["y"].to_numpy(float), rows[list(QUANTILE_COLUMNS)].to_numpy(float))
        from_middle = missed[:, [MIDDLE]]
        away = from_middle - missed + normal[stretch]
        usual = np.abs(away) @ shares_of_quantiles()
        keep = 0.5 ** (1 / self.pace.half_life)
        session = rows["ds"].dt.normalize()
        edges = np.flatnonzero(session.ne(session.shift()).to_numpy())
        for first, end in pairwise([*edges.tolist(), len(rows)]):
            own, came, reach = stretch[first:end], from_middle[first:end], away[first:end]
            above = came > self.pace.multiple(size) * reach + tracked[own]
            for s in np.unique(own):
                tracked[s] += self.pace.rate * (above[own == s].mean(axis=0) - (1 - _P))
            # an outlier counts as far as the bands reach, which is also as far as the usual size is reckoned
            within = np.clip(came[:, 0], size * reach[:, 0], size * reach[:, -1])
            size = keep * size + (1 - keep) * float(np.abs(within).mean() / usual[first:end].mean())
        return Drift(size, tracked)
