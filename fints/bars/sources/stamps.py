"""From the stamps of intraday rows to bars: which bar of the exchange's grid a stamp names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from fints.errors import ConfigError
from fints.sessions.grid import bar_grid, parse_interval

if TYPE_CHECKING:
    from fints.sessions.calendars import ExchangeCalendar
    from fints.sessions.grid import Anchor


def local_times(stamps: pd.Series, calendar: ExchangeCalendar, timezone: str | None) -> pd.DatetimeIndex:
    """Return stamps as naive exchange-local time.

    Parameters
    ----------
    stamps : pandas.Series
        Naive, or with a time zone.
    calendar : ExchangeCalendar
        Gives the zone to return.
    timezone : str or None
        Zone of naive stamps; the exchange's by default. The hour that a clock change repeats is read as the first.
    """
    times = pd.DatetimeIndex(stamps).as_unit("ns")
    if times.tz is None:
        zone = timezone or calendar.timezone
        times = times.tz_localize(zone, ambiguous=np.ones(len(times), dtype=bool), nonexistent="shift_forward")
    return times.tz_convert(calendar.timezone).tz_localize(None)


def place_on_grid(
    local: pd.DatetimeIndex,
    calendar: ExchangeCalendar,
    interval: str,
    stamp: Literal["start", "end", "session"],
) -> pd.DataFrame:
    """Find the bar that each stamp names.

    A vendor labels the first, shorter bar of a session either by its true start (09:30) or by the full hour it lies in
    (09:00); the last one likewise by its true end or by the next full hour. Both are understood. A stamp that names no
    bar keeps its own times, so that the checks can report it.

    Parameters
    ----------
    local : pandas.DatetimeIndex
        Naive exchange-local stamps.
    calendar : ExchangeCalendar
        Of the exchange.
    interval : str
        Bar interval, shorter than a day.
    stamp : {"start", "end"}
        What the stamps mean.

    Returns
    -------
    pandas.DataFrame
        ``session`` (naive), ``start, end`` (UTC), one row per stamp, in the given order.

    Raises
    ------
    ConfigError
        Intraday rows cannot be stamped with their session.
    """
    length = parse_interval(interval)
    if length is None or stamp == "session":
        raise ConfigError(f"a stamp of {interval!r} bars names their start or their end; set `stamp` to one of these")
    # the bars of an evening may belong to the session that the next day names
    first, last = local.min().normalize(), min(local.max().normalize() + pd.Timedelta(days=1), calendar.last_day)
    grids = [_labelled(calendar, first, last, interval, anchor, stamp) for anchor in ("open", "clock")]
    grid = max(grids, key=lambda labels: int(local.isin(labels.index).sum()))
    found = grid.reindex(local)
    naive_start = local if stamp == "start" else local - length
    first_of_two = np.ones(len(local), dtype=bool)
    zoned = naive_start.tz_localize(calendar.timezone, ambiguous=first_of_two, nonexistent="shift_forward")
    start = pd.Series(zoned.tz_convert("UTC"))
    own = {"session": pd.Series(naive_start.normalize()), "start": start, "end": start + length}
    filled = {name: found[name].reset_index(drop=True).fillna(own[name]) for name in own}
    return pd.DataFrame(filled)


def _labelled(
    calendar: ExchangeCalendar, first: pd.Timestamp, last: pd.Timestamp, interval: str, anchor: Anchor, stamp: str
) -> pd.DataFrame:
    """Return the grid indexed by every label that a bar may carry; only bars on the wall clock are cut and rounded."""
    grid = bar_grid(calendar, first, last, interval, anchor)
    length = parse_interval(interval)
    true = grid["ds"] if stamp == "start" else _local(grid["end"], calendar)
    rounded = true.dt.floor(length) if stamp == "start" else true.dt.ceil(length)
    names = (true,) if anchor == "open" else (true, rounded)
    columns = grid[["session", "start", "end"]]
    labelled = pd.concat([columns.set_index(pd.DatetimeIndex(labels)) for labels in names])
    return labelled[~labelled.index.duplicated()]


def _local(instants: pd.Series, calendar: ExchangeCalendar) -> pd.Series:
    return pd.Series(pd.DatetimeIndex(instants).tz_convert(calendar.timezone).tz_localize(None))
