"""What was timed: ratios to plain RoPE by load, encoding and measure, one for each repeat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fints.studies.comparison import Contrast, Place
from fints.studies.comparison.contrast import holm
from fints.studies.cost.loads import ROPE
from fints.studies.cost.work import MEASURES
from fints.studies.intervals import ratio_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.studies.cost.work import Measure
    from fints.studies.intervals import Interval
    from fints.studies.study import Budget


MARGIN = 0.05
"""Differences up to this share count as none."""

SMALLEST = 0.02
"""The smallest difference worth finding."""


@dataclass(frozen=True, slots=True, eq=False)
class Timings:
    """Everything that was timed.

    Parameters
    ----------
    budget : {"quick", "full"}
    units : mapping
        What `CostTrial.run` returned, repeat by repeat, by the names of load and encoding.
    """

    budget: Budget
    units: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]
    contrasts: Mapping[tuple[str, str, Measure], Contrast] = field(init=False)

    def __post_init__(self) -> None:
        keys = [(*cell, measure) for cell in self.units for measure in MEASURES if self.has(*cell, measure)]
        raw = [
            Contrast(
                name, ROPE, Place(load, measure, "all"), np.log(self.ratios(load, name, measure)), MARGIN, SMALLEST
            )
            for load, name, measure in keys
        ]
        object.__setattr__(self, "contrasts", dict(zip(keys, holm(raw), strict=True)))

    def has(self, load: str, name: str, measure: Measure) -> bool:
        """Tell whether that was timed."""
        return (load, name) in self.units and measure in self.units[load, name][0]["cpu"]

    def ratios(
        self, load: str, name: str, measure: Measure, clock: Literal["cpu", "wall"] = "cpu"
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return times over RoPE's, shape (repeats,)."""
        return np.array([unit[clock][measure] for unit in self.units[load, name]])

    def wall(self, load: str, name: str, measure: Measure) -> Interval:
        """Return the ratio of times by the clock on the wall."""
        ratios = self.ratios(load, name, measure, "wall")
        return ratio_interval(ratios, np.ones(len(ratios)))

    def contrast(self, load: str, name: str, measure: Measure) -> Contrast:
        """Return an encoding's processor time over RoPE's."""
        return self.contrasts[load, name, measure]

    def rope(self, load: str, measure: Measure) -> float:
        """Return RoPE's own processor time in milliseconds: the median over all repeats beside all encodings."""
        every = [unit["rope"] for (of, _), units in self.units.items() if of == load for unit in units]
        return 1e3 * float(np.median([beside[measure] for beside in every if measure in beside]))

    @property
    def loads(self) -> list[str]:
        """Names of loads, in the order of the study."""
        return list(dict.fromkeys(load for load, _ in self.units))

    def names(self, load: str) -> list[str]:
        """Names of encodings that were timed at a load, in the order of the study."""
        return [name for of, name in self.units if of == load]

    @property
    def repeats(self) -> int:
        """The largest number of any cell."""
        return max(len(units) for units in self.units.values())

    @property
    def seconds(self) -> float:
        """Of the processor, for everything."""
        return float(sum(unit["seconds"] for units in self.units.values() for unit in units))
