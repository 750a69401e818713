"""What of the study goes to the tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.curves import slug

if TYPE_CHECKING:
    from fints.studies.study import StudyTracker
    from fints.studies.valley.boards import ValleyBoard


def log(tracker: StudyTracker, board: ValleyBoard) -> None:
    """Record the settings and the headline of every arm, and a run below for each.

    Parameters
    ----------
    tracker : StudyTracker
    board : ValleyBoard
    """
    how = board.how
    network = {f"network.{key}": value for key, value in how.network.model_dump(mode="json").items()}
    used = ("max_steps", "batch_size", "learning_rate", "frequency_rate")
    training = {f"training.{key}": getattr(how.training, key) for key in used}
    tracker.log_params(
        {"known": how.known, "input_size": how.input_size, "trained_h": how.trained_h, "h": how.folds.h}
        | {"trials": how.trials, **network, **training}
    )
    tracker.log_metrics({f"{slug(arm)}.extrapolation_rmse": board.rmse(arm, "observed").mean for arm in board.arms})
    for arm in board.arms:
        with tracker.child(arm, {"fints.encoding": "cycle"}) as run:
            run.log_params({"arm": arm})
            by_step = np.sqrt((board.errors(arm) ** 2).mean(axis=0))
            run.log_curves(
                {
                    "headline/extrapolation_rmse": {0: board.rmse(arm, "observed").mean},
                    "headline/signal_rmse": {0: board.rmse(arm).mean},
                    "by_horizon/signal_rmse": {step: float(v) for step, v in enumerate(by_step, start=1)},
                    "by_seed/period_error": dict(enumerate(np.abs(board.offs(arm)).tolist())),
                }
            )
