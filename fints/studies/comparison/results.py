"""What the units of a comparison came to, by arm, task, mode and seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.errors import ConfigError
from fints.studies.comparison.contrast import Contrast, Place, holm
from fints.studies.intervals import t_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.studies.comparison.arm import Arm, Mode
    from fints.studies.comparison.contrast import Band
    from fints.studies.comparison.task import Task
    from fints.studies.intervals import Interval
    from fints.studies.study import Budget

    Cell = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms to compare, wherever both were run.

    Parameters
    ----------
    first, second : str
        Names of arms. The first one is what is asked about, the second what it is held against.
    bands : tuple of str
    tasks, modes : tuple of str, optional
        Names; everywhere by default.
    """

    first: str
    second: str
    bands: tuple[Band, ...] = ("within", "beyond")
    tasks: tuple[str, ...] | None = None
    modes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Everything that was measured.

    Parameters
    ----------
    budget : {"quick", "full"}
    arms, tasks, modes : mapping
        By name, in the order of the study.
    units : mapping
        What `ArmTrial.run` returned, seed by seed, by the names of task, mode and arm.
    pairs : tuple of Pair
        What the study compares.
    extra : tuple of dict
        What the study's own units returned, in its order.
    margin, smallest : float
        See `Contrast`.
    """

    budget: Budget
    arms: Mapping[str, Arm]
    tasks: Mapping[str, Task]
    modes: Mapping[str, Mode]
    units: Mapping[Cell, Sequence[Mapping[str, Any]]]
    pairs: tuple[Pair, ...]
    extra: tuple[Mapping[str, Any], ...] = ()
    margin: float = 0.05
    smallest: float = 0.02
    contrasts: tuple[Contrast, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "contrasts", holm(self._contrasts()))

    def has(self, arm: str, task: str, mode: str) -> bool:
        """Tell whether an arm was run on a task in a mode."""
        return (task, mode, arm) in self.units

    def squared(self, arm: str, task: str, mode: str) -> NDArray[np.float64]:
        """Return mean squared errors, shape (seeds, horizon).

        Raises
        ------
        ConfigError
            If that was not run.
        """
        if not self.has(arm, task, mode):
            raise ConfigError(f"the arm {arm!r} was not run on {task!r} in the mode {mode!r}; add it to the scope")
        return np.array([unit["squared"] for unit in self.units[task, mode, arm]])

    def rmse(self, arm: str, task: str, mode: str, band: Band) -> NDArray[np.float64]:
        """Return root mean square errors over a band of the horizon, shape (seeds,)."""
        h = self.tasks[task].shape.h
        steps = {"within": slice(h), "beyond": slice(h, None), "all": slice(None)}[band]
        root: NDArray[np.float64] = np.sqrt(self.squared(arm, task, mode)[:, steps].mean(axis=1))
        return root

    def interval(self, arm: str, task: str, mode: str, band: Band) -> Interval:
        """Return the mean over seeds of the root mean square error."""
        return t_interval(self.rmse(arm, task, mode, band))

    def contrast(self, first: str, second: str, place: Place) -> Contrast:
        """Compare two arms, declared or not; only declared ones are corrected for their number."""
        for known in getattr(self, "contrasts", ()):
            if (known.first, known.second, known.place) == (first, second, place):
                return known  # type: ignore[no-any-return]
        one, other = (self.rmse(arm, place.task, place.mode, place.band) for arm in (first, second))
        n = min(len(one), len(other))
        logs = np.log(one[:n]) - np.log(other[:n])
        return Contrast(first, second, place, logs, self.margin, self.smallest)

    def learned(self, arm: str, task: str, mode: str) -> dict[str, NDArray[np.float64]]:
        """Return the frequencies after training, in turns per unit of the clock, by parameter: shape (seeds, n)."""
        found = [unit["learned"] for unit in self.units[task, mode, arm]]
        return {name: np.array([one[name] for one in found]) for name in found[0]}

    @property
    def seeds(self) -> int:
        """The largest number of seeds of any cell."""
        return max(len(units) for units in self.units.values())

    @property
    def seconds(self) -> float:
        """Of the processor, for everything."""
        own = [unit["seconds"] for units in self.units.values() for unit in units]
        return float(sum(own) + sum(one.get("seconds", 0.0) for one in self.extra))

    def _contrasts(self) -> list[Contrast]:
        return [
            self.contrast(pair.first, pair.second, Place(task, mode, band))
            for pair in self.pairs
            for task in self.tasks
            for mode in self.modes
            for band in pair.bands
            if self._compared(pair, task, mode)
        ]

    def _compared(self, pair: Pair, task: str, mode: str) -> bool:
        wanted = (pair.tasks is None or task in pair.tasks) and (pair.modes is None or mode in pair.modes)
        return wanted and self.has(pair.first, task, mode) and self.has(pair.second, task, mode)
