"""Bars put on one basis: that of the newest shares, so that no split lies between two of them.

Sources such as files often hold prices as they were quoted. A split is taken out of them where it can be seen in the
prices and something confirms it: an actions table states it, the adjusted close knows of it, or the bars around it
do, which is asked for without any of the two::

    the open stands to the close before at a ratio at which shares are split
    the prices before and after are steady (within 20 % from close to close, five bars each), so that the level changed
    no more money changed hands than in the days before: a crash comes with a rush, a split does not

Bars before the split are multiplied by its factor (1/4 for four shares for one), their volumes divided by it. A source
that has adjusted for a stated split already shows no jump, and nothing is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pandas as pd

from fints.bars.actions import empty_actions
from fints.bars.jumps import RATIOS, find_jumps
from fints.bars.rescale import multiply_volume
from fints.bars.schema import PRICES, series_codes, utc_stamps

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPLIT_COLUMNS: Final = ("symbol", "interval", "session", "value", "origin", "adjusted_knows")
_AROUND: Final = 5  # bars on each side of a jump that have to be steady
_STEADY: Final = 0.2  # of the logarithm, from close to close
_DAYS_BEFORE: Final = 10  # bars whose turnover a split does not exceed …
_RUSH: Final = 2.0  # … by more than this factor
_PLAIN: Final = 0.1  # of the logarithm: a smaller split cannot be told from an overnight move


def adjust(
    bars: pd.DataFrame, actions: pd.DataFrame | None = None, *, to: Literal["split", "total"] = "split"
) -> pd.DataFrame:
    """Put bars on the basis of the newest of each series.

    Parameters
    ----------
    bars : pandas.DataFrame
        Bars frame, sorted by symbol, interval and end; quarantined rows are not among it.
    actions : pandas.DataFrame, optional
        Actions frame. Distributions are taken as stated, in the shares and the currency of the bars of their day.
    to : {"split", "total"}
        Take out splits; or also distributions: prices before an ex-date are then multiplied by one less the share of
        the last close that was paid, and the adjusted close is the close. Volumes know splits only.

    Returns
    -------
    pandas.DataFrame
        The frame itself where there is nothing to do.
    """
    splits = find_splits(bars, actions)
    paid = _paid(bars, actions, splits) if to == "total" and actions is not None else np.zeros(len(bars))
    if splits.empty and to == "split":
        return bars
    factor = np.exp(split_factors(bars, splits))
    known = np.exp(split_factors(bars, splits[~splits["adjusted_knows"].astype(bool)]))
    prices = {name: bars[name] * factor * np.exp(paid) for name in PRICES}
    moved = bars.assign(**prices, volume=_divided(bars["volume"], factor))
    return moved.assign(adj_close=moved["close"] if to == "total" else bars["adj_close"] * known)


def split_sentences(splits: pd.DataFrame) -> list[str]:
    """Say for each symbol which splits were taken out of its prices; of a frame with ``SPLIT_COLUMNS``."""
    said = []
    for symbol, own in splits.groupby("symbol"):
        dated = zip(own["value"].astype("float64"), own["session"], strict=True)
        told = ", ".join(f"{spelled(value)} on {session:%Y-%m-%d}" for value, session in dated)
        said.append(f"{symbol}: splits in its prices ({told}); what lies before was put on the newest basis.")
    return said


def spelled(value: float) -> str:
    """Spell a split as people do: ``4 for 1``."""
    return f"{value:g} for 1" if value >= 1 else f"1 for {1 / value:g}"


def split_factors(bars: pd.DataFrame, splits: pd.DataFrame) -> NDArray[np.float64]:
    """Logarithm of the factor that brings each bar to the newest basis of its series, shape (rows,).

    Parameters
    ----------
    bars : pandas.DataFrame
        Bars frame.
    splits : pandas.DataFrame
        ``symbol, interval, session, value``, as :func:`find_splits` returns them.
    """
    found = np.zeros(len(bars))
    sessions = utc_stamps(bars["session"])
    groups = bars.groupby(["symbol", "interval"]).indices if len(splits) else {}
    stamps, ratios = utc_stamps(splits["session"]), np.log(splits["value"].to_numpy(dtype=np.float64))
    for row, series in enumerate(zip(splits["symbol"], splits["interval"], strict=True)):
        rows = groups[series]
        found[rows[sessions[rows] < stamps[row]]] -= ratios[row]
    return found


def find_splits(bars: pd.DataFrame, actions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the splits that lie between the bars, confirmed and not yet adjusted for.

    Parameters
    ----------
    bars : pandas.DataFrame
        Bars frame, sorted by symbol, interval and end.
    actions : pandas.DataFrame, optional
        Actions frame.

    Returns
    -------
    pandas.DataFrame
        ``SPLIT_COLUMNS``: ``session`` is that of the first bar after, ``value`` the new shares for one old,
        ``origin`` ``"stated"`` (by the actions), ``"adjusted close"`` or ``"prices"``, and ``adjusted_knows`` whether
        the adjusted close has none of it.
    """
    series = series_codes(bars)
    stated = _stated(bars, series, empty_actions() if actions is None else actions)
    seen = _seen(bars, series)
    table = pd.concat([part for part in (stated, seen) if len(part)] or [stated], ignore_index=True)
    key = ["symbol", "interval", "session"]
    return table.drop_duplicates(key).sort_values(key, ignore_index=True)


