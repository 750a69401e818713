"""From the rows that yfinance gives to bars and actions."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from fints.bars.actions import ACTION_COLUMNS, conform_actions, empty_actions
from fints.bars.continuity import expected_bars, off_grid
from fints.bars.schema import empty_bars
from fints.bars.sources.base import Origin, clip_sessions, daily_bounds
from fints.bars.sources.stamps import local_times, place_on_grid
from fints.bars.sources.yahoo_exchanges import check_zone
from fints.errors import TransientError
from fints.sessions.calendars import calendar_range

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.bars.sources.base import BarRequest
    from fints.sessions.calendars import ExchangeCalendar

_COLUMNS: Final = MappingProxyType(
    {
        "Open": "open",
        "High": "high",
        "Low": "low",
        "Close": "close",
        "Adj Close": "adj_close",
        "Volume": "volume",
    }
)
_PRICES: Final = ("open", "high", "low", "close")
_COARSE: Final = ("5d", "1wk", "1mo", "3mo")  # what Yahoo may turn to where a span is long
_ACTIONS: Final = MappingProxyType({"Dividends": "dividend", "Stock Splits": "split", "Capital Gains": "capital_gain"})


def read_answer(
    quotes: pd.DataFrame, meta: Mapping[str, Any], request: BarRequest, calendar: ExchangeCalendar
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the bars and the actions of an answer, clipped to the request.

    Parameters
    ----------
    quotes : pandas.DataFrame
        As ``Ticker.history(auto_adjust=False, actions=True, keepna=True)`` returns it.
    meta : mapping
        What Yahoo says of the symbol; its currency counts, and is left empty where it is not told.
    request : BarRequest
        What was asked for.
    calendar : ExchangeCalendar
        Of the exchange.

    Raises
    ------
    TransientError
        Dates beyond the calendar, or told in the zone of another part of the world.
    """
    if quotes.empty:
        return empty_bars(), empty_actions()
    asked = f"Yahoo, {request.symbol!r} ({request.interval})"
    rows = quotes.rename(columns=dict(_COLUMNS))
    stamps = pd.DatetimeIndex(rows.index)
    rows = rows.reset_index(drop=True)
    _check_granularity(meta.get("dataGranularity"), asked)
    dates = _dates_within_reach(stamps, calendar, asked)
    check_zone(stamps, calendar, asked)
    if request.interval == "1d":
        bounds = daily_bounds(pd.DatetimeIndex(dates), calendar)
    else:
        bounds = place_on_grid(local_times(pd.Series(stamps), calendar, None), calendar, request.interval, "start")
    currency = str(meta.get("currency") or "")
    origin = Origin(request.symbol, request.interval, calendar.mic, currency, "yahoo", pd.Timestamp.now("UTC"))
    told = clip_sessions(_actions(rows, bounds["session"], origin), request)
    bars = _bars(rows, bounds, origin, whole=request.start is None)
    return clip_sessions(bars, request), conform_actions(told) if len(told) else told


def _check_granularity(told: object, asked: str) -> None:
    if told in _COARSE:
        raise TransientError(
            f"{asked}: the answer has rows of {told}, which are no bars of this length; nothing was kept"
        )


def _dates_within_reach(stamps: pd.DatetimeIndex, calendar: ExchangeCalendar, asked: str) -> NDArray[np.datetime64]:
    """Return the dates of the rows in the zone in which they are told, ``datetime64[D]`` of shape (rows,)."""
    if stamps.hasnans:
        raise TransientError(f"{asked}: the answer has a row without a date; nothing was kept")
    dates = np.asarray(stamps.tz_localize(None).to_numpy(), dtype="datetime64[D]")
    first, last = (np.datetime64(day, "D") for day in calendar_range(calendar.mic))
    beyond = dates[(dates < first) | (dates >= last)]
    if len(beyond):
        raise TransientError(
            f"{asked}: the answer has a bar of {beyond[0]}, beyond the calendar of {calendar.mic} ({first} to {last}); "
            "nothing was kept"
        )
    return dates


def _actions(rows: pd.DataFrame, sessions: pd.Series, origin: Origin) -> pd.DataFrame:
    """Return the events of the rows, those on rows without prices included; a value that cannot be is left out."""
    parts = []
    for column, kind in _ACTIONS.items():
        if column not in rows:
            continue
        value = rows[column].to_numpy(dtype=np.float64)
        real = np.flatnonzero((value > 0) & np.isfinite(value))
        if real.size:
            parts.append(pd.DataFrame({"session": sessions.iloc[real], "kind": kind, "value": value[real]}))
    if not parts:
        return empty_actions()
    told = pd.concat(parts, ignore_index=True).assign(
        symbol=origin.symbol, currency=origin.currency, source=origin.source, fetched_at=origin.fetched_at
    )
    return told[list(ACTION_COLUMNS)].drop_duplicates(["session", "kind"], ignore_index=True)


def _bars(rows: pd.DataFrame, bounds: pd.DataFrame, origin: Origin, *, whole: bool) -> pd.DataFrame:
    """Return the bars; rows without any price are none where they carry an action or the exchange was shut.

    A session that was held but has no price stays: the checks report it as missing. A ``whole`` history whose every
    volume is 0 has none; in a few days of an illiquid symbol nothing may have been traded.
    """
    void = np.isnan(rows[list(_PRICES)].to_numpy(dtype=np.float64)).all(axis=1)
    if void.any():
        acts = (rows[[name for name in _ACTIONS if name in rows]] != 0).any(axis=1).to_numpy(dtype=bool)
        left = ~(void & acts)
        rows, bounds, void = rows[left].reset_index(drop=True), bounds[left].reset_index(drop=True), void[left]
    if rows.empty:
        return empty_bars()
    values = rows[list(_COLUMNS.values())]
    if whole and not (values["volume"].to_numpy() > 0).any():
        values = values.assign(volume=pd.Series(pd.NA, index=values.index, dtype="Int64"))
    bars = origin.stamp(pd.concat([bounds, values], axis=1))
    if not void.any():
        return bars
    shut, astray = off_grid(bars, expected_bars(origin.exchange, origin.interval, bars))
    held: pd.DataFrame = bars[~(void & (shut | astray))].reset_index(drop=True)
    return held
