"""The windows that linear starts are estimated on, measured once for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.transformer.start.fit import estimate, thinned
from fints.transformer.start.sample import WindowSample, measure_units, tamed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.explain.history import History
    from fints.transformer.start import LinearStart

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Read:
    """What a linear start reads beside the past of its series.

    Parameters
    ----------
    covariates : tuple of bool
        Which of them.
    hours : bool
        Whether it reads means of the same time of day.
    companions : bool
        Whether it reads the companion series.
    """

    covariates: tuple[bool, ...]
    hours: bool = True
    companions: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Training windows, and memories of their values and covariates.

    Parameters
    ----------
    sample : WindowSample
    memories : tuple of ndarray
        From `WindowSample.memories`, most of the work of an estimate.
    """

    sample: WindowSample
    memories: tuple[FloatArray, FloatArray]

    @classmethod
    def of(cls, history: History, origins: NDArray[np.int64]) -> Ground:
        """Measure windows at some origins, as `fints.transformer.start.refit_start` does."""
        size, h = history.model.design.input_size, history.model.h
        tape = tamed(history.tape, size, h, origins)
        sample = WindowSample(tape, size, h, thinned(origins), measure_units(tape, size, origins))
        return cls(sample, sample.memories())

    def start(self, like: LinearStart, read: Read) -> LinearStart:
        """Estimate a start with the anchor and the penalty of another one, from a part of what there is to read."""
        own = self.sample
        masked = MaskedSample(own.tape, own.input_size, own.h, own.origins, own.units, self, read)
        return estimate(masked, like.anchor, like.ridge)


@dataclass(frozen=True, slots=True, eq=False)
class MaskedSample(WindowSample):
    """The windows of a ground with what is not read at zero: a regressor that is always zero gets no weight.

    Parameters
    ----------
    tape, input_size, h, origins, units
        Of the ground.
    ground : Ground
    read : Read
    """

    ground: Ground
    read: Read

    def __post_init__(self) -> None:
        whole, read = self.ground.sample, self.read
        tape = replace(self.tape, calendar=np.where(read.covariates, self.tape.calendar, 0.0))
        for name, value in (
            ("tape", tape),
            ("names", whole.names),
            ("unit", whole.unit),
            ("mean", whole.mean),
            ("hours", whole.hours if read.hours else np.zeros_like(whole.hours)),
            ("companions", whole.companions if read.companions else np.zeros_like(whole.companions)),
        ):
            object.__setattr__(self, name, value)

    def memories(self) -> tuple[FloatArray, FloatArray]:
        """See `WindowSample.memories`."""
        y, x = self.ground.memories
        return y, np.where(self.read.covariates, x, 0.0)
