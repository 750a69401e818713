"""What was known at an instant: the last bar of a series that had ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.sessions import get_calendar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.series.windows import Tape


class AsOf:
    """Finds the last bar of a series that had ended at an instant.

    The instant decides, not the date: on the day of an instant at London's close, New York's bar has not ended.

    Parameters
    ----------
    tape : Tape
    """

    def __init__(self, tape: Tape) -> None:
        ends = _milliseconds(tape.clocks["seconds"])
        self._bounds, self._first = tape.bounds, int(ends.min())
        self._span = int(ends.max()) - self._first + 2
        # One ascending array for all series, so that a single search serves any number of them.
        owner = np.repeat(np.arange(len(tape.unique_ids)), np.diff(tape.bounds))
        self._keys = owner * self._span + (ends - self._first)

    def rows(self, series: NDArray[np.int64], instants: NDArray[np.float64]) -> NDArray[np.int64]:
        """Find rows of the tape.

        Parameters
        ----------
        series : ndarray of int64
            Numbers of series in the tape.
        instants : ndarray
            Unix time in seconds; broadcast against `series`. A bar that ends at the instant has ended.

        Returns
        -------
        ndarray of int64
            -1 where the series had no bar yet.
        """
        since = np.clip(_milliseconds(instants) - self._first, -1, self._span - 2)
        rows = np.searchsorted(self._keys, series * self._span + since, side="right") - 1
        return np.where(rows >= self._bounds[series], rows, -1)


def known_instants(
    tape: Tape, exchanges: Sequence[str], known_at: str | pd.Timestamp | None = None
) -> NDArray[np.float64]:
    """Instants at which forecasts that follow a tape are made: the end of each series' last bar.

    Parameters
    ----------
    tape : Tape
    exchanges : sequence of str, length S
        Of each series.
    known_at : date or instant, optional
        Not later than this. A date, or a time without a zone, is the exchange's; a date is known to its end.

    Returns
    -------
    ndarray, shape (S,)
        Unix time in seconds.
    """
    ends = tape.clocks["seconds"][tape.bounds[1:] - 1]
    if known_at is None:
        return ends
    return np.minimum(ends, [_instant(known_at, exchange) for exchange in exchanges])


def _instant(known_at: str | pd.Timestamp, exchange: str) -> float:
    at = pd.Timestamp(known_at)
    if at.tz is not None:
        return at.timestamp()
    if at == at.normalize():
        at += pd.Timedelta(days=1)
    zone = get_calendar(exchange).timezone
    return at.tz_localize(zone, ambiguous=False, nonexistent="shift_forward").timestamp()


def _milliseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.round(seconds * 1e3).astype(np.int64)
