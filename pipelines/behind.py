"""Which bars forecast were over at the as-of already: those of series whose newest bars have not come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.sessions import get_calendar
from fints.sessions.grid import parse_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pipelines.asof import AsOf


def newest_over(forecast: pd.DataFrame, panel: pd.DataFrame, as_of: AsOf) -> dict[str, pd.Timestamp]:
    """Return the newest bar forecast that was over at the as-of, of each series that has one.

    An exchange that closes later than another is not behind it: each series is held against the calendar of its own.

    Parameters
    ----------
    forecast : pandas.DataFrame
        With ``unique_id, ds``; ``ds`` in the time of the exchange.
    panel : pandas.DataFrame
        With ``unique_id, exchange, interval``.
    as_of : AsOf

    Returns
    -------
    dict
        From series to ``ds``; a series that is up to date is not in it.
    """
    series = panel.drop_duplicates("unique_id").set_index("unique_id")
    found: dict[str, pd.Timestamp] = {}
    for name, stamps in forecast.groupby("unique_id", sort=False)["ds"]:
        exchange, interval = series.loc[name, ["exchange", "interval"]]
        ahead = pd.DatetimeIndex(stamps)
        over = ahead[_over(ahead, str(exchange), str(interval), as_of)]
        if len(over):
            found[str(name)] = over.max()
    return found


def _over(stamps: pd.DatetimeIndex, exchange: str, interval: str, as_of: AsOf) -> NDArray[np.bool_]:
    length = parse_interval(interval)
    if length is None or as_of.known_at.tz is None:
        return np.asarray(stamps.normalize() <= as_of.due(exchange), dtype=bool)
    zone = get_calendar(exchange).timezone
    starts = stamps.tz_localize(zone, ambiguous="NaT", nonexistent="shift_forward")  # NaT is never over
    return np.asarray(starts + length + as_of.settle <= as_of.known_at, dtype=bool)
