"""What of the study goes to the tracker."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from fints.studies.extrapolation.scores import by_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.extrapolation.protocol import Protocol
    from fints.studies.extrapolation.scores import Board, Score
    from fints.studies.study import StudyTracker


def log(tracker: StudyTracker, boards: Sequence[Board], how: Protocol, seconds: Sequence[float]) -> None:
    """Record the settings and the headline of every board, and a run below for every encoding.

    A step of a curve ``by_horizon/…`` is a bar ahead.

    Parameters
    ----------
    tracker : StudyTracker
    boards : sequence of Board
    how : Protocol
    seconds : sequence of float
        That each trial took.
    """
    tracker.log_params(dict(how.describe()))
    tracker.log_metrics({"cost/seconds_per_trial": float(np.mean(seconds)), "cost/trials": float(len(seconds))})
    scored = [(b.task.name, score) for b in boards for score in b.scores]
    tracker.log_metrics({f"{task}/{_slug(s.arm.name)}.extrapolation_rmse": s.rmse.mean for task, s in scored})
    for name in dict.fromkeys(score.arm.name for _, score in scored):
        mine = [(b, b[name]) for b in boards if name in b]
        with tracker.child(name, {"fints.encoding": mine[0][1].arm.config(mine[0][0].task).kind}) as run:
            run.log_params({f"encoding.{b.task.name}": score.arm.config(b.task).model_dump_json() for b, score in mine})
            curves: dict[str, dict[int, float]] = {}
            for b, score in mine:
                curves |= _curves(b.task.name, score)
            run.log_curves(curves)


def _curves(task: str, score: Score) -> dict[str, dict[int, float]]:
    rmse = score.rmse
    headline = {"extrapolation_rmse": rmse.mean, "low": rmse.low, "high": rmse.high}
    curves = {f"headline/{task}.{key}": {0: value} for key, value in headline.items() if np.isfinite(value)}
    curves[f"by_horizon/{task}.rmse"] = _counted(score.by_step)
    curves[f"by_seed/{task}.extrapolation_rmse"] = dict(enumerate(by_seed(score.beyond).tolist()))
    return curves


def _counted(values: np.ndarray) -> dict[int, float]:
    return {step: float(value) for step, value in enumerate(values, start=1)}


def _slug(name: str) -> str:
    """Spell a name as MLflow allows metrics to be called."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
