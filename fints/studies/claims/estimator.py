"""Random Fourier Rotations as an estimator: many independent heads at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings.rotation import rotate, rotation_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.encodings.kernels import Kernel

    FloatArray = NDArray[np.float64]

ORIGIN = 1000.0
"""Place of the key: the estimate must not depend on it."""

_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A query and a key.

    Parameters
    ----------
    query, key : ndarray, shape (D,)
    """

    query: FloatArray
    key: FloatArray

    @classmethod
    def drawn(cls, dim: int, rng: np.random.Generator) -> Pair:
        """Draw both from a standard normal law."""
        query, key = rng.standard_normal((2, dim))
        return cls(query, key)

    @classmethod
    def of_unit_planes(cls, dim: int, rng: np.random.Generator, turn: float) -> Pair:
        """Draw directions: every plane of both has norm 1, and the key's is the query's, turned by an angle."""
        angle = rng.uniform(0, 2 * math.pi, dim // 2)
        return cls(*(np.stack((np.cos(a), np.sin(a)), axis=1).ravel() for a in (angle, angle + turn)))

    def aligned(self) -> Pair:
        """Take the query for the key as well."""
        return Pair(self.query, self.query)

    @property
    def dot(self) -> float:
        """``qᵀk``."""
        return float(self.query @ self.key)

    @property
    def cross(self) -> float:
        """``Σ_j (q_{2j} k_{2j+1} − q_{2j+1} k_{2j})``: what the sines of the phases are multiplied by."""
        return float(self.query[0::2] @ self.key[1::2] - self.query[1::2] @ self.key[0::2])

    @property
    def size(self) -> FloatArray:
        """``‖q^(j)‖ ‖k^(j)‖`` of every plane, shape (D/2,)."""
        return np.asarray(np.prod([np.hypot(v[0::2], v[1::2]) for v in (self.query, self.key)], axis=0))


def scores(pair: Pair, frequencies: FloatArray, distances: Sequence[float] | FloatArray) -> FloatArray:
    """Rotate a query and a key, some distances apart, by every draw of the frequencies, and multiply (eq. 3).

    Parameters
    ----------
    pair : Pair
    frequencies : ndarray, shape (N, D/2)
        In turns per unit.
    distances : sequence of float
        Place of the query less that of the key.

    Returns
    -------
    ndarray, shape (distances, N)
    """
    pieces = max(1, frequencies.size // _AT_ONCE)
    return np.concatenate([_scores(pair, f, distances) for f in np.array_split(frequencies, pieces)], axis=1)


def _scores(pair: Pair, frequencies: FloatArray, distances: Sequence[float] | FloatArray) -> FloatArray:
    xi = torch.from_numpy(frequencies)[None, :, None]
    query, key = (
        torch.from_numpy(v).to(torch.float32).expand(1, len(frequencies), 1, -1) for v in (pair.query, pair.key)
    )
    turned = rotate(key, rotation_table(xi * ORIGIN))
    found = [(rotate(query, rotation_table(xi * (ORIGIN + d))) * turned).sum(-1).flatten() for d in distances]
    return np.asarray(torch.stack(found).numpy(), dtype=np.float64)


def draw(kernel: Kernel, shape: tuple[int, int], seed: int) -> FloatArray:
    """Draw the frequencies of many heads from a kernel's law, shape (N, D/2)."""
    return kernel.draw(np.random.default_rng(seed), shape)
