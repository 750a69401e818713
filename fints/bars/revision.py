"""Revised bars by kind: a split, a dividend, a correction of the source, another currency, a corrected calendar.

Raw and adjusted revisions are told apart: a distribution changes the adjusted close and nothing else.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.overlap import RAW_NOISE
from fints.bars.schema import PRICES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.bars.keys import Comparison

#: Kinds of revision, with what each means.
REVISION_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "currency": "the bar is stated in another currency",
        "split": "all prices of the bar were multiplied by a factor that other bars share",
        "correction": "the source corrected a price or the volume",
        "dividend": "the adjusted close alone changed",
        "calendar": "the session or the hours of the bar were corrected",
    }
)
RESTATED_COLUMNS: Final = ("symbol", "interval", "kind", "factor", "what", "sources", "rows", "first", "last")
_MULTIPLIED: Final = {"split": "all prices were", "dividend": "the adjusted close alone was"}
_STILL_THERE: Final = "; the old ones stay readable"
_TOLD: Final = ("close", "volume", "open", "high", "low")
_MOST_TOLD: Final = 2
_SERIES: Final = ["symbol", "interval"]
_ALIKE: Final = 1e-3  # by how much the factors of open, high, low and close may differ, for rounding
_PLAIN: Final = float(np.log(1.5)) - 0.05  # a factor as large as the smallest split needs no second witness


def classify(newer: pd.DataFrame, older: pd.DataFrame, found: Comparison) -> pd.DataFrame:
    """Say of each revised bar what kind of revision it is.

    Parameters
    ----------
    newer, older : pandas.DataFrame
        Bars frames of distinct keys.
    found : Comparison
        Of the two.

    Returns
    -------
    pandas.DataFrame
        One row per revised bar, with the index of ``newer``: ``symbol, interval, session, kind`` (of
        ``REVISION_KINDS``), ``factor`` (of the prices after a split, of the adjusted close after a dividend),
        ``what``: of the earliest correction of each series the values before and after, else missing; and ``sources``:
        where the values before and after came from, missing where that is one source.
    """
    at = np.flatnonzero(found.revised)
    now, before = newer.iloc[at], older.iloc[found.place[at]]
    prices, adjusted = (_log_ratio(now[names], before[names]) for names in (list(PRICES), ["adj_close"]))
    touched = {name: changed[at] for name, changed in found.changed.items()}
    priced = np.any([touched[name] for name in PRICES], axis=0)
    split = _rescaled(now, prices) & priced
    kind = np.select(
        [touched["currency"], split, priced | touched["volume"], touched["adj_close"]],
        ["currency", "split", "correction", "dividend"],
        "calendar",
    )
    factor = np.where(split, prices.mean(axis=1), np.where(kind == "dividend", adjusted[:, 0], np.nan))
    rows = now[[*_SERIES, "session"]]
    found_kinds = rows.assign(kind=pd.Series(kind, index=rows.index, dtype="str"), factor=np.exp(factor))
    corrected = rows.assign(place=np.arange(len(rows)))[kind == "correction"]
    earliest = corrected.sort_values("session", kind="stable").drop_duplicates(_SERIES)["place"]
    what = np.full(len(rows), None, dtype=object)
    for at_row in earliest:
        columns = [name for name in _TOLD if touched[name][at_row]]
        what[at_row] = _values(now.iloc[at_row], before.iloc[at_row], columns)
    return found_kinds.assign(what=pd.Series(what, index=rows.index, dtype="str"), sources=_sources(now, before))


def _sources(now: pd.DataFrame, before: pd.DataFrame) -> pd.Series:
    """Say of rows that came from another source than the ones before: ``from yahoo, before from folder``."""
    was = before["source"].set_axis(now.index)
    told = "from " + now["source"] + ", before from " + was
    return told.where(now["source"] != was).astype("str")


def _values(now: pd.Series, before: pd.Series, columns: list[str]) -> str:
    """Say which values changed: ``close 62.48 → 63.51``."""
    said = [f"{name} {_number(before[name])} → {_number(now[name])}" for name in columns[:_MOST_TOLD]]
    left = len(columns) - len(said)
    return ", ".join([*said, *([f"{left} more"] if left else [])])


def _number(value: float) -> str:
    return "none" if pd.isna(value) else f"{value:.10g}"


def summarise(revisions: pd.DataFrame) -> pd.DataFrame:
    """Count classified revisions.

    Returns
    -------
    pandas.DataFrame
        ``RESTATED_COLUMNS``, one row per series and kind: the factor, the values and the sources in words are those of
        its earliest bar that has some, ``first`` and ``last`` are the first and last session touched.
    """
    if revisions.empty:
        return pd.DataFrame(columns=list(RESTATED_COLUMNS))
    ordered = revisions.sort_values([*_SERIES, "session"], kind="stable")
    summary = ordered.groupby([*_SERIES, "kind"]).agg(
        factor=("factor", "first"),
        what=("what", "first"),
        sources=("sources", "first"),
        rows=("session", "size"),
        first=("session", "min"),
        last=("session", "max"),
    )
    return summary.reset_index()[list(RESTATED_COLUMNS)]


def _log_ratio(now: pd.DataFrame, before: pd.DataFrame) -> NDArray[np.float64]:
    """Logarithm of each value over the one before, NaN where one is missing or not positive; shape (rows, columns)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(now.to_numpy(dtype=np.float64) / before.to_numpy(dtype=np.float64))
    return np.asarray(np.where(np.isfinite(ratio), ratio, np.nan), dtype=np.float64)


def _rescaled(now: pd.DataFrame, prices: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark rows all of whose prices moved by one factor, which another row of the series shares or which is large."""
    factor = prices.mean(axis=1)
    alike = np.ptp(prices, axis=1) <= np.maximum(_ALIKE, 0.01 * np.abs(factor))
    moved = alike & (np.abs(factor) > RAW_NOISE)
    bins = pd.Series(np.where(moved, np.round(factor, 2), np.nan), index=now.index)
    shared = bins.groupby([now["symbol"], now["interval"], bins]).transform("size").fillna(0).to_numpy() > 1
    return np.asarray(moved & (shared | (np.abs(factor) > _PLAIN)), dtype=bool)


def is_restatement(sentence: str) -> bool:
    """Say whether a sentence is one of `sentences`."""
    return sentence.endswith(_STILL_THERE)


def sentences(restated: pd.DataFrame) -> list[str]:
    """Say what was revised, a sentence for each row of a frame with ``RESTATED_COLUMNS``."""
    said = []
    stated = restated[list(RESTATED_COLUMNS)]
    for symbol, _, kind, factor, what, sources, rows, first, last in stated.itertuples(index=False):
        bars = "1 bar" if rows == 1 else f"{rows} bars"
        span = f"{first:%Y-%m-%d}" if first == last else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
        how = REVISION_KINDS[kind]
        if kind in _MULTIPLIED and not pd.isna(factor):
            how = f"{_MULTIPLIED[kind]} multiplied by {factor:.6g}"
        elif not pd.isna(what):
            how = f"corrected: {what}" if rows == 1 else f"corrected, on {first:%Y-%m-%d}: {what}"
        if not pd.isna(sources):
            how += f"; {sources}"
        said.append(f"{symbol}: {bars} of {span} restated ({how}){_STILL_THERE}")
    return said
