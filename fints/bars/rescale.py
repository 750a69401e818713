"""Stored bars that a source no longer delivers, brought to the basis of those it restated.

Prices are multiplied by the factor at which the bars that are stored and delivered again were restated, and the volume
is divided by it where theirs was. The adjusted close carries the factor of distributions on top; a distribution never
changes open, high, low, close or volume.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fints.bars.finding import Finding
from fints.bars.jumps import TOLERANCE
from fints.bars.schema import PRICES

if TYPE_CHECKING:
    import pandas as pd

    from fints.bars.meeting import Meeting
    from fints.bars.overlap import Rebase

_EXACT: Final = 0.01  # of the logarithm: a factor this near to that of the stated splits is theirs
_WITNESSES: Final = 2  # bars that have to agree on a factor which no stated action confirms


@dataclass(frozen=True, slots=True)
class Basis:
    """How older bars are to be brought to a new basis.

    Attributes
    ----------
    raw, adjusted : float
        Logarithms of the factors of the prices, and of the adjusted close on top.
    volumes : bool
        Whether volumes are divided by the factor of the prices.
    until : pandas.Timestamp
        Last session that the factors apply to.
    """

    raw: float
    adjusted: float
    volumes: bool
    until: pd.Timestamp

    def apply(self, bars: pd.DataFrame) -> pd.DataFrame:
        """Return bars on the new basis; they keep their source and the instant of their fetch."""
        factor = float(np.exp(self.raw))
        prices = {name: bars[name] * factor for name in PRICES} if self.raw else {}
        moved = bars.assign(**prices, adj_close=bars["adj_close"] * float(np.exp(self.raw + self.adjusted)))
        return moved.assign(volume=multiply_volume(bars["volume"], 1 / factor)) if self.raw and self.volumes else moved

    def tell(self, bars: pd.DataFrame) -> Finding:
        """Report that stored bars were brought to this basis."""
        first, last = bars.iloc[0], bars.iloc[-1]
        parts = [f"prices times {np.exp(self.raw):.6g}"] if self.raw else []
        parts += [f"volumes times {np.exp(-self.raw):.6g}"] if self.raw and self.volumes else []
        parts.append(f"adjusted closes times {np.exp(self.raw + self.adjusted):.6g}")
        return Finding.at(
            first,
            severity="suspect",
            kind="rescaled",
            reason=f"{len(bars)} stored bars from {first['session']:%Y-%m-%d} to {last['session']:%Y-%m-%d}, which the "
            f"source did not deliver again, were brought to its new basis: {', '.join(parts)}",
            values={"raw": float(np.exp(self.raw)), "adjusted": float(np.exp(self.adjusted)), "count": len(bars)},
        )


def basis_after(meeting: Meeting, found: Rebase) -> Basis | None:
    """Return the basis that a restatement of common bars asks of the older ones.

    Returns
    -------
    Basis or None
        None where the factors are not to be trusted: the splits stated say another, or a single bar of several stands
        at them and no action is stated.
    """
    witnesses = int(found.agreeing.sum())
    until = meeting.new["session"].iloc[found.last]
    stated, raw = meeting.stated(until), found.raw
    if raw and abs(raw - stated) <= _EXACT:
        raw = stated
    elif raw and (stated or witnesses < _WITNESSES):
        return None
    alone = witnesses < _WITNESSES and int(meeting.common.sum()) > witnesses
    if not raw and alone and not meeting.paid_after(found.last):
        return None
    return Basis(raw, found.adjusted, _volumes_follow(meeting, found), until)


def stated_basis(meeting: Meeting) -> Basis | None:
    """Return the basis that stated splits ask of the stored bars where none of them was delivered again.

    The first delivered bar has to stand to the last stored one as the splits say.
    """
    stated = meeting.stated(meeting.last["session"])
    step = float(np.log(meeting.new["open"].iloc[0] / meeting.last["close"]))
    if not stated or abs(step - stated) > abs(step):
        return None
    return Basis(stated, 0.0, volumes=True, until=meeting.last["session"])


def untrusted(meeting: Meeting, found: Rebase) -> Finding:
    """Report a restatement whose factor is not to be trusted."""
    row = meeting.new[found.agreeing].iloc[-1]
    stated = np.exp(meeting.stated(row["session"]))
    return Finding.at(
        row,
        severity="suspect",
        kind="mixed_basis",
        reason=f"the source restated {int(found.agreeing.sum())} bars up to here by {np.exp(found.raw):.6g} (adjusted "
        f"closes by {np.exp(found.raw + found.adjusted):.6g}), the splits it states make {stated:.6g}: older bars were "
        "left as they are",
        values={"measured": float(np.exp(found.raw)), "stated": float(stated)},
    )


def _volumes_follow(meeting: Meeting, found: Rebase) -> bool:
    """Say whether the volumes of the common bars were divided by the factor of their prices."""
    now = meeting.new.loc[found.agreeing, "volume"].to_numpy(dtype=np.float64, na_value=np.nan)
    before = meeting.old["volume"].to_numpy(dtype=np.float64, na_value=np.nan)[meeting.place[found.agreeing]]
    both = (now > 0) & (before > 0)
    if not both.any():
        return True
    moved = float(np.median(np.log(now[both] / before[both])))
    return abs(moved + found.raw) < abs(moved) or abs(moved + found.raw) <= TOLERANCE


def multiply_volume(volume: pd.Series, factor: float) -> pd.Series:
    """Multiply volumes; by a whole number exactly, however large they are."""
    whole = round(factor)
    if whole and abs(factor - whole) < 1e-9 * whole:
        return volume * whole
    return (volume.astype("Float64") * factor).round().astype("Int64")
