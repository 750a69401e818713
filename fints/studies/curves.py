"""Scores as the curves that a tracker keeps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.studies.scores import by_seed

if TYPE_CHECKING:
    from fints.studies.scores import Score


def score_curves(name: str, score: Score[Any]) -> dict[str, dict[int, float]]:
    """Return the headline of a score, its error by bars ahead and its error by seed, value by step.

    Parameters
    ----------
    name : str
        Of the task, first in the name of each curve.
    score : Score
    """
    rmse = score.rmse
    headline = {"extrapolation_rmse": rmse.mean, "low": rmse.low, "high": rmse.high}
    curves = {f"headline/{name}.{key}": {0: value} for key, value in headline.items() if np.isfinite(value)}
    curves[f"by_horizon/{name}.rmse"] = {step: float(value) for step, value in enumerate(score.by_step, start=1)}
    curves[f"by_seed/{name}.extrapolation_rmse"] = dict(enumerate(by_seed(score.beyond).tolist()))
    return curves


def slug(name: str) -> str:
    """Spell a name as MLflow allows metrics to be called."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
