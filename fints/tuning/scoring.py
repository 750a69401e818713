"""How far off forecasts are beyond the trained horizon: one number for a fold, one for every origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from fints.backtest.extrapolation import BANDS, context_spreads
from fints.backtest.scores import crps
from fints.errors import ModelError
from fints.forecast import QUANTILE_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.backtest import Folds

ScoreName = Literal["rmse", "crps"]
Direction = Literal["minimize", "maximize"]


@dataclass(frozen=True, slots=True)
class Objective:
    """What a trial is judged by.

    Parameters
    ----------
    score : {"rmse", "crps"}
        Of errors in standard deviations of each context. Steps beyond the trained horizon are put into the bands of
        `fints.backtest.extrapolation.BANDS`, each of which counts the same; where no step lies beyond, all steps count.
        Near steps see a period that is far off, far steps tell good ones apart: the mean of bands makes of the razor
        valley of the furthest step a funnel.
    multi : bool
        Judge by the seconds that a trial takes, too; then there is no pruning.
    """

    score: ScoreName = "rmse"
    multi: bool = False

    @property
    def directions(self) -> tuple[Direction, ...]:
        """What is minimised."""
        return ("minimize", "minimize") if self.multi else ("minimize",)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scores of one fold.

    Parameters
    ----------
    rmse, crps : float
        Mean over bands beyond the trained horizon, in standard deviations of the contexts.
    origins : pandas.DataFrame
        By cutoff: mean ``squared`` error and ``crps`` over series and steps beyond the trained horizon.
    """

    rmse: float
    crps: float
    origins: pd.DataFrame

    def by(self, score: ScoreName) -> float:
        """Return the one that is asked for."""
        return self.rmse if score == "rmse" else self.crps


def scaled(rows: pd.DataFrame, folds: Folds, panel: pd.DataFrame, context: int) -> pd.DataFrame:
    """Put forecasts into standard deviations of their context.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``unique_id, cutoff, step, y, mean`` and the quantiles.
    folds : Folds
    panel : pandas.DataFrame
    context : int
        Bars.

    Returns
    -------
    pandas.DataFrame
        ``unique_id, cutoff, step, squared, crps``, without the forecasts whose context never moved.

    Raises
    ------
    ModelError
        If none can be scored.
    """
    spreads = pd.concat(
        [context_spreads(folds.history(panel, at), context).assign(cutoff=at) for at in rows["cutoff"].unique()]
    )
    joined = rows.merge(spreads, on=["unique_id", "cutoff"], how="left")
    joined = joined[joined["spread"] > 0]
    if joined.empty:
        raise ModelError("no forecast of the fold can be scored: no bar came, or the contexts never move")
    spread = joined["spread"].to_numpy(float)
    joined["squared"] = ((joined["mean"] - joined["y"]) / spread) ** 2
    joined["crps"] = crps(joined["y"].to_numpy(float), joined[list(QUANTILE_COLUMNS)].to_numpy(float)) / spread
    return joined[["unique_id", "cutoff", "step", "squared", "crps"]].reset_index(drop=True)


def score_fold(losses: pd.DataFrame, trained_h: int) -> Scored:
    """Score a fold.

    Parameters
    ----------
    losses : pandas.DataFrame
        From `scaled`.
    trained_h : int
        Bars ahead that the model was trained for.
    """
    beyond = losses[losses["step"] > trained_h]
    counted = losses if beyond.empty else beyond
    band = band_of(counted["step"].to_numpy(), trained_h)
    means = counted.groupby(band)[["squared", "crps"]].mean()
    return Scored(
        rmse=float(np.sqrt(means["squared"]).mean()),
        crps=float(means["crps"].mean()),
        origins=counted.groupby("cutoff")[["squared", "crps"]].mean().sort_index(),
    )


def band_of(steps: NDArray[np.int64], trained_h: int) -> NDArray[np.int64]:
    """Return the number of the band of distance of each step; what is further than the last band joins it."""
    edges = [high for _, high, _ in BANDS]
    found = np.searchsorted(edges, steps / trained_h)
    return np.minimum(found, len(edges) - 1)
