"""How far off every encoding was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.studies.intervals import LEVEL, Interval, ratio_interval, t_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.studies.extrapolation.arms import Arm
    from fints.studies.extrapolation.protocol import Protocol
    from fints.studies.planted import PlantedCycles

    Results = Mapping[tuple[str, int], Mapping[str, list[float]]]

ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """Errors of one encoding on one task.

    Parameters
    ----------
    arm : Arm
    beyond : ndarray, shape (seeds, steps)
        Forecast less signal, after the bars that training saw.
    observed : ndarray, shape (seeds, steps)
        Forecast less observation; the same where there is no noise.
    inside : ndarray, shape (seeds, steps)
        Forecast less signal, asked of the first context about bars that training saw.
    forecast : ndarray, shape (seeds, steps)
        The forecasts of `beyond`.
    """

    arm: Arm
    beyond: NDArray[np.float64]
    observed: NDArray[np.float64]
    inside: NDArray[np.float64]
    forecast: NDArray[np.float64]

    @property
    def rmse(self) -> Interval:
        """Root mean square error of a seed over all steps: its mean over seeds."""
        return t_interval(by_seed(self.beyond))

    @property
    def by_step(self) -> NDArray[np.float64]:
        """Root mean square error over seeds at each step ahead."""
        root: NDArray[np.float64] = np.sqrt((self.beyond**2).mean(axis=0))
        return root

    def times(self, other: Score, choices: int = 1) -> Interval:
        """Return how many times the other's error this one's is, seed by seed.

        Parameters
        ----------
        other : Score
        choices : int
            Of how many the other was chosen on these seeds: the interval is widened for them (Bonferroni).
        """
        level = 1 - (1 - LEVEL) / choices
        return ratio_interval(by_seed(self.beyond), by_seed(other.beyond), level)


def by_seed(errors: NDArray[np.float64], steps: slice = ALL) -> NDArray[np.float64]:
    """Root mean square of errors of shape (seeds, steps) over some of the steps, for each seed."""
    root: NDArray[np.float64] = np.sqrt((errors[:, steps] ** 2).mean(axis=1))
    return root


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
    scores: tuple[Score, ...]
    least_squares: Interval

    @property
    def scale(self) -> float:
        """Standard deviation of the signal over whole cycles."""
        return float(np.sqrt(0.5 * np.sum(np.square(self.task.amplitudes))))

    def __getitem__(self, name: str) -> Score:
        return next(score for score in self.scores if score.arm.name == name)

    def __contains__(self, name: object) -> bool:
        return any(score.arm.name == name for score in self.scores)

    @property
    def best(self) -> Score:
        """The score with the smallest mean error."""
        return self.scores[0]

    def best_of(self, names: Sequence[str]) -> Score:
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
    signal = task.clean(how.total)
    scores = []
    for arm in arms:
        seeds = [seed for name, seed in results if name == arm.name]
        forecast = np.array([results[arm.name, seed]["beyond"] for seed in seeds])
        inside = np.array([results[arm.name, seed]["inside"] for seed in seeds])
        came = np.array([task.observed(how.total, seed)[how.trained :] for seed in seeds])
        scores.append(
            Score(
                arm=arm,
                beyond=forecast - signal[how.trained :],
                observed=forecast - came,
                inside=inside - signal[how.input_size : how.trained],
                forecast=forecast,
            )
        )
    ranked = tuple(sorted(scores, key=lambda score: score.rmse.mean))
    return Board(task, ranked, _least_squares(task, sorted({seed for _, seed in results}), how))


def _least_squares(task: PlantedCycles, seeds: Sequence[int], how: Protocol) -> Interval:
    fitted = [task.least_squares(task.observed(how.trained, seed), how.total) for seed in seeds]
    return t_interval(by_seed((np.array(fitted) - task.clean(how.total))[:, how.trained :]))
