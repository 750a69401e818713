"""Training windows as a regression reads them: sums over contexts, taken once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.series.scaling import robust_scaling
from fints.series.windows import hours_of_day
from fints.transformer.start.linear import Regressors, Unit, companion_memories
from fints.transformer.start.memory import memory_kernels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.series.windows import Tape

    FloatArray = NDArray[np.float64]

_CHUNK = 512
_WILDEST = 50.0


@dataclass(frozen=True, slots=True, eq=False)
class WindowSample:
    """Windows of a tape, by their origins.

    Parameters
    ----------
    tape : Tape
    input_size, h : int
    origins : ndarray of int64, shape (n,)
    units : mapping of str to Unit
        Of every series that has a window here.
    """

    tape: Tape
    input_size: int
    h: int
    origins: NDArray[np.int64]
    units: Mapping[str, Unit]
    names: NDArray[np.str_] = field(init=False)
    unit: FloatArray = field(init=False)
    mean: FloatArray = field(init=False)
    hours: FloatArray = field(init=False)
    companions: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        names = self.tape.names(self.origins)
        known = [self.units[str(name)] for name in names]
        hours = hours_of_day(self.tape.ds)
        past = [companion_memories(self.tape.values[rows, 1:]) for rows in self._chunks()]
        for name, value in (
            ("names", names),
            ("unit", np.array([unit.spread for unit in known])),
            ("mean", np.array([unit.mean / unit.spread for unit in known])),
            ("hours", hours),
            ("companions", np.concatenate(past)),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.origins)

    @property
    def intraday(self) -> bool:
        """Whether bars are stamped at more than one time of day."""
        return bool(np.ptp(self.hours) > 0)

    def context(self, rows: NDArray[np.int64], column: FloatArray) -> FloatArray:
        """Values of a column of the tape in the contexts of some windows, shape (len(rows), L)."""
        values: FloatArray = column[self.origins[rows, None] + np.arange(1 - self.input_size, 1)]
        return values

    def future(self, rows: NDArray[np.int64], column: FloatArray) -> FloatArray:
        """Values of a column of the tape in the targets of some windows, shape (len(rows), h)."""
        values: FloatArray = column[self.origins[rows, None] + np.arange(1, self.h + 1)]
        return values

    def memories(self) -> tuple[FloatArray, FloatArray]:
        """Memories of target and covariates, shapes (n, K) and (n, K, n_cal), the target in units of its series."""
        kernels = memory_kernels(self.input_size)
        y = np.concatenate([self.tape.values[rows, 0] @ kernels for rows in self._chunks()])
        x = [np.einsum("blc,lk->bkc", self.tape.calendar[rows], kernels) for rows in self._chunks()]
        return y / self.unit[:, None], np.concatenate(x)

    def regressors(self, rows: NDArray[np.int64], effects: FloatArray, *, companions: bool = True) -> Regressors:
        """Regressors of some windows, given the calendar's effect on every row of the tape."""
        y, unit = self.tape.values[:, 0], self.unit[rows, None]
        rest = self.context(rows, y) / unit - self.context(rows, effects)
        hours = (self.context(rows, self.hours), self.future(rows, self.hours)) if self.intraday else None
        beside = self.companions[rows] if companions else self.companions[rows, :0]
        return Regressors.of(rest, beside, self.mean[rows], hours)

    def target(self, rows: NDArray[np.int64], effects: FloatArray) -> FloatArray:
        """Targets of some windows less the calendar's effect, in units of their series."""
        return self.future(rows, self.tape.values[:, 0]) / self.unit[rows, None] - self.future(rows, effects)

    def _chunks(self) -> list[NDArray[np.int64]]:
        origins = np.array_split(self.origins, max(1, len(self.origins) // _CHUNK))
        return [part[:, None] + np.arange(1 - self.input_size, 1) for part in origins]


def tamed(tape: Tape, input_size: int, h: int, origins: NDArray[np.int64]) -> Tape:
    """Clamp the target of each series at `_WILDEST` robust spreads from its median over the windows at some origins.

    Markets do not go there: the fall of 19 October 1987 was about 30 of them. A broken bar does, and would own the
    regression and the unit of its series.
    """
    y, names = tape.values[:, 0].copy(), tape.names(origins)
    for name in np.unique(names):
        own = origins[names == name]
        scale = robust_scaling(y[own[0] - input_size + 1 : own[-1] + h + 1])
        first, stop = tape.bounds[tape.unique_ids.index(str(name)) :][:2]
        y[first:stop] = y[first:stop].clip(*scale.invert([-_WILDEST, _WILDEST]))
    if np.array_equal(y, tape.values[:, 0]):
        return tape
    return replace(tape, values=np.column_stack((y, tape.values[:, 1:])))


def measure_units(tape: Tape, input_size: int, origins: NDArray[np.int64]) -> dict[str, Unit]:
    """Measure each series on its windows at some origins."""
    units = {}
    names = tape.names(origins)
    for name in np.unique(names):
        own = origins[names == name]
        y = tape.values[own[0] - input_size + 1 : own[-1] + 1, 0]
        centred = y - y[0]
        sums = np.cumsum(np.insert(centred, 0, 0.0)), np.cumsum(np.insert(centred**2, 0, 0.0))
        mean, square = ((s[input_size:] - s[:-input_size]) / input_size for s in sums)
        spread = float(np.sqrt(np.maximum(square - mean**2, 0.0).mean()))
        flat = spread <= 1e-12 * float(np.abs(y).max())
        units[str(name)] = Unit(1.0 if flat else spread, float(y.mean()))
    return units
