"""What happened: the values of a target made from the bars as they are now, and which sessions took place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import DataError
from fints.series import located, make_panel
from fints.series.grid import known_calendar, series_anchor
from fints.sessions import bar_grid, parse_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fints.sessions import Anchor


@dataclass(frozen=True, slots=True, eq=False)
class Happened:
    """Bars that are final, and the calendar as it is known by now.

    Parameters
    ----------
    bars : pandas.DataFrame
        Schema ``bars``, one interval, on one basis.
    known_at : pandas.Timestamp
        An instant; or a naive date, whose session is over.
    settle : pandas.Timedelta
        A bar is final this long after its close.
    """

    bars: pd.DataFrame
    known_at: pd.Timestamp
    settle: pd.Timedelta

    @property
    def interval(self) -> str:
        """Of the bars."""
        return str(self.bars["interval"].iloc[0])

    @property
    def exchanges(self) -> Mapping[str, str]:
        """Exchange of every series, as its newest bar states it."""
        newest = self.bars.drop_duplicates("symbol", keep="last")
        return dict(zip(newest["symbol"].astype(str), newest["exchange"].astype(str), strict=True))

    def values(self, target: str) -> pd.DataFrame:
        """Return ``unique_id, ds, y``; `ds` of an intraday bar is the start that its calendar gives it."""
        try:
            panel = make_panel(self.bars, target, features=False, companions=False)
        except DataError:  # no bar has a value
            return pd.DataFrame({"unique_id": [], "ds": pd.DatetimeIndex([]), "y": []})
        if parse_interval(self.interval) is None:
            return panel[["unique_id", "ds", "y"]]
        starts = np.empty(len(panel), dtype="datetime64[ns]")
        for part in located(panel):
            local = pd.DatetimeIndex(part.bars["start"]).tz_convert(part.calendar.timezone).tz_localize(None)
            starts[part.rows] = local.to_numpy("datetime64[ns]")[part.bar_of_row]
        return panel[["unique_id"]].assign(ds=starts, y=panel["y"])

    def sessions(self, names: Iterable[str], stamps: pd.Series) -> pd.DataFrame:
        """Say of every series and bar in the span of some stamps when it ended, and whether it is over.

        Parameters
        ----------
        names : iterable of str
            Series that have bars.
        stamps : pandas.Series
            Of bars that were forecast.

        Returns
        -------
        pandas.DataFrame
            ``unique_id, ds, end`` (UTC) and ``over``. A bar that is not listed is of no session, by what is known now.
        """
        parts, grids = [], dict[tuple[str, str], pd.DataFrame]()
        exchanges = self.exchanges
        for name in names:
            key = (exchanges[name], self._anchor(name, exchanges[name]))
            if key not in grids:
                grids[key] = self._grid(*key, stamps)
            parts.append(grids[key].assign(unique_id=name))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def newest(self) -> Mapping[str, pd.Timestamp]:
        """Return the last session of which an exchange has a bar, by exchange."""
        last = self.bars.groupby("exchange")["session"].max()
        return {str(name): pd.Timestamp(session) for name, session in last.items()}

    def _anchor(self, name: str, exchange: str) -> Anchor:
        if parse_interval(self.interval) is None:
            return "open"
        own = self.bars.loc[self.bars["symbol"] == name, "start"]
        calendar = known_calendar(exchange, None)
        local = pd.DatetimeIndex(own).tz_convert(calendar.timezone).tz_localize(None).as_unit("ns")
        return series_anchor(local, calendar, self.interval)

    def _grid(self, exchange: str, anchor: Anchor, stamps: pd.Series) -> pd.DataFrame:
        calendar = known_calendar(exchange, self.known_at)
        margin = pd.Timedelta(0) if parse_interval(self.interval) is None else pd.Timedelta(days=1)
        first, last = stamps.min().normalize() - margin, stamps.max().normalize() + margin
        grid = bar_grid(calendar, first, min(last, calendar.last_day), self.interval, anchor)
        if self.known_at.tz is None:
            over = grid["session"] <= self.known_at.normalize()
        else:
            over = grid["end"] + self.settle <= self.known_at
        return grid[["ds", "session", "end"]].assign(over=over)
