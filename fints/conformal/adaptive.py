"""Bands that follow what came: conformal control of a forecaster's quantiles."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
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
        Sessions, or bars, in which the smoothed size of the errors forgets half.
    rate : float
        Step of the quantile trackers, in widths of the band.
    """

    half_life: float = 20.0
    rate: float = 0.02

    def __post_init__(self) -> None:
        if not self.half_life > 0 or not 0 <= self.rate < 1:
            raise ConfigError(
                f"bands follow with a half-life above 0 and a rate from 0 to below 1; got {self.half_life:g} and "
                f"{self.rate:g}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """How far the bands of a series have moved since they were calibrated.

    Parameters
    ----------
    size : ndarray, shape (S,)
        Smoothed size of the recent errors, as a multiple of what the calibrated bands say; one per stretch of the
        horizon.
    tracked : ndarray, shape (S, len(QUANTILES))
        What the trackers add to each quantile, in widths.
    """

    size: NDArray[np.float64]
    tracked: NDArray[np.float64]

    @classmethod
    def none(cls, stretches: int) -> Drift:
        """Start where the calibration left the bands."""
        return cls(np.ones(stretches), np.zeros((stretches, len(QUANTILES))))


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveBands:
    """Bands and how far they have moved: a value that can be stored between nights.

    Conformal PID control (Angelopoulos, Candès & Tibshirani 2023, "Conformal PID control for time series prediction",
    NeurIPS 36) for every stated quantile: a scorecaster, the exponentially smoothed size of the errors, by which the
    distances from the median are multiplied, and quantile tracking (eq. 3) of what is left, whose long-run coverage
    holds whatever the series does. The tracker looks at each error with the bands of today rather than with those at
    the time of its forecast, since errors of long horizons come late. There is no integrator.

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
            drifts[str(name)] = self._followed(str(name), rows.sort_values("ds", kind="stable"))
        return replace(self, drifts=drifts, until=pd.Timestamp(fresh["ds"].max()).isoformat())

    def to_json(self) -> str:
        """Write as JSON."""
        return json.dumps(
            {
                "base": self.base.to_plain(),
                "pace": {"half_life": self.pace.half_life, "rate": self.pace.rate},
                "drifts": {
                    name: {"size": d.size.tolist(), "tracked": d.tracked.tolist()} for name, d in self.drifts.items()
                },
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
            pace = Pace(float(plain["pace"]["half_life"]), float(plain["pace"]["rate"]))
            drifts = {
                str(name): Drift(np.array(d["size"], float), np.array(d["tracked"], float))
                for name, d in plain["drifts"].items()
            }
            until = str(plain["until"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"these are no adaptive bands: {error!r}; calibrate again") from error
        return cls(base, pace, drifts, until)

    def _drift(self, name: str) -> Drift:
        return self.drifts.get(name) or Drift.none(len(self.base.ends) + 1)

    def _moved(self, name: str, quantiles: NDArray[np.float64], steps: NDArray[np.int64]) -> NDArray[np.float64]:
        stretch, drift = stretch_of(steps, self.base.ends), self._drift(name)
        middle, wide = quantiles[:, [MIDDLE]], widths(quantiles)[:, None]
        away = quantiles - middle + self.base.of(name)[stretch] * wide
        moved: NDArray[np.float64] = middle + drift.size[stretch, None] * away + drift.tracked[stretch] * wide
        return moved

    def _followed(self, name: str, rows: pd.DataFrame) -> Drift:
        drift, normal = self._drift(name), self.base.of(name)
        size, tracked = drift.size.copy(), drift.tracked.copy()
        stretch = stretch_of(rows["step"].to_numpy(np.int64), self.base.ends)
        missed = scores(rows["y"].to_numpy(float), rows[list(QUANTILE_COLUMNS)].to_numpy(float))
        from_middle = missed[:, [MIDDLE]]
        away = from_middle - missed + normal[stretch]
        bar = rows["ds"].rank(method="dense").to_numpy(np.int64)
        usual = np.abs(away) @ shares_of_quantiles()
        last: dict[int, float] = {}
        for now, s in sorted(set(zip(bar.tolist(), stretch.tolist(), strict=True))):
            members = (bar == now) & (stretch == s)
            moved = size[s] * away[members] + tracked[s]
            tracked[s] += self.pace.rate * ((from_middle[members] > moved).mean(axis=0) - (1 - _P))
            # an outlier counts as far as the bands reach, which is also as far as the usual size is reckoned
            reached = np.clip(from_middle[members, 0], size[s] * away[members, 0], size[s] * away[members, -1])
            recent = float(np.abs(reached).mean() / usual[members].mean())
            keep = 0.5 ** ((now - last.get(s, now - 1)) / self.pace.half_life)
            size[s] = keep * size[s] + (1 - keep) * recent
            last[s] = now
        return Drift(size, tracked)
