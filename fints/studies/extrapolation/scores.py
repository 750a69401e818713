"""Every encoding on one task, in the order of its error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.studies.intervals import t_interval
from fints.studies.scores import by_seed, score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.studies.extrapolation.arms import Arm
    from fints.studies.intervals import Interval
    from fints.studies.planted import PlantedCycles
    from fints.studies.protocol import Protocol
    from fints.studies.scores import Score

    Results = Mapping[tuple[str, int], Mapping[str, list[float]]]


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """The scores of one task, the smallest error first.

    Parameters
    ----------
    task : PlantedCycles
    scores : tuple of Score
    least_squares : Interval
        Error of sines of the planted periods, fitted to the bars that training saw.
    """

    task: PlantedCycles
    scores: tuple[Score[Arm], ...]
    least_squares: Interval

    @property
    def scale(self) -> float:
        """Standard deviation of the signal over whole cycles."""
        return float(np.sqrt(0.5 * np.sum(np.square(self.task.amplitudes))))

    def __getitem__(self, name: str) -> Score[Arm]:
        return next(score for score in self.scores if score.arm.name == name)

    def __contains__(self, name: object) -> bool:
        return any(score.arm.name == name for score in self.scores)

    @property
    def best(self) -> Score[Arm]:
        """The score with the smallest mean error."""
        return self.scores[0]

    def best_of(self, names: Sequence[str]) -> Score[Arm]:
        """Return the best among some encodings; those that the board lacks are passed over."""
        return next(score for score in self.scores if score.arm.name in names)


def board(task: PlantedCycles, arms: Sequence[Arm], results: Results, how: Protocol) -> Board:
    """Score the encodings on a task.

    Parameters
    ----------
    task : PlantedCycles
    arms : sequence of Arm
    results : mapping
        What `Trial.run` returned, by the name of the arm and the seed.
    how : Protocol
    """
    scores = [
        score(arm, task, {seed: result for (name, seed), result in results.items() if name == arm.name}, how)
        for arm in arms
    ]
    ranked = tuple(sorted(scores, key=lambda one: one.rmse.mean))
    return Board(task, ranked, _least_squares(task, sorted({seed for _, seed in results}), how))


def _least_squares(task: PlantedCycles, seeds: Sequence[int], how: Protocol) -> Interval:
    fitted = [task.least_squares(task.observed(how.trained, seed), how.total) for seed in seeds]
    return t_interval(by_seed((np.array(fitted) - task.clean(how.total))[:, how.trained :]))
