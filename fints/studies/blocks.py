"""Errors by horizon as a line of a chart, block by block of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.findings import Line
from fints.studies.intervals import t_interval
from fints.studies.scores import by_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 3
"""Seeds from which on charts show an interval; that of two spans decades."""

BLOCK = 10
"""Steps that a point of a chart averages: the error of a single step passes through zero with the signal."""


def by_blocks(name: str, errors: NDArray[np.float64], *, marks: bool = False) -> Line:
    """Draw the root mean square error by blocks of steps, with the interval over seeds of its logarithm.

    Parameters
    ----------
    name : str
    errors : ndarray, shape (seeds, steps)
    marks : bool
        Draw points instead of a line.
    """
    steps = errors.shape[1]
    starts = range(0, steps, BLOCK)
    ends = [t_interval(np.log(by_seed(errors, slice(s, s + BLOCK)))) for s in starts]
    x = np.array([(s + 1 + min(s + BLOCK, steps)) / 2 for s in starts])
    mean, low, high = (np.exp([getattr(end, part) for end in ends]) for part in ("mean", "low", "high"))
    known = len(errors) >= FEWEST
    return Line(name, x, mean, low if known else None, high if known else None, marks=marks)
