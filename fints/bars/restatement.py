"""What a delivery restates of the bars stored before: by a split, a dividend, or a correction of the source.

::

    a delivered bar …                                      becomes
    equals the stored one                                  nothing
    differs                                                a revision: a new version, the old one stays readable
    is in another currency                                 quarantine, ``currency_conflict``
    stands at 100 times the stored one, no split stated    quarantine, ``unit_change``
    is restated by a split ratio, its neighbours are not   quarantine, ``partial_split``
    jumps from the last stored bar and nothing follows     quarantine, ``unconfirmed_jump``
    lacks a value that the stored one has                  keeps the stored value, ``value_kept``

Where the earliest bars delivered again stand at a common factor to the stored ones, all that lies before them is on
another basis. The ingest then asks for the whole history; what the source does not deliver even so is brought to the
new basis by the same factor, and reported as ``rescaled``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.actions import ACTION_KEY
from fints.bars.continuity import expected_bars, find_gaps
from fints.bars.contradiction import currency_conflict, partial_split, unit_change
from fints.bars.finding import KINDS, Finding
from fints.bars.jumps import RATIOS, TOLERANCE, find_jumps
from fints.bars.keys import compare_bars
from fints.bars.meeting import Meeting, Meetings
from fints.bars.overlap import ADJUSTED_NOISE, RAW_NOISE, steps
from fints.bars.rescale import basis_after, stated_basis, untrusted
from fints.bars.revision import RESTATED_COLUMNS, classify, summarise
from fints.bars.rules import Rule
from fints.bars.schema import BAR_KEY, UNTOLD, sort_bars
from fints.bars.spans import spans_of
from fints.bars.verdict import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.bars.finding import Severity
    from fints.bars.keys import Comparison
    from fints.bars.rescale import Basis
    from fints.bars.store import BarStore

_SERIES: Final = ["symbol", "interval"]
_BEGINNING: Final = pd.Timestamp("1700-01-01")


def nothing_restated() -> pd.DataFrame:
    """Return a frame of restatements without rows."""
    return pd.DataFrame(columns=list(RESTATED_COLUMNS))


@dataclass(frozen=True, slots=True)
class Held:
    """A delivery held against the store.

    Attributes
    ----------
    bars : pandas.DataFrame
        What is to be committed: delivered bars, and stored ones brought to a new basis.
    findings : list of Finding
        What the comparison found.
    restated : pandas.DataFrame
        :data:`fints.bars.revision.RESTATED_COLUMNS`: what will be revised, one row per series and kind of
        :data:`fints.bars.revision.REVISION_KINDS`. A dividend restates adjusted closes only and counts apart.
    """

    bars: pd.DataFrame
    findings: list[Finding]
    restated: pd.DataFrame = field(default_factory=nothing_restated)


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
    if bars.empty or not store.version():
        return Held(bars, [])
    verdict = Verdict.of(bars)
    delivered = verdict.bars
    stored = store.within(spans_of(delivered))
    found = compare_bars(delivered, stored)
    odd = _worth_a_look(delivered, stored, found, verdict.series)
    known = _known_actions(store, actions, [str(delivered["symbol"].iloc[rows[0]]) for rows in odd])
    meetings = Meetings(delivered, stored, found.place, _newest_before(store, delivered, found), known)
    bases: dict[tuple[str, str], Basis | Finding] = {}
    for rows in odd:
        meeting = meetings.of(rows)
        if meeting is None:
            continue
        basis = _judge(verdict, meeting)
        if basis is not None:
            bases[str(delivered["symbol"].iloc[rows[0]]), str(delivered["interval"].iloc[rows[0]])] = basis
    filled = _keep_values(verdict, stored, found)
    kept = filled[~verdict.aside].reset_index(drop=True)
    older, before, told = _rescale(store, bases, kept)
    if len(older):
        kept = sort_bars(pd.concat([older, kept], ignore_index=True))[0]
        stored = pd.concat([stored, before], ignore_index=True).drop_duplicates(list(BAR_KEY), ignore_index=True)
    again = len(older) or filled is not delivered
    found = compare_bars(kept, stored) if again else found.of(~verdict.aside)
    return Held(kept, verdict.findings + told, summarise(classify(kept, stored, found)))


def _known_actions(store: BarStore, actions: pd.DataFrame, symbols: list[str]) -> pd.DataFrame:
    """Return what is stated of some symbols, delivered now or stored; what is stated now goes first."""
    stored = store.actions(symbols) if symbols else actions.iloc[:0]
    known = pd.concat([part for part in (actions, stored) if len(part)] or [actions], ignore_index=True)
    return known.drop_duplicates(list(ACTION_KEY), ignore_index=True)


def _newest_before(store: BarStore, delivered: pd.DataFrame, found: Comparison) -> pd.DataFrame:
    """Return the newest stored bar of each series of which no bar was delivered again."""
    met = pd.Series(~found.inserted).groupby([delivered["symbol"], delivered["interval"]]).transform("any")
    apart = delivered[~met.to_numpy()]
    parts = [store.last_bars(str(interval), group["symbol"].unique()) for interval, group in apart.groupby("interval")]
    return pd.concat(parts, ignore_index=True) if parts else delivered.iloc[:0]


def _worth_a_look(
    delivered: pd.DataFrame, stored: pd.DataFrame, found: Comparison, series: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Return the rows of each series that does not simply go on where the stored one stands."""
    common = np.flatnonzero(~found.inserted)
    names = ["close", "adj_close"]
    new, old = delivered[names].to_numpy()[common], stored[names].to_numpy()[found.place[common]]
    raw, adjusted = steps(old, new)
    odd = np.zeros(len(delivered), dtype=bool)
    odd[common] = (np.abs(np.nan_to_num(raw)) > RAW_NOISE) | (np.abs(adjusted) > ADJUSTED_NOISE)
    currencies = np.zeros(len(delivered), dtype=np.int64)
    codes = pd.factorize(pd.concat([delivered["currency"], stored["currency"]], ignore_index=True))[0]
    currencies[:] = codes[: len(delivered)]
    odd[common] |= currencies[common] != codes[len(delivered) :][found.place[common]]
    step = np.zeros(len(delivered))
    step[1:] = np.log(delivered["open"].to_numpy()[1:] / delivered["close"].to_numpy()[:-1])
    inside = np.concatenate([[False], np.diff(series) == 0])
    odd |= found.inserted & inside & (np.abs(step) > np.log(RATIOS[0]) - TOLERANCE)
    odd[1:] |= inside[1:] & (np.diff(currencies) != 0)
    met = np.zeros(int(series.max()) + 1, dtype=bool)
    met[series[common]] = True
    wanted = ~met
    wanted[series[odd]] = True
    bounds = np.flatnonzero(np.diff(series, prepend=-1))
    return [rows for rows in np.split(np.arange(len(series)), bounds[1:]) if wanted[series[rows[0]]]]


