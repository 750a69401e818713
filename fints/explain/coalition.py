"""A fitted model that knows only some of its cycles."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.explain.ground import Ground, Read
from fints.explain.planes import held_still

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.explain.groups import Group
    from fints.explain.history import History
    from fints.plan import Cycle
    from fints.series.windows import Windows
    from fints.transformer.design import Fitted
    from fints.transformer.model import CycleNetwork
    from fints.transformer.start import LinearStart


@dataclass(frozen=True, slots=True)
class Known:
    """What is left of a model.

    Parameters
    ----------
    groups : frozenset of int
        Numbers of the groups that it knows.
    companions : bool
        Whether its linear start reads the companion series.
    """

    groups: frozenset[int]
    companions: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Ablation:
    """Takes groups out of a fitted model.

    The linear start is estimated anew without the covariates of what is gone, in closed form, so its memories do not
    stumble over a rhythm that they were promised to be rid of. The network keeps its weights: planes of a cycle that is
    gone stand still (their rotation is the identity), and its covariates stand at their mean over the panel.

    Parameters
    ----------
    history : History
    groups : tuple of Group
    origins : ndarray of int64
        Windows that starts are estimated on.
    whole : LinearStart
        The start that knows everything.
    ground : Ground, optional
        Those windows, measured; None where the start is its anchor alone, so that there is nothing to take out of it.
    """

    history: History
    groups: tuple[Group, ...]
    origins: NDArray[np.int64]
    whole: LinearStart
    ground: Ground | None
    _starts: dict[Read, LinearStart] = field(default_factory=dict)
    _networks: dict[frozenset[int], tuple[CycleNetwork, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, history: History, groups: tuple[Group, ...], origins: NDArray[np.int64], whole: LinearStart | None = None
    ) -> Ablation:
        """Prepare to take groups out; the start that knows everything is estimated too, if it is not given."""
        fitted = history.fitted.start
        if np.isinf(fitted.ridge):
            return cls(history, groups, origins, fitted, None)
        ground = Ground.of(history, origins)
        everything = Read((True,) * len(history.fitted.calendar))
        return cls(history, groups, origins, whole or ground.start(fitted, everything), ground)

    @property
    def everything(self) -> frozenset[int]:
        """Numbers of all groups."""
        return frozenset(range(len(self.groups)))

    def start(self, known: Known) -> LinearStart:
        """Estimate a start that knows some of the groups."""
        gone = self.everything - known.groups
        hours = not any(self.groups[i].times_of_day for i in gone)
        read = Read(tuple(map(bool, ~self._columns(gone))), hours, known.companions)
        if self.ground is None or (all(read.covariates) and hours and known.companions):
            return self.whole
        if read not in self._starts:
            self._starts[read] = self.ground.start(self.whole, read)
        return self._starts[read]

    def fitted(self, known: Known) -> Fitted:
        """Return a model that knows some of the groups; of the windows given to it, take what `seen` returns."""
        return replace(self.history.fitted, start=self.start(known), networks=self.networks(known.groups))

    def networks(self, turning: frozenset[int]) -> tuple[CycleNetwork, ...]:
        """Return members in which only the planes of some groups turn."""
        still = tuple(cycle for i in self.everything - turning for cycle in self.groups[i].cycles)
        number = frozenset(i for i in self.everything - turning if self.groups[i].planes)
        if not number:
            return self.history.fitted.networks
        if number not in self._networks:
            cycles = self.history.model.plan.cycles
            self._networks[number] = tuple(_stilled(network, still, cycles) for network in self.history.fitted.networks)
        return self._networks[number]

    def seen(self, windows: Windows, known: Known) -> Windows:
        """Put the covariates of groups that are not known at their mean over the panel."""
        gone = self._columns(self.everything - known.groups)
        if not gone.any():
            return windows
        mean = self.history.tape.calendar.mean(axis=0)
        return replace(
            windows,
            calendar=np.where(gone, mean, windows.calendar),
            future_calendar=np.where(gone, mean, windows.future_calendar),
        )

    def _columns(self, groups: frozenset[int]) -> NDArray[np.bool_]:
        names = {column for i in groups for column in self.groups[i].columns}
        return np.array([column in names for column in self.history.fitted.calendar], dtype=bool)


def _stilled(network: CycleNetwork, still: tuple[Cycle, ...], cycles: tuple[Cycle, ...]) -> CycleNetwork:
    other = deepcopy(network)
    other.encoding = held_still(network.encoding, still, cycles)
    return other
