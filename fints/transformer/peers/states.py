"""What a bar says of its series to the others: the surprise of its value, and memories of its past."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.transformer.inputs import WILDEST, network_inputs
from fints.transformer.start.memory import memory_kernels, n_memories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.series.windows import Tape
    from fints.transformer.start import LinearStart

_CHUNK = 512


def row_states(tape: Tape, start: LinearStart, input_size: int, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Measure some rows of a tape, each by its own past alone.

    Parameters
    ----------
    tape : Tape
    start : LinearStart
        Whose error one step ahead is the surprise.
    input_size : int
        Bars of a context; those that the start was fitted on, or more.
    rows : ndarray of int64, shape (n,)
        From `measurable`.

    Returns
    -------
    ndarray, shape (N, state_width)
        For every row of the tape: the surprise, in spreads of the context before the bar, then the memories of the
        context that ends with it, as the linear start and the network read it. NaN where not asked for.
    """
    n_past = tape.values.shape[1] - 1
    kernels = memory_kernels(input_size, start.memories(n_past))[:, :-1]
    states = np.full((len(tape.ds), 1 + (1 + n_past) * kernels.shape[1]), np.nan, np.float32)
    for part in np.array_split(rows, -(-len(rows) // _CHUNK)) if len(rows) else ():
        before, now = tape.cut(part - 1, input_size, 1), tape.cut(part, input_size, 0)
        with np.errstate(invalid="ignore", over="ignore"):  # a series with broken values is unknown to the others
            expected, scale = network_inputs(before, start)
            surprise = scale.apply(tape.values[part, :1]) - expected.start.numpy()
            context = network_inputs(now, start)[0].values.numpy()
        memories = np.einsum("blc,lk->bck", context, kernels).reshape(len(part), -1)
        states[part] = np.concatenate((surprise.clip(-WILDEST, WILDEST), memories), axis=1)
    return states


def state_width(input_size: int, n_past: int) -> int:
    """Numbers that describe a row."""
    return 1 + (1 + n_past) * (n_memories(input_size) - 1)


def measurable(tape: Tape, input_size: int) -> NDArray[np.int64]:
    """Rows that a context lies before."""
    spans = [np.arange(a + input_size, b) for a, b in zip(tape.bounds[:-1], tape.bounds[1:], strict=True)]
    return np.concatenate(spans)
