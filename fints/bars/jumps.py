"""Price jumps near a split ratio: a change of level, a change of unit that comes back, or one not yet confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: Ratios at which shares are split or consolidated; 100 is also a change of unit.
RATIOS: Final = np.array([1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 28, 30, 40, 50, 100])
#: Logarithm of a hundred: pence for pounds, cents for dollars.
UNIT: Final = float(np.log(100.0))
#: Of the logarithm: the overnight move on top of a split.
TOLERANCE: Final = 0.05
_EXCURSION: Final = 3  # bars within which a jump that comes back is an error of the source
# the "open" of a close-only series is its close: an index of volatility may well double within a session
_CLOSE_ONLY_RATIO: Final = 5.0


@dataclass(frozen=True, slots=True)
class Jump:
    """A row, or a run of rows, that stands at a split ratio to the row before.

    Attributes
    ----------
    rows : range
        Positions of the rows concerned: the first one after the jump, or all rows of an excursion.
    kind : {"split_jump", "price_excursion", "unconfirmed_jump"}
        The level stays; it is back within three bars; or the jump is on the newest row.
    ratio : float
        Open over the close before.
    explained : bool
        Whether the adjusted close does not jump: the source knows of a split.
    """

    rows: range
    kind: Literal["split_jump", "price_excursion", "unconfirmed_jump"]
    ratio: float
    explained: bool


def find_jumps(bars: pd.DataFrame, series: NDArray[np.int64]) -> list[Jump]:
    """Find the jumps of every series.

    The open is compared with the close before, because splits and changes of unit happen between sessions.

    Parameters
    ----------
    bars : pandas.DataFrame
        Sorted by symbol, interval and end; prices positive.
    series : int64 array, shape (rows,)
        Number of the series of each row.
    """
    opened, close, adjusted = (bars[name].to_numpy(dtype=np.float64) for name in ("open", "close", "adj_close"))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.log(opened[1:] / close[:-1])
        hidden = np.log(adjusted / close)
    step[np.diff(series) != 0] = 0.0
    least = np.where(_close_only(bars)[1:], np.log(_CLOSE_ONLY_RATIO), np.log(RATIOS[0]))
    large = np.flatnonzero(np.abs(step) > least - TOLERANCE)
    distance = np.abs(np.abs(step[large])[:, None] - np.log(RATIOS)).min(axis=1, initial=np.inf)
    at = large[distance <= TOLERANCE]
    jumps: list[Jump] = []
    returned: set[int] = set()
    for place in at.tolist():
        if place in returned:
            continue
        row = place + 1
        explained = bool(abs(step[place] + hidden[row] - hidden[place]) <= TOLERANCE)
        near = at[(at > place) & (at <= place + _EXCURSION) & (series[at] == series[row])]
        back = near[np.abs(step[near] + step[place]) <= 2 * TOLERANCE]
        kind: Literal["split_jump", "price_excursion", "unconfirmed_jump"] = "split_jump"
        rows = range(row, row + 1)
        if back.size and not explained:
            kind, rows = "price_excursion", range(row, int(back[0]) + 1)
            returned.add(int(back[0]))
        elif not explained and (row + 1 == len(series) or series[row + 1] != series[row]):
            kind = "unconfirmed_jump"
        jumps.append(Jump(rows, kind, float(np.exp(step[place])), explained))
    return jumps


def _close_only(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return (bars["volume"].isna() & (bars["high"] == bars["low"])).to_numpy(dtype=bool)
