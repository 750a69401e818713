"""The plan of an ingest: what to ask for each symbol, given what is stored and which sessions have closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.bars.jumps import TOLERANCE, UNIT
from fints.bars.overlap import find_rebase
from fints.bars.schema import utc_stamps
from fints.bars.sources.base import BarRequest
from fints.errors import ConfigError, FintsError
from fints.sessions.calendars import SETTLE, get_calendar
from fints.sessions.grid import bar_grid, parse_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fints.bars.store import BarStore
    from fints.sessions.calendars import ExchangeCalendar

_DAY: Final = pd.Timedelta(days=1)
# a gap within so many days before the newest bar (some 60 sessions) is asked for again, for so long since it was found
_RECENT: Final = pd.Timedelta(days=87)
_PATIENCE: Final = pd.Timedelta(days=7)


@dataclass(frozen=True, slots=True)
class PlannedFetch:
    """What to fetch of one symbol.

    Attributes
    ----------
    symbol : str
        The symbol.
    request : BarRequest or None
        None where no bar can have closed since the last one stored.
    ends : datetime64[ns] array, shape (bars,)
        Closes, UTC, of the stored bars that are fetched again; empty for a new symbol.
    prices : float64 array, shape (bars, 2)
        Their closes and adjusted closes.
    volumes : bool
        Whether any of them has a volume.
    failure : FintsError or None
        Why nothing can be asked: the calendar does not reach that far, say.
    """

    symbol: str
    request: BarRequest | None
    ends: NDArray[np.datetime64]
    prices: NDArray[np.float64]
    failure: FintsError | None = None
    volumes: bool = True

    def silenced(self, fetched: pd.DataFrame) -> pd.DataFrame:
        """Return bars fetched again without volumes, where the stored ones have none and these only zeros.

        A few bars cannot tell an index from a symbol in which nothing was traded; what is stored of it can.
        """
        if self.volumes or not self.ends.size or (fetched["volume"].fillna(0) != 0).any():
            return fetched
        return fetched.assign(volume=pd.array([pd.NA] * len(fetched), dtype="Int64"))

    def rebased(self, fetched: pd.DataFrame) -> bool:
        """Say whether the source restated what lies before the bars fetched, as after a split or a dividend.

        Stored and fetched bars then stand on different bases, and the whole history has to be fetched again. The
        earliest bar that is in both tells: see :mod:`fints.bars.overlap`.
        """
        if not (self.ends.size and len(fetched)):
            return False
        ends, order = np.unique(utc_stamps(fetched["end"]), return_index=True)
        prices = np.column_stack([fetched[name].to_numpy(dtype=np.float64) for name in ("close", "adj_close")])
        _, mine, theirs = np.intersect1d(self.ends, ends, assume_unique=True, return_indices=True)
        found = find_rebase(self.prices[mine], prices[order[theirs]])
        # a hundredfold price is another unit until a split says otherwise: a whole history in pence would help nobody
        return found is not None and abs(abs(found.raw) - UNIT) > TOLERANCE


def plan_fetches(
    store: BarStore,
    symbols: Iterable[str],
    request: BarRequest,
    *,
    now: pd.Timestamp,
    refetch: int | None,
    settle: pd.Timedelta = SETTLE,
) -> Iterator[PlannedFetch]:
    """Plan one fetch per symbol.

    Parameters
    ----------
    store : BarStore
        Where the bars will go.
    symbols : iterable of str
        Symbols wanted.
    request : BarRequest
        Template with interval and exchange; its symbol and dates are replaced. A stored symbol is asked for on the
        exchange that is stored. Of a source read as a whole, which follows the template, another one is refused.
    now : pandas.Timestamp
        Instant of the ingest, with a time zone.
    refetch : int or None
        Number of trailing sessions to fetch again, because sources revise them; where a session in the middle was found
        missing within the last week, the request reaches back to it. None fetches the whole history, which
        is what a source at hand deserves: a file may be corrected anywhere.
    settle : pandas.Timedelta
        A bar is final this long after its close.
    """
    settled = now - settle
    wanted = list(symbols)
    tails = store.last_bars(request.interval, wanted, max(refetch or 1, 1))
    rows = tails.groupby("symbol").indices
    ends, prices = utc_stamps(tails["end"]), tails[["close", "adj_close"]].to_numpy(dtype=np.float64)
    traded = tails["volume"].notna().to_numpy(dtype=bool)
    sessions, exchanges = pd.DatetimeIndex(tails["session"]), tails["exchange"].to_list()
    gaps = _recent_gaps(store, request.interval, now) if len(tails) and refetch is not None else {}
    known: dict[tuple[str, np.datetime64], tuple[pd.Timestamp, bool]] = {}
    for symbol in wanted:
        tail = rows.get(symbol)
        if tail is None:
            end = (
                None
                if request.exchange is None
                else _newest(get_calendar(request.exchange), request.interval, now, settled)
            )
            fresh = BarRequest(symbol, request.interval, None, end, request.exchange)
            yield PlannedFetch(symbol, fresh, ends[:0], prices[:0])
            continue
        last = int(tail[-1])
        if refetch is None and request.exchange not in (None, exchanges[last]):
            yield PlannedFetch(
                symbol, None, ends[tail], prices[tail], _moved(symbol, exchanges[last], request.exchange)
            )
            continue
        if refetch is None:
            whole = BarRequest(symbol, request.interval, None, None, exchanges[last])
            yield PlannedFetch(symbol, whole, ends[tail], prices[tail])
            continue
        place = (exchanges[last], ends[last])
        if place not in known:  # most symbols share it
            try:
                known[place] = _expected(place, sessions[last], request.interval, now, settled)
            except FintsError as error:  # of one exchange; the others go on
                yield PlannedFetch(symbol, None, ends[tail], prices[tail], error)
                continue
        end, due = known[place]
        start = sessions[int(tail[0]) if refetch else last]
        start = min(
            [start, *(_before(exchanges[last], gap) for gap in gaps.get(symbol, ()) if gap > sessions[last] - _RECENT)]
        )
        asked = BarRequest(symbol, request.interval, start, end, exchanges[last])
        spoken = bool(traded[tail].any())
        yield PlannedFetch(symbol, asked if due else None, ends[tail], prices[tail], volumes=spoken)


def _before(exchange: str, gap: pd.Timestamp) -> pd.Timestamp:
    """Return the session before a gap: the bar there tells whether the gap is still open."""
    return get_calendar(exchange).session_on_or_before(gap - _DAY)


def _recent_gaps(store: BarStore, interval: str, now: pd.Timestamp) -> dict[str, list[pd.Timestamp]]:
    """Return by symbol the first sessions of gaps that were found lately: a source may fill them in a few nights."""
    found = store.findings()
    lately = found[found["kind"].isin(["missing_sessions", "missing_bars"]) & (found["interval"] == interval)]
    lately = lately[now - lately["found_at"] <= _PATIENCE]
    return {str(symbol): list(gaps) for symbol, gaps in lately.groupby("symbol")["session"]}


def _moved(symbol: str, stored: str, asked: str | None) -> ConfigError:
    return ConfigError(
        f"{symbol} is stored as a symbol of {stored} and was asked for on {asked}; correct the exchange, or "
        "set FINTS_HOME to a new folder and ingest it anew"
    )


def _newest(calendar: ExchangeCalendar, interval: str, now: pd.Timestamp, settled: pd.Timestamp) -> pd.Timestamp:
    """Return the last session that can have a final bar."""
    if parse_interval(interval) is None:
        return calendar.last_closed_session(settled, pd.Timedelta(0))
    today = now.tz_convert(calendar.timezone).tz_localize(None).normalize()
    # an evening may belong to the session that the next day names
    hours = calendar.schedule(calendar.session_on_or_before(today), min(today + _DAY, calendar.last_day))
    return pd.DatetimeIndex(hours.index)[(hours["open"] <= now) | (hours.index <= today)][-1]


def _expected(
    place: tuple[str, np.datetime64],
    last_session: pd.Timestamp,
    interval: str,
    now: pd.Timestamp,
    settled: pd.Timestamp,
) -> tuple[pd.Timestamp, bool]:
    """Return the last session to ask for, and whether a bar after the last one stored has closed and settled."""
    exchange, last_end = place
    calendar = get_calendar(exchange)
    newest = _newest(calendar, interval, now, settled)
    if newest < last_session:
        return newest, False
    ends = utc_stamps(bar_grid(calendar, last_session, newest, interval)["end"])
    limit = np.datetime64(settled.tz_convert("UTC").tz_localize(None), "ns")
    return newest, bool(((ends > last_end) & (ends <= limit)).any())
