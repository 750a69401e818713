"""What of the study goes to the tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.curves import score_curves, slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.extrapolation.scores import Board
    from fints.studies.protocol import Protocol
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
    tracker.log_metrics({f"{task}/{slug(s.arm.name)}.extrapolation_rmse": s.rmse.mean for task, s in scored})
    for name in dict.fromkeys(score.arm.name for _, score in scored):
        mine = [(b, b[name]) for b in boards if name in b]
        with tracker.child(name, {"fints.encoding": mine[0][1].arm.config(mine[0][0].task).kind}) as run:
            run.log_params({f"encoding.{b.task.name}": score.arm.config(b.task).model_dump_json() for b, score in mine})
            curves: dict[str, dict[int, float]] = {}
            for b, score in mine:
                curves |= score_curves(b.task.name, score)
            run.log_curves(curves)
