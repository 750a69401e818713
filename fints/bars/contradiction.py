"""Delivered bars that contradict what is stored: another currency, another unit, a split applied in part.

They are set aside, and nothing is scaled: the stored bars stay as they are until the source is consistent again, or
until someone releases the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fints.bars.continuity import LONG_HOLE
from fints.bars.jumps import RATIOS, TOLERANCE, UNIT
from fints.bars.rules import Rule
from fints.bars.schema import UNTOLD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.bars.meeting import Meeting

    BoolArray = NDArray[np.bool_]

_OVERNIGHT: Final = 0.25  # of the logarithm: what a price may move on top of a change of unit


def currency_conflict(meeting: Meeting) -> tuple[BoolArray, Rule]:
    """Mark bars in another currency than the stored ones, unless a long hole lies between: shape (bars,)."""
    known = str(meeting.last["currency"])
    stated = meeting.new["currency"]
    other = ((stated != known) & ~stated.isin(UNTOLD)).to_numpy(dtype=bool) & (known not in UNTOLD)
    if not meeting.common.any() and meeting.new["session"].iloc[0] - meeting.last["session"] > LONG_HOLE:
        other &= False
    shown = known.replace("{", "{{").replace("}", "}}")
    return other, Rule("currency_conflict", "quarantine", f"the bar is in {{currency}}, the stored ones are in {shown}")


def unit_change(meeting: Meeting) -> tuple[BoolArray, Rule]:
    """Mark bars a hundred times above or below the stored ones without a split that says so: shape (bars,)."""
    level = np.where(_near_unit(meeting.raw, TOLERANCE), np.sign(meeting.raw), 0.0)
    for row in np.flatnonzero(level):
        stated = meeting.stated(meeting.new["session"].iloc[row])
        if abs(meeting.raw[row] - stated) <= TOLERANCE:
            level[row] = 0.0
    level[meeting.later] = _level_of_later(meeting, bool(level[meeting.common][-1]) if meeting.common.any() else False)
    text = "the price {close:g} stands at a hundred times, or a hundredth of, what is stored: another unit"
    return level != 0, Rule("unit_change", "quarantine", text)


def _level_of_later(meeting: Meeting, doubted: bool) -> NDArray[np.float64]:
    """How many changes of unit lie between the last stored bar and each later one, shape (later bars,)."""
    later = meeting.new[meeting.later]
    if later.empty:
        return np.zeros(0)
    last = meeting.last
    restated = meeting.common.any() and not doubted
    before = meeting.new[meeting.common].iloc[-1] if restated else last
    closes = np.concatenate([[before["close"]], later["close"].to_numpy()[:-1]])
    ratio = np.concatenate([[before["adj_close"] / before["close"]], (later["adj_close"] / later["close"]).to_numpy()])
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.nan_to_num(np.diff(np.log(ratio)), posinf=0.0, neginf=0.0)
    step = np.log(later["open"].to_numpy() / closes)
    ratios = later["session"].map(dict(zip(meeting.splits["session"], meeting.splits["value"], strict=True)))
    split = np.log(ratios.fillna(1.0).to_numpy(dtype=np.float64))
    changed = _near_unit(step, _OVERNIGHT) & ~_near_unit(split, _OVERNIGHT) & ~_near_unit(told, _OVERNIGHT)
    return np.cumsum(np.where(changed, np.sign(step), 0.0))


def partial_split(meeting: Meeting, left_out: BoolArray) -> tuple[BoolArray, Rule]:
    """Mark bars restated by a split ratio among others that were not, where that tears the series: shape (bars,).

    Behind an ex-date within the overlap bars stay as they were and those before are restated: that closes a jump.
    Where it opens one, the source has applied the split to some of the bars only.
    """
    rule = Rule("partial_split", "quarantine", "the source restated this bar by a split ratio and its neighbours not")
    none = np.zeros(len(meeting.new), dtype=bool)
    rows = np.flatnonzero(meeting.common & ~left_out)
    factor = meeting.raw[rows]
    large = np.abs(factor) > np.log(RATIOS[0]) - TOLERANCE
    if not large.any() or large.all():
        return none, rule
    new, old = (
        frame[["open", "close"]].to_numpy(dtype=np.float64)[at]
        for frame, at in ((meeting.new, rows), (meeting.old, meeting.place[rows]))
    )
    torn = [abs(_step(new, place)) > abs(_step(old, place)) for place in (np.flatnonzero(np.diff(large)) + 1).tolist()]
    if not any(torn):
        return none, rule
    none[rows[large]] = True
    if meeting.later.any():
        step = np.log(meeting.new["open"][meeting.later].iloc[0] / meeting.last["close"])
        none |= meeting.later & bool(np.abs(np.abs(step) - np.log(RATIOS)).min() <= TOLERANCE)
    return none, rule


def _step(prices: NDArray[np.float64], row: int) -> float:
    """Logarithm of the open of a row over the close of the row before."""
    return float(np.log(prices[row, 0] / prices[row - 1, 1]))


def _near_unit(values: NDArray[np.float64], tolerance: float) -> BoolArray:
    return np.abs(np.abs(np.nan_to_num(values)) - UNIT) <= tolerance
