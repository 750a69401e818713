"""The same bars from two sources, compared: where they differ, a finding says so, and nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fints.bars.finding import Finding
from fints.bars.schema import key_moments

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_FEW: Final = 3  # bars; from this many on, and more than half of the overlap, one finding stands for all


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far two sources may differ.

    Attributes
    ----------
    close : float
        Share of the close.
    volume : float or None
        Factor of the volume; None does not compare volumes, which venues count differently.
    """

    close: float
    volume: float | None


def compare_sources(first: pd.DataFrame, second: pd.DataFrame, bounds: Bounds) -> list[Finding]:
    """Compare the bars that two sources both have of one series.

    Parameters
    ----------
    first, second : pandas.DataFrame
        Bars frames of one symbol and interval.
    bounds : Bounds
        What is no difference.

    Returns
    -------
    list of Finding
        Of the kind ``sources_differ``. Where most bars differ (the sources stand on different bases, or count volume
        differently) one finding says by which factor.
    """
    ours, theirs = (frame.assign(moment=key_moments(frame)) for frame in (first, second))
    theirs = theirs.drop_duplicates("moment", keep="last")
    both = ours.merge(theirs[["moment", "close", "volume", "source"]], on="moment", suffixes=("", "_there"))
    closes = _ratio(both, "close")
    found = _tell(both, "close", closes, np.abs(closes - 1) > bounds.close)
    if bounds.volume is not None:
        volumes = _ratio(both, "volume")
        found += _tell(both, "volume", volumes, (volumes > bounds.volume) | (volumes < 1 / bounds.volume))
    return found


def _ratio(both: pd.DataFrame, name: str) -> NDArray[np.float64]:
    """Return theirs over ours, 1 where one of them has no positive value; shape (bars,)."""
    ours, theirs = (
        both[column].astype("Float64").to_numpy(dtype=float, na_value=np.nan) for column in (name, f"{name}_there")
    )
    told = (ours > 0) & (theirs > 0)
    return np.where(told, np.divide(theirs, ours, where=told, out=np.ones(len(both))), 1.0)


def _tell(both: pd.DataFrame, name: str, ratios: NDArray[np.float64], differs: NDArray[np.bool_]) -> list[Finding]:
    rows = np.flatnonzero(differs).tolist()
    if len(rows) >= _FEW and len(rows) > len(both) / 2:
        factor = float(np.median(ratios[rows]))
        reason = (
            f"{len(rows)} of {len(both)} bars differ: the {name} of {{there}} is {factor:.6g} times that of {{here}}"
        )
        return [_finding(both, rows[0], reason)]
    return [
        _finding(both, row, f"the {name} is {_value(both, row, name)} at {{here}} and "
                 f"{_value(both, row, f'{name}_there')} at {{there}}")
        for row in rows
    ]  # fmt: skip


def _value(both: pd.DataFrame, row: int, column: str) -> str:
    return f"{both[column].iloc[row]:.10g}"


def _finding(both: pd.DataFrame, place: int, reason: str) -> Finding:
    row = both.iloc[place]
    return Finding.at(
        row,
        severity="suspect",
        kind="sources_differ",
        reason=reason.format(here=row["source"], there=row["source_there"]),
    )
