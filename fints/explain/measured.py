"""Numbers with their standard error, over blocks of dates that hardly overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SURE = 2.6
"""Standard errors beyond which a number is told from chance: of half a dozen that mean nothing, none is so in 19 of 20
explanations (Bonferroni)."""

FEWEST_BLOCKS = 6
"""Blocks below which no number is."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number and how well it is known.

    Parameters
    ----------
    value, error : float
        The error is one standard error; infinite where nothing is known of it.
    """

    value: float
    error: float

    @property
    def told(self) -> bool:
        """Whether the number is told from zero."""
        return bool(abs(self.value) > SURE * self.error)

    def __mul__(self, factor: float) -> Measured:
        return Measured(self.value * factor, self.error * abs(factor))


@dataclass(frozen=True, slots=True, eq=False)
class BlockedLosses:
    """Losses of several models on the same windows.

    Parameters
    ----------
    losses : ndarray, shape (models, windows)
        Means over the steps of each window.
    blocks : ndarray of int64, shape (windows,)
        Block of dates that each window begins in, from `fints.transformer.start.blocks.date_blocks`.
    """

    losses: FloatArray
    blocks: NDArray[np.int64]

    def measure(self, statistic: Callable[[FloatArray], FloatArray]) -> list[Measured]:
        """Evaluate a function of the models' mean losses, with jackknife errors.

        Each block of dates is left out in turn (Quenouille, 1949; Tukey, 1958; over blocks of dependent data: Künsch,
        1989). Windows begin in blocks as long as the horizon, so only those of neighbouring blocks overlap.

        Parameters
        ----------
        statistic : callable
            From mean losses of shape (models,) to values of shape (n,).

        Returns
        -------
        list of Measured, length n
        """
        n = int(self.blocks.max()) + 1
        sums = np.stack([np.bincount(self.blocks, row, minlength=n) for row in self.losses])
        counts = np.bincount(self.blocks, minlength=n).astype(np.float64)
        values = statistic(sums.sum(axis=1) / counts.sum())
        if n < FEWEST_BLOCKS:
            return [Measured(float(value), np.inf) for value in values]
        left = (sums.sum(axis=1, keepdims=True) - sums) / (counts.sum() - counts)
        replicates = np.stack([statistic(left[:, b]) for b in range(n)])
        spread = replicates - replicates.mean(axis=0)
        errors = np.sqrt((n - 1) / n * (spread**2).sum(axis=0))
        return [Measured(float(value), float(error)) for value, error in zip(values, errors, strict=True)]