def _judge(verdict: Verdict, meeting: Meeting) -> Basis | Finding | None:
    """Set contradictions aside, and return the basis that the older bars of the series are to be brought to.

    A finding takes its place where they stand on another one that is not to be trusted.
    """
    for mask, rule in (currency_conflict(meeting), unit_change(meeting)):
        _flag(verdict, meeting, mask, rule)
    _flag(verdict, meeting, *partial_split(meeting, verdict.aside[meeting.rows]))
    aside = verdict.aside[meeting.rows]
    if aside.all():
        return None
    if not meeting.common.any():
        basis = stated_basis(meeting)
        if basis is None:
            _follow(verdict, meeting)
        return basis
    found = meeting.rebase(aside)
    if found is None:
        return None
    return basis_after(meeting, found) or untrusted(meeting, found)


def _follow(verdict: Verdict, meeting: Meeting) -> None:
    """Check that bars which nothing stored overlaps go on from the last stored bar."""
    chain = pd.concat([meeting.old.tail(1), meeting.new], ignore_index=True)
    first = chain.head(2)
    if first["exchange"].nunique() == 1:
        grid = expected_bars(str(first["exchange"].iloc[0]), str(first["interval"].iloc[0]), first)
        if (grid.places(first) >= 0).all():
            verdict.findings.extend(find_gaps(first, np.zeros(2, dtype=np.int64), grid))
    for jump in find_jumps(chain, np.zeros(len(chain), dtype=np.int64)):
        if jump.rows.start == 1 and not jump.explained:
            severity: Severity = "suspect" if jump.kind == "split_jump" else "quarantine"
            reason = f"the open is {jump.ratio:.4g} times the last stored close: {KINDS[jump.kind]}"
            mask = np.isin(np.arange(1, len(chain)), list(jump.rows))
            _flag(verdict, meeting, mask, Rule(jump.kind, severity, reason))