def _stated(bars: pd.DataFrame, series: NDArray[np.int64], actions: pd.DataFrame) -> pd.DataFrame:
    """Find the stated splits whose jump is in the prices."""
    splits = actions[actions["kind"] == "split"]
    found = []
    for number in np.unique(series[bars["symbol"].isin(set(splits["symbol"])).to_numpy()]) if len(splits) else ():
        rows = np.flatnonzero(series == number)
        own = splits[splits["symbol"] == bars["symbol"].iloc[rows[0]]]
        places = np.searchsorted(utc_stamps(bars["session"])[rows], utc_stamps(own["session"]))
        inside = (places > 0) & (places < len(rows))
        at, ratio = rows[places[inside]], np.log(own["value"].to_numpy())[inside]
        step, told = _steps(bars, at)
        raw = np.abs(step + ratio) < np.abs(step)
        # a small one hides in the overnight move: the plain ones say how the source treats it
        plain = np.abs(ratio) > _PLAIN
        raw = np.where(plain, raw, plain.any() and raw[plain].all())
        knows = np.abs(told - ratio) < np.abs(told)
        found += [(int(at[i]), float(np.exp(ratio[i])), "stated", bool(knows[i])) for i in np.flatnonzero(raw)]
    return _table(bars, found)


def _seen(bars: pd.DataFrame, series: NDArray[np.int64]) -> pd.DataFrame:
    """Find the jumps that the adjusted close or the bars around them confirm."""
    found: list[tuple[int, float, str, bool]] = []
    for jump in find_jumps(bars, series):
        ratio = float(RATIOS[np.abs(abs(np.log(jump.ratio)) - np.log(RATIOS)).argmin()])
        value = ratio if jump.ratio < 1 else 1 / ratio
        row = jump.rows.start
        if jump.kind != "split_jump":
            continue
        if jump.explained:
            found.append((row, value, "adjusted close", True))
        elif _confirmed(bars, series, row):
            found.append((row, value, "prices", False))
    return _table(bars, found)


def _confirmed(bars: pd.DataFrame, series: NDArray[np.int64], row: int) -> bool:
    """Say whether the prices are steady around a jump and no rush of trading came with it."""
    first, last = (int(np.searchsorted(series, series[row], side=side)) for side in ("left", "right"))
    near = bars["close"].to_numpy()[max(first, row - _AROUND) : min(last, row + _AROUND)]
    split = min(_AROUND, row - first)
    moves = np.abs(np.diff(np.log(near)))
    moves = np.delete(moves, split - 1)
    before = slice(max(first, row - _DAYS_BEFORE), row + 1)
    volume = bars["volume"].iloc[before].to_numpy(dtype=np.float64, na_value=np.nan)
    money = volume * bars["close"].to_numpy()[before]
    if len(moves) < 2 or not (money > 0).all():
        return False
    return bool((moves < _STEADY).all() and money[-1] <= _RUSH * money[:-1].max())


def _steps(bars: pd.DataFrame, at: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms of open over the close before, and of what the adjusted close takes out of it; shape (places,)."""
    opened, close, adjusted = (bars[name].to_numpy(dtype=np.float64) for name in ("open", "close", "adj_close"))
    with np.errstate(divide="ignore", invalid="ignore"):
        hidden = np.log(adjusted / close)
        told = np.nan_to_num(hidden[at] - hidden[at - 1], posinf=0.0, neginf=0.0)
    return np.log(opened[at] / close[at - 1]), told


def _paid(bars: pd.DataFrame, actions: pd.DataFrame, splits: pd.DataFrame) -> NDArray[np.float64]:
    """Logarithm of the factor of all distributions after each bar, shape (rows,)."""
    found = np.zeros(len(bars))
    distributions = actions[actions["kind"] != "split"]
    cash = distributions.groupby(["symbol", "session"])["value"].sum().reset_index()
    sessions, close = utc_stamps(bars["session"]), bars["close"].to_numpy(dtype=np.float64)
    # paid per share of the day, of which a split on that day has made more
    shares = splits.groupby(["symbol", "session"])["value"].first()
    made = cash[["symbol", "session"]].join(shares, on=["symbol", "session"])["value"].fillna(1.0)
    paid = zip(cash["symbol"], utc_stamps(cash["session"]), cash["value"] * made, strict=True)
    by_symbol: dict[str, list[NDArray[np.int64]]] = {}
    for rows in bars.groupby(["symbol", "interval"]).indices.values():
        by_symbol.setdefault(str(bars["symbol"].iloc[rows[0]]), []).append(np.asarray(rows, dtype=np.int64))
    for symbol, session, value in paid:
        for rows in by_symbol.get(symbol, []):
            place = int(np.searchsorted(sessions[rows], session))
            if 0 < place < len(rows):
                found[rows[:place]] += np.log1p(-value / close[rows[place - 1]])
    return found


def _table(bars: pd.DataFrame, found: list[tuple[int, float, str, bool]]) -> pd.DataFrame:
    at = bars.iloc[[row for row, *_ in found]]
    told = pd.DataFrame([rest for _, *rest in found], columns=["value", "origin", "adjusted_knows"], index=at.index)
    return at[["symbol", "interval", "session"]].join(told).reset_index(drop=True)


def _divided(volume: pd.Series, factor: NDArray[np.float64]) -> pd.Series:
    """Divide volumes by factors, few of which are distinct; whole multiples are exact."""
    moved = volume.copy()
    for value in np.unique(factor[factor != 1]):
        rows = factor == value
        moved[rows] = multiply_volume(volume[rows], 1 / value)
    return moved
