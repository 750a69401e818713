"""Which instrument a symbol names: symbols are given to other companies, and companies change their symbols.

A symbol is *recycled* where a long hole in its bars ends at another level of prices, in another currency or on another
exchange. The rows since the hole are the instrument that the symbol names now; what lies before is another one, with an
id of its own: ``EEM (until 2002-12-05)`` after its last session. A long hole without such a break (a symbol that traded
under another name for some years) leaves one instrument with a gap.

An *alias* leads from the former name of a symbol to its present one: bars stored under the former name are the earlier
history of the present. Nobody restates them when shares are split under the present name: they are brought to its basis
where they are read. Former bars that hardly belong to the present ones are left out, and a warning is logged.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.actions import empty_actions
from fints.bars.aliases import followed
from fints.bars.continuity import LONG_HOLE, RECYCLED_FACTOR
from fints.bars.rescale import Basis
from fints.bars.schema import UNTOLD, series_codes, sort_bars, utc_stamps
from fints.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from fints.bars.store import BarStore

LOG = logging.getLogger(__name__)

_SAME: Final = 0.01  # by which share the closes of one session under two names may differ
INSTRUMENT_COLUMNS: Final = ("symbol", "interval", "instrument", "first", "last", "rows", "current")


def separate(bars: pd.DataFrame) -> pd.DataFrame:
    """Give earlier instruments of recycled symbols an id of their own in the column ``symbol``.

    Parameters
    ----------
    bars : pandas.DataFrame
        Bars frame, sorted by symbol, interval and end.

    Returns
    -------
    pandas.DataFrame
        Sorted likewise; the frame itself where no symbol is recycled.
    """
    number = _instrument_numbers(bars)
    earlier = _earlier(bars, number)
    if not earlier.any():
        return bars
    last = bars["session"].groupby([series_codes(bars), number]).transform("max")
    own = bars["symbol"] + " (until " + last.dt.strftime("%Y-%m-%d") + ")"
    return sort_bars(bars.assign(symbol=bars["symbol"].where(~earlier, own).astype("str")))[0]


def present(bars: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of the instrument that each symbol names now; arguments as of :func:`separate`."""
    earlier = _earlier(bars, _instrument_numbers(bars))
    return bars[~earlier].reset_index(drop=True) if earlier.any() else bars


def instruments(bars: pd.DataFrame) -> pd.DataFrame:
    """List the instruments that symbols named and name.

    Returns
    -------
    pandas.DataFrame
        ``INSTRUMENT_COLUMNS``, oldest first: ``instrument`` is the id that :func:`separate` gives, ``current`` whether
        the symbol names it now.
    """
    named = separate(bars)
    symbol = named["symbol"].str.replace(r" \(until \d{4}-\d\d-\d\d\)$", "", regex=True)
    known = set(bars["symbol"])  # a symbol may itself be spelled like an id
    symbol = symbol.where(~named["symbol"].isin(known), named["symbol"])
    by = named.assign(instrument=named["symbol"], symbol=symbol).groupby(["symbol", "interval", "instrument"])
    table = by.agg(first=("session", "min"), last=("session", "max"), rows=("session", "size")).reset_index()
    table["current"] = table["symbol"] == table["instrument"]
    return table.sort_values(["symbol", "interval", "first"], ignore_index=True)[list(INSTRUMENT_COLUMNS)]


