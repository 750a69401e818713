"""Attention by distance, and peaks in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Peak:
    """A distance at which attention may stand out, and the ones it is held against.

    Parameters
    ----------
    name : str
        In words: "one week back".
    at : int
        In units of the ruler.
    around : tuple of int
    beside : str
        What those are, in words: "the 6 distances around".
    """

    name: str
    at: int
    around: tuple[int, ...]
    beside: str

    def height(self, profile: FloatArray) -> float:
        """Attention per bar there, as a multiple of the mean of the others.

        Parameters
        ----------
        profile : ndarray, shape (reach + 1,)
            From `by_distance`, or a mean of such.
        """
        return float(profile[self.at] / profile[list(self.around)].mean())


@dataclass(frozen=True, slots=True)
class Ruler:
    """How far back the attention of forecasts is read, and what may stand out.

    Parameters
    ----------
    clock : {"index", "calendar"}
        Bars, or calendar days.
    reach : int
        The largest distance.
    steps : int
        Bars ahead whose tokens are read: so few that every distance from that of the nearest peak's surroundings on
        lies in the context of all of them.
    peaks : tuple of Peak
    """

    clock: Literal["index", "calendar"]
    reach: int
    steps: int
    peaks: tuple[Peak, ...]


def ring(at: int, width: int) -> tuple[int, ...]:
    """Return the distances up to `width` on both sides.

    Examples
    --------
    >>> ring(7, 2)
    (5, 6, 8, 9)
    """
    return tuple(d for d in range(at - width, at + width + 1) if d != at)


def by_distance(weights: Sequence[FloatArray], apart: FloatArray, reach: int) -> FloatArray:
    """Average attention by distance.

    Parameters
    ----------
    weights : sequence of ndarray, each of shape (B, heads, H, L)
        One for each layer, as `fints.explain.attention.attention_weights` gives them.
    apart : ndarray, shape (B, H, L)
        From each bar asked for back to each bar of the context.
    reach : int
        Larger distances are left out.

    Returns
    -------
    ndarray, shape (layers, heads, reach + 1)
        Attention per bar at distances 0, 1, 2 …, as a multiple of an even spread over the context; NaN where no bar
        lies at that distance.
    """
    number = np.rint(apart).astype(np.int64)
    inside = (number >= 0) & (number <= reach)
    bins = number[inside]
    bars = np.bincount(bins, minlength=reach + 1)
    length = apart.shape[-1]
    found = [
        [np.bincount(bins, layer[:, head][inside], minlength=reach + 1) for head in range(layer.shape[1])]
        for layer in weights
    ]
    mass = np.array(found) * length
    out: FloatArray = np.divide(mass, bars, out=np.full(mass.shape, np.nan), where=bars > 0)
    return out
