"""What models do beyond the horizon that they were trained for, as a measured thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.backtest.folds import Folds

BANDS: tuple[tuple[float, float, str], ...] = (
    (0.0, 1.0, "1×"),
    (1.0, 2.5, "1–2.5×"),
    (2.5, 5.0, "2.5–5×"),
    (5.0, 10.0, "5–10×"),
)
"""Distance of a step in trained horizons: above the first number, up to the second."""


@dataclass(frozen=True, slots=True, eq=False)
class Extrapolation:
    """Errors by distance, in units of the standard deviation of each context.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per forecast: ``model, seed, unique_id, cutoff, step``, ``distance`` (steps in trained horizons) and
        ``error`` (forecast less outcome, in standard deviations of the context).
    """

    rows: pd.DataFrame

    def by_band(self) -> pd.DataFrame:
        """Return ``model, band, RMSE`` and ``n`` for each band of distance that was reached; nearest first."""
        edges = [low for low, _, _ in BANDS] + [BANDS[-1][1]]
        band = pd.cut(self.rows["distance"], edges, labels=[name for *_, name in BANDS])
        return _scores(self.rows.assign(band=band), ["model", "band"]).astype({"band": "object"})

    def by_step(self) -> pd.DataFrame:
        """Return ``model, step, distance, RMSE`` and ``n``."""
        return _scores(self.rows, ["model", "step", "distance"])

    def slopes(self) -> pd.DataFrame:
        """Return how RMSE grows with distance.

        Returns
        -------
        pandas.DataFrame
            ``model``; ``slope`` of RMSE per trained horizon beyond the first, by least squares over steps; and
            ``growth``, the RMSE of the furthest band in units of that within the trained horizon. NaN where nothing
            lies beyond.
        """
        steps, bands = self.by_step(), self.by_band()
        rows = []
        for model, own in steps.groupby("model"):
            beyond = own[own["distance"] > 1]
            slope = np.polyfit(beyond["distance"], beyond["RMSE"], 1)[0] if len(beyond) > 1 else np.nan
            scores = bands.loc[bands["model"] == model].set_index("band")["RMSE"]
            growth = scores.iloc[-1] / scores.iloc[0] if len(scores) > 1 and "1×" in scores.index else np.nan
            rows.append((model, float(slope), float(growth)))
        return pd.DataFrame(rows, columns=["model", "slope", "growth"])


def measure(
    rows: pd.DataFrame, folds: Folds, panel: pd.DataFrame, trained_h: Mapping[str, int], context: int
) -> Extrapolation:
    """Put errors into units of the context, and steps into units of the trained horizon.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``model, seed, unique_id, cutoff, step, y, mean``.
    folds : Folds
    panel : pandas.DataFrame
    trained_h : mapping of str to int
        Of every model in `rows`.
    context : int
        Bars.

    Returns
    -------
    Extrapolation
        Without the forecasts whose context never moved, and those further than the last band.

    Raises
    ------
    UnknownNameError
        If the trained horizon of a model is not said.
    """
    for model in rows["model"].unique():
        if model not in trained_h:
            raise UnknownNameError("model", str(model), trained_h)
    spreads = pd.concat(
        [context_spreads(folds.history(panel, cutoff), context).assign(cutoff=cutoff) for cutoff in folds]
    )
    joined = rows.merge(spreads, on=["unique_id", "cutoff"], how="left")
    joined["distance"] = joined["step"] / joined["model"].map(dict(trained_h)).astype(float)
    joined["error"] = (joined["mean"] - joined["y"]) / joined["spread"]
    within = (joined["spread"] > 0) & (joined["distance"] <= BANDS[-1][1])
    columns = ["model", "seed", "unique_id", "cutoff", "step", "distance", "error"]
    return Extrapolation(joined.loc[within, columns].reset_index(drop=True))


def context_spreads(history: pd.DataFrame, context: int) -> pd.DataFrame:
    """Return the standard deviation of each series' last bars: ``unique_id, spread``."""
    last = history.groupby("unique_id", sort=False).tail(context)
    return last.groupby("unique_id")["y"].std(ddof=0).rename("spread").reset_index()


def _scores(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    grouped = rows.assign(squared=rows["error"] ** 2).groupby(by, observed=True)["squared"]
    return pd.DataFrame({"RMSE": np.sqrt(grouped.mean()), "n": grouped.size()}).reset_index()
