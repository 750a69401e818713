"""Whether one forecast beats another on windows that overlap: errors in blocks of dates that hardly do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.series.windows import Tape


def date_blocks(tape: Tape, origins: NDArray[np.int64], h: int) -> NDArray[np.int64]:
    """Return the number of the block of h consecutive dates that each window begins in, from 0; shape (n,)."""
    first, last = tape.ds[origins].min(), tape.ds[origins].max()
    days = np.unique(tape.ds[(tape.ds >= first) & (tape.ds <= last)])
    blocks = np.searchsorted(days, tape.ds[origins]) // h
    numbers: NDArray[np.int64] = np.unique(blocks, return_inverse=True)[1].astype(np.int64)
    return numbers


def beats(errors: NDArray[np.float64], others: NDArray[np.float64], blocks: NDArray[np.int64]) -> bool:
    """Say whether errors are smaller by more than one standard error of the blocks' mean differences.

    Parameters
    ----------
    errors, others : ndarray, shape (n,)
        Of the same windows.
    blocks : ndarray of int64, shape (n,)
        From `date_blocks`.
    """
    gain = np.bincount(blocks, others - errors) / np.bincount(blocks)
    noise = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
    return bool(gain.mean() > noise)
