"""What forecasts score, and whether two of them differ by more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.forecasters.judging import LEVELS, QUANTILE_NAMES
from fints.backtest import diebold_mariano

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fints.backtest.significance import DieboldMariano

MEASURES = ("RMSE", "MAE", "CRPS", "cov80")
BANDS = {"1 to 14": (1, 14), "15 to 35": (15, 35), "36 to 70": (36, 70)}
LAG = 1


def losses(frame: pd.DataFrame) -> pd.DataFrame:
    """Give each bar judged its squared and absolute error, its CRPS and whether it lies in the 80 % band.

    The CRPS is twice the mean pinball loss of the quantiles 0.1 to 0.9, as the protocol has it. Errors are in units of
    the window.
    """
    unit, y = frame["unit"].to_numpy(), frame["y"].to_numpy()
    error = (frame["yhat"].to_numpy() - y) / unit
    quantiles = np.sort(frame[QUANTILE_NAMES].to_numpy(float), axis=1)
    below = (y[:, None] - quantiles) / unit[:, None]
    pinball = np.maximum(np.array(LEVELS) * below, (np.array(LEVELS) - 1) * below)
    inside = (y >= quantiles[:, 0]) & (y <= quantiles[:, -1])
    keys = frame[["group", "series", "number", "step"]].reset_index(drop=True)
    return keys.assign(squared=error**2, absolute=np.abs(error), crps=2 * pinball.mean(axis=1), inside=inside)


def daily_scores(frame: pd.DataFrame) -> dict[str, float]:
    """Mean of each measure over the series."""
    means = losses(frame).groupby("series")[["squared", "absolute", "crps", "inside"]].mean()
    values = (np.sqrt(means["squared"]), means["absolute"], means["crps"], means["inside"])
    return {name: float(each.mean()) for name, each in zip(MEASURES, values, strict=True)}


def band_scores(frame: pd.DataFrame) -> dict[str, float]:
    """Root mean squared error by band of steps, over everything."""
    found = losses(frame)
    return {
        name: float(np.sqrt(found.loc[found["step"].between(first, last), "squared"].mean()))
        for name, (first, last) in BANDS.items()
    }


@dataclass(frozen=True)
class Spread:
    """A score over seeds.

    Parameters
    ----------
    values : tuple of float
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return float(np.mean(self.values))

    @property
    def half(self) -> float:
        """Half of the 95 % t interval of the mean; NaN for a single seed."""
        from scipy.stats import t

        n = len(self.values)
        return float(t.ppf(0.975, n - 1) * np.std(self.values, ddof=1) / sqrt(n)) if n > 1 else nan

    def said(self, digits: int = 4) -> str:
        """Write the mean, and its interval if there is one."""
        return f"{self.mean:.{digits}f}" + (f" ± {self.half:.{digits}f}" if len(self.values) > 1 else "")


def averaged(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Average the forecasts of several seeds, quantile by quantile."""
    columns = ["yhat", *QUANTILE_NAMES]
    mean = np.mean([frame[columns].to_numpy(float) for frame in frames], axis=0)
    both = frames[0].copy()
    both[columns] = mean
    return both


def window_losses(frames: Sequence[pd.DataFrame], band: tuple[int, int] | None = None) -> NDArray[np.float64]:
    """Mean squared error of each origin of each group, over series, steps and seeds; in order of group and time."""
    parts = []
    for frame in frames:
        found = losses(frame)
        if band is not None:
            found = found[found["step"].between(*band)]
        parts.append(found.groupby(["group", "number"])["squared"].mean().sort_index().to_numpy())
    return np.asarray(np.mean(parts, axis=0))


def compare(
    frames: Sequence[pd.DataFrame], others: Sequence[pd.DataFrame], band: tuple[int, int] | None = None
) -> DieboldMariano:
    """Diebold and Mariano's test, negative where the first one loses less."""
    return diebold_mariano(window_losses(frames, band), window_losses(others, band), lag=LAG)
