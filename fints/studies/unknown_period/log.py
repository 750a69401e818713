"""What of the study goes to the tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.curves import score_curves, slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.protocol import Protocol
    from fints.studies.study import StudyTracker
    from fints.studies.unknown_period.boards import Board
    from fints.studies.unknown_period.week import WeekBoard


def log(tracker: StudyTracker, boards: Sequence[Board], week: WeekBoard, how: Protocol) -> None:
    """Record the settings and the headline of every arm, and a run below for every encoding and what it was told.

    Parameters
    ----------
    tracker : StudyTracker
    boards : sequence of Board
    week : WeekBoard
    how : Protocol
    """
    tracker.log_params(dict(how.describe()))
    scored = [(board, score) for board in boards for score in board.scores]
    names = {arm: f"{arm.encoding}, {arm.telling.name}" for arm in dict.fromkeys(score.arm for _, score in scored)}
    headlines = {f"{b.task.name}/{slug(names[s.arm])}.extrapolation_rmse": s.rmse.mean for b, s in scored}
    real = {f"week/{slug(f'{a.encoding}, {a.telling.name}')}.rmse": week.rmse(a).mean for a in week.squared}
    tracker.log_metrics(headlines | real)
    for arm, name in names.items():
        mine = [(board, score) for board, score in scored if score.arm == arm]
        with tracker.child(name, {"fints.encoding": arm.config.kind}) as run:
            run.log_params({"told": arm.telling.name, "encoding": arm.config.model_dump_json()})
            curves: dict[str, dict[int, float]] = {}
            for board, score in mine:
                curves |= score_curves(board.task.name, score)
            run.log_curves(curves)
