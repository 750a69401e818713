"""Gaps of a delivery that are none of the store: sessions that a source left out this time and that are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.continuity import expected_bars, gap_between
from fints.bars.merge import in_error, void_rows
from fints.bars.schema import sort_bars, utc_stamps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fints.bars.finding import Finding
    from fints.bars.store import BarStore

_GAPS: Final = ("missing_sessions", "missing_bars", "long_hole")
_SERIES: Final = ["symbol", "interval"]


def open_gaps(store: BarStore, findings: list[Finding], bars: pd.DataFrame) -> list[Finding]:
    """Return findings without the gaps, and the parts of gaps, that stored bars fill.

    Parameters
    ----------
    store : BarStore
        As it was before the delivery.
    findings : list of Finding
        What was found in a delivery. A stored bar that has turned out to be an error fills nothing: see
        :meth:`fints.bars.store.BarStore.commit`.
    bars : pandas.DataFrame
        What is to be committed of it.
    """
    gaps = [finding for finding in findings if finding.kind in _GAPS]
    if not gaps or not store.version():
        return findings
    spans = pd.DataFrame([(gap.symbol, gap.interval, *_days(gap)) for gap in gaps], columns=[*_SERIES, "first", "last"])
    stored = store.within(spans.groupby(_SERIES, as_index=False).agg(first=("first", "min"), last=("last", "max")))
    stored = stored[~in_error(stored, void_rows(findings))]
    if stored.empty:
        return findings
    known = pd.concat([stored, bars[bars["symbol"].isin(stored["symbol"].unique())]], ignore_index=True)
    series = {key: _Known.of(rows) for key, rows in sort_bars(known)[0].groupby(_SERIES)}
    told: list[Finding] = []
    for finding in findings:
        there = series.get((finding.symbol, finding.interval)) if finding.kind in _GAPS else None
        told.extend([finding] if there is None else there.left_of(finding))
    return told


@dataclass(frozen=True, slots=True)
class _Known:
    """The bars of one series, stored and delivered, oldest first; ``moments`` is what names each of them."""

    bars: pd.DataFrame
    moments: NDArray[np.datetime64]

    @classmethod
    def of(cls, bars: pd.DataFrame) -> _Known:
        return cls(bars, utc_stamps(bars["session" if bars["interval"].iloc[0] == "1d" else "start"]))

    def left_of(self, gap: Finding) -> Iterator[Finding]:
        """Yield what is open of a gap: it, or its parts between the bars that are known."""
        first, last = (np.datetime64(str(gap.values[name]).removesuffix(" UTC"), "ns") for name in ("first", "last"))
        begin, end = np.searchsorted(self.moments, first), np.searchsorted(self.moments, last, "right")
        around = self.bars.iloc[max(int(begin) - 1, 0) : int(end) + 1]
        if begin == end or not self._covers(around, gap):
            yield gap
            return
        grid = expected_bars(str(around["exchange"].iloc[-1]), gap.interval, around)
        due = grid.session if grid.daily else grid.start
        missing = np.flatnonzero((due >= first) & (due <= last) & ~np.isin(due, self.moments[begin:end]))
        for run in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
            if run.size:
                yield gap_between(gap.symbol, gap.interval, grid, int(run[0]), int(run[-1]))

    @staticmethod
    def _covers(around: pd.DataFrame, gap: Finding) -> bool:
        """Say whether the bars around a gap reach from its first to its last day, so that their grid tells of it."""
        first, last = _days(gap)
        return bool(around["session"].min() <= first and around["session"].max() >= last)


def _days(gap: Finding) -> tuple[pd.Timestamp, pd.Timestamp]:
    """Return the first and the last session of a gap, the latter at least as late as it is."""
    last = pd.Timestamp(str(gap.values["last"])[:10])
    first = pd.Timestamp(str(gap.values["first"])[:10]) if gap.session is None else gap.session
    return first, max(first, last)