def _flag(verdict: Verdict, meeting: Meeting, mask: NDArray[np.bool_], rule: Rule) -> None:
    rows = meeting.rows[mask]
    verdict.flag_rows(rows[~verdict.aside[rows]], rule)


_KEPT: Final = Rule("value_kept", "suspect", "the {what} is missing in the delivery: the stored one stays")


def _keep_values(verdict: Verdict, stored: pd.DataFrame, found: Comparison) -> pd.DataFrame:
    """Put stored values in the place of those that a delivery lacks: a missing value never overwrites one.

    A volume of zero counts as missing where the bar had one: clients turn a missing volume into zero.
    """
    bars = verdict.bars
    common = np.flatnonzero(~found.inserted & ~verdict.aside)
    now, before = bars.iloc[common], stored.iloc[found.place[common]]
    close, was = (frame["close"].to_numpy(dtype=np.float64) for frame in (now, before))
    same = np.abs(np.log(close / was)) <= RAW_NOISE
    lost = ~(now["volume"].fillna(0) > 0).to_numpy(dtype=bool) & (before["volume"].fillna(0) > 0).to_numpy(dtype=bool)
    unadjusted = np.isnan(now["adj_close"].to_numpy()) & ~np.isnan(before["adj_close"].to_numpy())
    untold = (now["currency"].isin(UNTOLD).to_numpy() & ~before["currency"].isin(UNTOLD).to_numpy()).astype(bool)
    lost &= same
    if not (lost.any() or unadjusted.any() or untold.any()):
        return bars
    volume, adjusted, currency = bars["volume"].copy(), bars["adj_close"].copy(), bars["currency"].copy()
    currency.iloc[common[untold]] = before["currency"].array[untold]
    volume.iloc[common[lost]] = before["volume"].array[lost]
    # the ratio of adjusted to raw close is what is kept: the close itself may have been restated
    adjusted.iloc[common[unadjusted]] = (close * before["adj_close"].to_numpy() / was)[unadjusted]
    filled = bars.assign(volume=volume, adj_close=adjusted, currency=currency)
    told = ((lost, "volume"), (unadjusted, "adjusted close"), (untold, "currency"))
    for rows, what in ((common[mask], what) for mask, what in told):
        verdict.flag_rows(rows, Rule(_KEPT.kind, _KEPT.severity, _KEPT.reason.format(what=what)))
    return filled


def _rescale(
    store: BarStore, bases: dict[tuple[str, str], Basis | Finding], kept: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, list[Finding]]:
    """Return stored bars that were not delivered: on their new basis, as they were, and what is to be told of them."""
    nothing = kept.iloc[:0]
    if not bases:
        return nothing, nothing, []
    spans = [(*series, _BEGINNING, _until(basis)) for series, basis in bases.items()]
    older = store.within(pd.DataFrame(spans, columns=[*_SERIES, "first", "last"]))
    older = older[compare_bars(kept, older).gone].reset_index(drop=True)
    moved, before, told = [], [], []
    for (symbol, interval), group in older.groupby(_SERIES):
        basis = bases[str(symbol), str(interval)]
        mine = group[group["session"] <= _until(basis)].reset_index(drop=True)
        if mine.empty:
            continue
        if isinstance(basis, Finding):
            told.append(basis)
        else:
            before.append(mine)
            moved.append(basis.apply(mine))
            told.append(basis.tell(mine))
    if not moved:
        return nothing, nothing, told
    return pd.concat(moved, ignore_index=True), pd.concat(before, ignore_index=True), told


def _until(basis: Basis | Finding) -> pd.Timestamp | None:
    return basis.session if isinstance(basis, Finding) else basis.until
