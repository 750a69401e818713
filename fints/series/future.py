"""The bars that follow a panel, with what is known about them in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import ConfigError, SeriesError
from fints.series.covariates import CALENDAR_PREFIX
from fints.series.grid import known_calendar, locate, series_anchor
from fints.series.rows import series_rows
from fints.series.schema import validate_panel
from fints.sessions import bar_grid, calendar_features, future_bars, get_calendar

if TYPE_CHECKING:
    from fints.series.grid import Instant
    from fints.sessions import Anchor, ExchangeCalendar

FUTURE_COLUMNS = ("unique_id", "ds", "step", "session", "start", "end", "bar", "exchange", "interval")


def future_frame(
    panel: pd.DataFrame, h: int, *, known_at: Instant | None = None, start: Instant | None = None
) -> pd.DataFrame:
    """Name the next `h` bars of every series, stamped with real sessions.

    Parameters
    ----------
    panel : pandas.DataFrame
        A valid panel, sorted by ``unique_id, ds``; series may end on different dates and trade on different exchanges.
        A bare ``unique_id, ds, y`` frame is taken as daily XNYS.
    h : int
        Bars per series.
    known_at : date or instant, optional
        Calendars as known then. By default each series' calendar is as known at the close of its last bar, so a
        closure announced later is not foreseen.
    start : date or naive exchange-local time, optional
        Take the `h` bars from the first one on or after it, instead of those after the last bar.

    Returns
    -------
    pandas.DataFrame
        `h` rows per series, sorted by ``unique_id, ds``: ``unique_id, ds, step`` (1 is the bar after the last one
        of the history; with `start` it may be more, or less than 1), ``session``, ``start``, ``end`` (UTC),
        ``bar, exchange, interval``, and the panel's ``cal_*`` columns.

    Raises
    ------
    ConfigError
        If `h` is less than one.
    SeriesError
        If the panel is empty, or its last bar lies in no session.
    UnknownNameError
        If the panel has a ``cal_`` column that no calendar can continue.
    """
    if h < 1:
        raise ConfigError(f"h is {h}; a forecast needs at least one bar ahead")
    if panel.empty:
        raise SeriesError("the panel has no rows, so nothing follows it; give at least one series")
    if "exchange" not in panel.columns or "interval" not in panel.columns:
        panel = validate_panel(panel)
    names = [str(c).removeprefix(CALENDAR_PREFIX) for c in panel.columns if str(c).startswith(CALENDAR_PREFIX)]
    interval = str(panel["interval"].iloc[0])
    ds = pd.DatetimeIndex(panel["ds"]).as_unit("ns")
    shared: dict[tuple[str, Anchor, pd.Timestamp], pd.DataFrame] = {}
    owners, frames = [], []
    for uid, rows in series_rows(panel).items():
        exchange = str(panel["exchange"].iloc[rows[0]])
        anchor = series_anchor(ds[rows], get_calendar(exchange), interval)
        key = (exchange, anchor, ds[rows[-1]])
        if key not in shared:
            after = key[2] if start is None else pd.Timestamp(start) - pd.Timedelta(1, "ns")
            known = _close(key, interval, uid) if known_at is None else known_at
            shared[key] = _continuation(key, after, known, (interval, h), names)
        owners.append(uid)
        frames.append(shared[key])
    future = pd.concat(frames, ignore_index=True)
    future.insert(0, "unique_id", np.repeat(np.array(owners, dtype=object), h))
    future["unique_id"] = future["unique_id"].astype(panel["unique_id"].dtype)
    return future


def _close(key: tuple[str, Anchor, pd.Timestamp], interval: str, uid: str) -> pd.Timestamp:
    exchange, anchor, last = key
    bars = locate(pd.DatetimeIndex([last]), get_calendar(exchange), interval, anchor, uid)
    return pd.Timestamp(bars["end"].iloc[0])


def _continuation(
    key: tuple[str, Anchor, pd.Timestamp],
    after: pd.Timestamp,
    known_at: Instant,
    shape: tuple[str, int],
    names: list[str],
) -> pd.DataFrame:
    exchange, anchor, _ = key
    interval, h = shape
    calendar = known_calendar(exchange, known_at)
    bars = future_bars(calendar, interval, after, h, anchor).reset_index(drop=True)
    bars = bars[["session", "ds", "start", "end", "bar"]]
    steps = _first_step(calendar, key, interval, pd.Timestamp(bars["ds"].iloc[0])) + np.arange(h)
    frame = pd.DataFrame({"ds": bars["ds"], "step": steps})
    frame = frame.assign(session=bars["session"], start=bars["start"], end=bars["end"], bar=bars["bar"])
    frame = frame.assign(exchange=exchange, interval=interval)
    return pd.concat([frame, calendar_features(bars, calendar, names)], axis=1) if names else frame


def _first_step(
    calendar: ExchangeCalendar, key: tuple[str, Anchor, pd.Timestamp], interval: str, first: pd.Timestamp
) -> int:
    """Count how many bars after the last known one a bar comes."""
    _, anchor, last = key
    early, late = sorted((first, last))
    # the bars of an evening may belong to the session that the next day names
    end = min(late.normalize() + pd.Timedelta(days=1), calendar.last_day)
    stamps = bar_grid(calendar, early.normalize(), end, interval, anchor)["ds"]
    count = int(((stamps > early) & (stamps <= late)).sum())
    return count if first > last else -count