def join_aliases(bars: pd.DataFrame, aliases: Mapping[str, str], actions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Put the bars of former names before those of the present ones.

    Parameters
    ----------
    bars : pandas.DataFrame
        Bars frame with former and present names.
    aliases : mapping from former to present symbol
        A present name may itself be a former one; a former name of which there are no bars does not matter.
    actions : pandas.DataFrame, optional
        Actions frame. Former bars are multiplied by the factor of the splits stated since, under either name, where
        the first bars of the present name stand there.

    Returns
    -------
    pandas.DataFrame
        Sorted bars frame in which no former name is left. Where both names have a session, the present one's bar
        stays. Where the two are hardly one instrument (they overlap at other prices, their currency or exchange
        differs, or the price jumps from the one to the other) the former bars and all before them are left out, and a
        warning is logged.

    Raises
    ------
    ConfigError
        The names lead in a circle.
    """
    chain = followed(aliases)
    former = bars["symbol"].isin(chain)
    if not former.any():
        return bars
    parts = [bars[~former.to_numpy()]]
    held = dict(list(parts[0].groupby(["symbol", "interval"])))
    told = empty_actions() if actions is None else actions
    splits, torn = told[told["kind"] == "split"], set[tuple[str, str]]()
    # the newest of several former names joins first
    olds = sorted(bars[former].groupby(["symbol", "interval"]), key=lambda part: part[1]["session"].max(), reverse=True)
    for (name, interval), old in olds:
        key = (chain[str(name)], str(interval))
        if key in torn:
            LOG.warning("alias %s: %s: its bars are left out, for later ones are", name, key[0])
            continue
        new = held.get(key)
        joined = old.assign(symbol=key[0])
        if new is not None:
            joined = _on_basis_of(new, joined, splits[splits["symbol"].isin([name, key[0]])])
            try:
                _check_joint(str(name), key[0], joined, new)
            except DataError as error:  # concerns this symbol only
                LOG.warning("%s. Until then its %d bars are left out", str(error).rstrip("."), len(old))
                torn.add(key)
                continue
            joined = joined[joined["session"] < new["session"].min()]
        parts.append(joined)
        held[key] = joined if new is None else pd.concat([joined, new])
    whole = pd.concat(parts, ignore_index=True)
    return sort_bars(whole.assign(symbol=whole["symbol"].astype("str")))[0]


def read_instruments(  # noqa: PLR0913 - as of the store's read, and the aliases
    store: BarStore,
    symbols: Iterable[str],
    interval: str = "1d",
    *,
    aliases: Mapping[str, str] | None = None,
    start: str | pd.Timestamp | None = None,
    end: str | pd.Timestamp | None = None,
    version: int | None = None,
) -> pd.DataFrame:
    """Read bars with the earlier history that is stored under former names.

    Parameters
    ----------
    store : BarStore
        Where they are.
    symbols : iterable of str
        Present names; one of which only a former name is stored has the bars of that.
    interval, start, end, version
        As of :meth:`fints.bars.store.BarStore.read`.
    aliases : mapping from former to present symbol, optional
        None are followed by default.

    Raises
    ------
    UnknownNameError
        Neither a symbol nor a former name of it is stored.
    ConfigError
        The names lead in a circle.
    """
    wanted = list(symbols)
    chain = followed(aliases or {})
    formers = [old for old, new in chain.items() if new in wanted and old not in wanted]
    if not formers:
        return store.read(wanted, interval, start, end, version)
    stored = set(store.symbols(interval, version))
    there = [name for name in formers if name in stored]
    carried = {chain[name] for name in there}
    asked = [name for name in wanted if name in stored or name not in carried]
    mine = {name: chain[name] for name in there}
    bars = store.read([*asked, *there], interval, start, end, version)
    return join_aliases(bars, mine, store.actions([*there, *carried]))


def _on_basis_of(new: pd.DataFrame, old: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Bring former bars to the basis of later ones, where those stand at the factor of the splits stated since."""
    last = old["session"].iloc[-1]
    since = splits[(splits["session"] > last) & (splits["session"] <= new["session"].max())]
    stated = -float(np.log(since.drop_duplicates("session")["value"].to_numpy(dtype=np.float64)).sum())
    both = old.merge(new, on="end", suffixes=("_old", "_new"))
    with np.errstate(divide="ignore", invalid="ignore"):
        met = (both["close_new"] / both["close_old"]).median() if len(both) else np.nan
        step = float(np.log(new["open"].iloc[0] / old["close"].iloc[-1] if np.isnan(met) else met))
    if not stated or not abs(step - stated) < abs(step):
        return old
    return Basis(stated, 0.0, volumes=True, until=last).apply(old)


def _check_joint(name: str, present_name: str, old: pd.DataFrame, new: pd.DataFrame) -> None:
    who = f"alias {name}: {present_name}"
    cure = "Correct `aliases`, or leave it out and keep two symbols"
    for column in ("currency", "exchange"):
        values = sorted({*old[column], *new[column]}.difference(UNTOLD))
        if len(values) > 1:
            raise DataError(f"{who}: the {column} differs ({', '.join(values)}). {cure}")
    first = new["session"].min()
    both = old.merge(new, on="end", suffixes=("_old", "_new"))
    apart = both[(both["close_old"] / both["close_new"] - 1).abs() > _SAME]
    if len(apart):
        row = apart.iloc[0]
        raise DataError(
            f"{who}: both are stored on {row['session_old']:%Y-%m-%d} and {len(apart)} of {len(both)} closes differ "
            f"({row['close_old']:g} and {row['close_new']:g}). {cure}"
        )
    before = old[old["session"] < first]
    if before.empty:
        return
    close, opened = float(before["close"].iloc[-1]), float(new["open"].iloc[0])
    if max(close, opened) > RECYCLED_FACTOR * min(close, opened):
        raise DataError(
            f"{who}: the price goes from {close:g} ({before['session'].iloc[-1]:%Y-%m-%d}) to {opened:g} "
            f"({first:%Y-%m-%d}): these are hardly one instrument on one basis. {cure}"
        )


def _instrument_numbers(bars: pd.DataFrame) -> NDArray[np.int64]:
    """Count the instruments of each series from its first bar on, shape (rows,)."""
    series = series_codes(bars)
    breaks = np.zeros(len(bars), dtype=bool)
    hole = np.diff(utc_stamps(bars["session"])) > LONG_HOLE.to_timedelta64()
    at = np.flatnonzero(hole & (np.diff(series) == 0)) + 1
    if at.size:
        now, before = bars.iloc[at], bars.iloc[at - 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.abs(np.log(now["close"].to_numpy() / before["close"].to_numpy()))
        moved = step > np.log(RECYCLED_FACTOR)
        for name in ("currency", "exchange"):
            here, there = now[name].to_numpy(dtype=object), before[name].to_numpy(dtype=object)
            moved |= (here != there) & ~np.isin(here, UNTOLD) & ~np.isin(there, UNTOLD)
        breaks[at[moved]] = True
    return np.cumsum(breaks)


def _earlier(bars: pd.DataFrame, number: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark rows that are not of the last instrument of their series, shape (rows,)."""
    if not len(bars) or not number[-1]:
        return np.zeros(len(bars), dtype=bool)
    newest = pd.Series(number).groupby(series_codes(bars)).transform("max").to_numpy()
    return np.asarray(number < newest, dtype=bool)
