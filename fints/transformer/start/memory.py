"""Means of a context over several memories, and how their weight fades with the distance of the bar asked for."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SHORTEST, _FACTOR = 2.5, 3.2
_FADES = (1.0, 5.0, 25.0, np.inf)
N_FADES = len(_FADES)
"""Number of fading functions."""


def memory_kernels(input_size: int, count: int | None = None) -> NDArray[np.float64]:
    """Weights of a context's values in its last value, in means that forget exponentially, and in its plain mean.

    Time constants grow geometrically from 2.5 bars to a third of the context. On 252 sessions they are 2.5, 8, 26 and
    82: the day, week, month and quarter of the heterogeneous autoregression (Corsi, 2009), without its hard edges.

    Parameters
    ----------
    input_size : int
        Bars of context.
    count : int, optional
        K. By default as many as the context has room for; with that of a shorter context, the time constants are those
        of the latter, and the last mean is over all of this one.

    Returns
    -------
    ndarray, shape (input_size, K)
        Columns sum to one. The first is the last value, the last one the mean.
    """
    age = np.arange(input_size)[::-1]
    means = n_memories(input_size) if count is None else count
    forgetting = [np.exp(-age / memory) for memory in islice(_time_constants(), means - 2)]
    kernels = np.stack([(age == 0).astype(np.float64), *forgetting, np.ones(input_size)], axis=1)
    normed: NDArray[np.float64] = kernels / kernels.sum(axis=0)
    return normed


def n_memories(input_size: int) -> int:
    """Memories that a context has room for: its last value, the means that forget, and its mean."""
    return 2 + sum(1 for _ in takewhile(lambda memory: 3 * memory <= input_size, _time_constants()))


def _time_constants() -> Iterator[float]:
    memory = _SHORTEST
    while True:
        yield memory
        memory *= _FACTOR


def fades(steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Functions of the step that a regressor's weight is made of: exponential decays, and a constant.

    They go on beyond the steps that were fitted, so a forecast can be asked for further ahead.

    Parameters
    ----------
    steps : ndarray of int, shape (…, H)
        From 1.

    Returns
    -------
    ndarray, shape (…, H, J)
    """
    fading: NDArray[np.float64] = np.exp(-(steps[..., None] - 1) / np.array(_FADES))
    return fading
