"""Training windows: cut from the tape when they are asked for, and nameable when something is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import torch

from fints.transformer.inputs import network_inputs
from fints.transformer.start import flat_start

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.series.windows import Tape
    from fints.transformer.config import TrainingConfig
    from fints.transformer.model import Inputs
    from fints.transformer.peers.table import PeerTable
    from fints.transformer.start import LinearStart


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some windows as the network reads them.

    Parameters
    ----------
    inputs : Inputs
    target : Tensor, shape (B, H)
        Scaled by each window's own context.
    origins : ndarray of int64, shape (B,)
        Rows of the tape.
    source : TrainingWindows
        That they were cut from.
    """

    inputs: Inputs
    target: torch.Tensor
    origins: NDArray[np.int64]
    source: TrainingWindows

    def __len__(self) -> int:
        return len(self.origins)

    def to(self, device: torch.device) -> Batch:
        """Move the tensors to a device."""
        if self.target.device == device:
            return self
        return Batch(self.inputs.to(device), self.target.to(device), self.origins, self.source)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingWindows:
    """Every window of a tape, by its origin: 8 bytes each, until it is asked for.

    Parameters
    ----------
    tape : Tape
    input_size, h : int
        Bars of context and of target.
    start : LinearStart, optional
        What networks correct; by default a flat one.
    peers : PeerTable, optional
        What they are told about the other series.
    """

    tape: Tape
    input_size: int
    h: int
    start: LinearStart | None = None
    peers: PeerTable | None = None

    @property
    def corrected(self) -> LinearStart:
        """The start that is in force."""
        n_cal, n_past = self.tape.calendar.shape[1], self.tape.values.shape[1] - 1
        return self.start or flat_start(n_cal, n_past, self.input_size)

    def origins(self) -> NDArray[np.int64]:
        """Rows of the last context bar of every window, in the order of the tape."""
        return self.tape.origins(self.input_size, self.h)

    def batch(self, origins: NDArray[np.int64]) -> Batch:
        """Cut the windows at some origins.

        Parameters
        ----------
        origins : ndarray of int64, shape (B,)
        """
        windows = self.tape.cut(origins, self.input_size, self.h)
        with np.errstate(invalid="ignore", over="ignore"):  # what comes of it is refused as a loss, with its name
            inputs, scale = network_inputs(windows, self.corrected)
            target = scale.apply(cast("NDArray[np.float64]", windows.target))
        if self.peers is not None:
            inputs = replace(inputs, peers=self.peers.tokens(origins))
        return Batch(inputs, torch.from_numpy(target).float(), origins, self)

    def describe(self, origin: int) -> str:
        """Name a window by its series and dates, and say where its values are not finite."""
        tape = self.tape
        series = tape.unique_ids[int(np.searchsorted(tape.bounds, origin, side="right")) - 1]
        first, last = origin - self.input_size + 1, origin + self.h
        broken = first + np.flatnonzero(~np.isfinite(tape.values[first : last + 1, 0]))
        text = f"{series}, context {self._day(first)} to {self._day(origin)}, target to {self._day(last)}"
        return text + (f", y not finite on {', '.join(map(self._day, broken[:3]))}" if len(broken) else "")

    def _day(self, row: int) -> str:
        stamp = self.tape.ds[row]
        midnight = stamp == stamp.astype("datetime64[D]")
        return str(np.datetime_as_string(stamp, unit="D" if midnight else "m"))


def batches(origins: NDArray[np.int64], config: TrainingConfig, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Shuffle the windows, again for every pass, into as many batches as there are steps."""
    needed = config.max_steps * config.batch_size
    passes = [rng.permutation(origins) for _ in range(-(-needed // len(origins)))]
    return np.split(np.concatenate(passes)[:needed], config.max_steps)


def spread(origins: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Choose at most so many origins, evenly."""
    if len(origins) <= most:
        return origins
    return origins[np.linspace(0, len(origins) - 1, most).round().astype(np.int64)]
