"""What a source says of bars that are stored already: whether it restated their prices by a common factor.

Sources restate backwards. A split changes every price before its ex-date by one factor and leaves those from it on; a
dividend does the same to the adjusted close alone. The earliest bars that are stored and delivered again therefore tell
what happened to everything before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Of the logarithm of a price: what is less was no restatement; a spin-off may move a history by a few per cent only.
RAW_NOISE: Final = 0.002
#: Of the logarithm of the adjusted over the raw close: above what single precision leaves, below any dividend.
ADJUSTED_NOISE: Final = 5e-6
_COMMON: Final = 0.1  # by which share of itself a common factor may differ from bar to bar


@dataclass(frozen=True, slots=True)
class Rebase:
    """A common factor of the earlier bars of an overlap.

    Attributes
    ----------
    raw : float
        Logarithm of the factor of the prices; 0 where they stayed.
    adjusted : float
        Logarithm of the factor of the adjusted close on top of that; 0 where no distribution was added.
    agreeing : bool array, shape (bars,)
        Bars of the overlap that stand at these factors.
    """

    raw: float
    adjusted: float
    agreeing: NDArray[np.bool_]

    @property
    def last(self) -> int:
        """Position of the last bar at these factors: the ex-date lies behind it."""
        return int(np.flatnonzero(self.agreeing)[-1])


def find_rebase(old: FloatArray, new: FloatArray) -> Rebase | None:
    """Say by which factor the earliest bars of an overlap were restated.

    Parameters
    ----------
    old, new : float64 array, shape (bars, 2)
        Close and adjusted close of the same bars, oldest first, as stored and as delivered. Bars without a positive
        close have no say; a missing adjusted close says nothing of distributions.

    Returns
    -------
    Rebase or None
        None where the earliest bars are as they were, and with them everything before.
    """
    if not len(old):
        return None
    raw, adjusted = steps(old, new)
    told = np.flatnonzero(np.isfinite(raw))
    if not told.size:
        return None
    first = told[0]
    moved = abs(raw[first]) > RAW_NOISE
    paid = abs(adjusted[first]) > ADJUSTED_NOISE
    if not (moved or paid):
        return None
    agreeing = np.isfinite(raw)
    for values, applies, noise in ((raw, moved, RAW_NOISE), (adjusted, paid, 2 * ADJUSTED_NOISE)):
        if applies:
            agreeing &= np.abs(values - values[first]) <= max(_COMMON * abs(values[first]), noise / 2)
    return Rebase(
        float(np.median(raw[agreeing])) if moved else 0.0,
        float(np.median(adjusted[agreeing])) if paid else 0.0,
        agreeing,
    )


def steps(old: FloatArray, new: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithms of what became of closes, and of adjusted over raw closes, both shape (bars,).

    The first is NaN where a close is missing or not positive, the second 0 where an adjusted close is.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.log(new[:, 0] / old[:, 0])
        adjusted = np.log(new[:, 1] / old[:, 1]) - raw
    raw = np.where(np.isfinite(raw), raw, np.nan)
    return raw, np.where(np.isfinite(adjusted), adjusted, 0.0)
