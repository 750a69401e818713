"""Deliveries let into the store: checked, and held against what is stored, a few symbols at a time.

Everything here looks at each series by itself, so that it does not matter which symbols are looked at together. Of a
first ingest of decades only some symbols are held several times over, in the forms that the checks need: 500 symbols of
30 years are half a gigabyte in one form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.actions import empty_actions
from fints.bars.gaps import open_gaps
from fints.bars.incoming import check_arrivals, find_refused, find_stale
from fints.bars.memory import give_back
from fints.bars.restatement import hold_against, nothing_restated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from fints.bars.finding import Finding
    from fints.bars.sources.base import Delivery
    from fints.bars.store import BarStore

_ROWS: Final = 500_000  # looked at together: enough that a night is one piece, and a first ingest some eight


@dataclass(slots=True)
class Admitted:
    """What is to be committed, as far as deliveries have been looked at.

    Attributes
    ----------
    bars : list of pandas.DataFrame
        Bars frames; no symbol is in two.
    actions : pandas.DataFrame
        Actions frame.
    findings : list of Finding
        What was found.
    failed : dict from symbol to str
        Symbols of which nothing new is let in, with the cause.
    restated : pandas.DataFrame
        See :class:`fints.bars.restatement.Held`.
    """

    bars: list[pd.DataFrame] = field(default_factory=list)
    actions: pd.DataFrame = field(default_factory=empty_actions)
    findings: list[Finding] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    restated: pd.DataFrame = field(default_factory=nothing_restated)


@dataclass(frozen=True, slots=True)
class Gate:
    """What deliveries are held against.

    Attributes
    ----------
    store : BarStore
        What is stored.
    now : pandas.Timestamp
        Instant of the ingest.
    settle : pandas.Timedelta
        A bar is final this long after its close.
    live : bool
        Whether the source follows the market, so that a session missing at the end is a gap.
    ends : mapping from symbol to datetime64[ns] array
        Closes of the newest stored bars, UTC, oldest first.
    """

    store: BarStore
    now: pd.Timestamp
    settle: pd.Timedelta
    live: bool
    ends: Mapping[str, NDArray[np.datetime64]]

    def admit(self, fetched: dict[str, Delivery]) -> Admitted:
        """Look at deliveries, and take them out of ``fetched`` as that is done."""
        admitted, actions, restated = Admitted(), [], []
        for some in _some_at_a_time(fetched):
            one = self._look_at(some)
            some.clear()
            give_back()
            admitted.bars += [one.bars[0]] if len(one.bars[0]) else []
            admitted.findings += one.findings
            admitted.failed |= one.failed
            actions.append(one.actions)
            restated.append(one.restated)
        admitted.actions = _joined(actions, empty_actions())
        admitted.restated = _joined(restated, nothing_restated())
        return admitted

    def behind(self, interval: str, symbols: list[str]) -> list[Finding]:
        """Report the sessions that stored symbols lack at the end, of which a live source delivered nothing."""
        if not self.live or not symbols:
            return []
        stored = self.store.last_bars(interval, symbols)
        return find_stale(stored.assign(fetched_at=self.now), self.settle)

    def _look_at(self, deliveries: Mapping[str, Delivery]) -> Admitted:
        failed: dict[str, str] = {}
        bars = {symbol: delivery.bars for symbol, delivery in deliveries.items()}
        kept, findings = check_arrivals(bars, self.now, self.settle, failed)
        findings += [finding for delivery in deliveries.values() for finding in delivery.findings]
        told = [delivery.actions for symbol, delivery in deliveries.items() if symbol not in failed]
        actions = _joined(told, empty_actions()).assign(fetched_at=self.now)
        held = hold_against(self.store, kept, actions)
        standing, findings = self.store.reinstate(held.bars, findings + held.findings)
        failed |= find_refused(kept, standing, held.findings, self.ends)
        if self.live:
            findings += find_stale(standing, self.settle)
        return Admitted([standing], actions, open_gaps(self.store, findings, standing), failed, held.restated)


def _some_at_a_time(fetched: dict[str, Delivery]) -> Iterator[dict[str, Delivery]]:
    """Take deliveries out, as many together as make some hundred thousand rows."""
    some: dict[str, Delivery] = {}
    rows = 0
    for symbol in list(fetched):
        some[symbol] = fetched.pop(symbol)
        rows += len(some[symbol].bars)
        if rows >= _ROWS:
            yield some
            some, rows = {}, 0
    if some:
        yield some


def _joined(parts: list[pd.DataFrame], nothing: pd.DataFrame) -> pd.DataFrame:
    told = [part for part in parts if len(part)]
    return pd.concat(told, ignore_index=True) if told else nothing
