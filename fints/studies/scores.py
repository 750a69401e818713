"""How far off forecasts of planted cycles were, seed by seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from fints.studies.intervals import LEVEL, Interval, ratio_interval, t_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.studies.planted import PlantedCycles
    from fints.studies.protocol import Protocol

    Results = Mapping[int, Mapping[str, list[float]]]

ArmT = TypeVar("ArmT")

ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class Score(Generic[ArmT]):
    """Errors of one arm of a study on one task.

    Parameters
    ----------
    arm : object
        What was tried.
    beyond : ndarray, shape (seeds, steps)
        Forecast less signal, after the bars that training saw.
    observed : ndarray, shape (seeds, steps)
        Forecast less observation; the same where there is no noise.
    inside : ndarray, shape (seeds, steps)
        Forecast less signal, asked of the first context about bars that training saw.
    forecast : ndarray, shape (seeds, steps)
        The forecasts of `beyond`.
    """

    arm: ArmT
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

    def times(self, other: Score[ArmT], choices: int = 1) -> Interval:
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


def score(arm: ArmT, task: PlantedCycles, results: Results, how: Protocol) -> Score[ArmT]:
    """Score an arm on a task.

    Parameters
    ----------
    arm : object
    task : PlantedCycles
    results : mapping
        What `Trial.run` returned, by seed.
    how : Protocol
    """
    signal = task.clean(how.total)
    forecast = np.array([result["beyond"] for result in results.values()])
    inside = np.array([result["inside"] for result in results.values()])
    came = np.array([task.observed(how.total, seed)[how.trained :] for seed in results])
    return Score(
        arm=arm,
        beyond=forecast - signal[how.trained :],
        observed=forecast - came,
        inside=inside - signal[how.input_size : how.trained],
        forecast=forecast,
    )
