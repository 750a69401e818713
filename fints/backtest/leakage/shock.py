"""Another future: from a cutoff on, every bar is another one, a series has no more of them, and markets close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.folds import leading
from fints.series import CALENDAR_PREFIX, PAST_PREFIX
from fints.sessions import get_calendar, parse_interval
from fints.sessions.overrides import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.backtest.folds import Folds

_PRICES = ("open", "high", "low", "close", "adj_close")
_SEED = 20180105


@dataclass(frozen=True, slots=True, eq=False)
class Shock:
    """What is otherwise after a cutoff.

    Parameters
    ----------
    cutoffs : mapping of str to pandas.Timestamp
        Last known stamp on the wall clock of each exchange.
    closures : mapping of str to tuple of Event
        Closures announced after it, by exchange.
    ended : str, optional
        Series that has no bar after it.
    """

    cutoffs: Mapping[str, pd.Timestamp]
    closures: Mapping[str, tuple[Event, ...]]
    ended: str | None = None

    @classmethod
    def after(cls, folds: Folds, window: int, panel: pd.DataFrame) -> Shock:
        """Place a shock after the cutoff of a window; after the last of several, one of several series ends."""
        exchanges = sorted(map(str, panel["exchange"].unique()))
        cutoffs = {name: folds.local.get(name, folds.cutoffs)[window] for name in exchanges}
        closures = {get_calendar(name).mic: _closures(name, at, folds.h) for name, at in cutoffs.items()}
        return cls(cutoffs, closures, _follower(panel) if 0 < window == len(folds) - 1 else None)

    def on(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return bars, or the rows of a panel, with another future."""
        stamps, days = _stamps(rows)
        later = (stamps > rows["exchange"].map(self.cutoffs)).to_numpy(bool)
        bars = "symbol" in rows.columns
        shocked = _bars(rows, later) if bars else _panel(rows, later)
        ended = later & (rows["symbol" if bars else "unique_id"] == self.ended).to_numpy(bool)
        return shocked[~(ended | self._closed(rows["exchange"], days))].reset_index(drop=True)

    def _closed(self, exchanges: pd.Series, days: pd.Series) -> NDArray[np.bool_]:
        closed = np.zeros(len(days), dtype=bool)
        for name in self.cutoffs:
            events = self.closures[get_calendar(name).mic]
            dates = pd.DatetimeIndex([pd.Timestamp(event.day, unit="D") for event in events])
            closed |= (exchanges == name).to_numpy(bool) & days.isin(dates).to_numpy(bool)
        return closed


def _follower(panel: pd.DataFrame) -> str | None:
    """Name a series that windows are not counted on."""
    leader, _ = leading(panel)
    return next((str(name) for name in panel["unique_id"].unique() if name != leader), None)


def _closures(exchange: str, cutoff: pd.Timestamp, h: int) -> tuple[Event, ...]:
    """Close the first and the last ordinary session of the horizon that can still be announced.

    Some markets end a session on the next day; what is announced two days after the cutoff is new to all.
    """
    calendar = get_calendar(exchange)
    announced = cutoff.normalize() + pd.Timedelta(days=2)
    ahead = calendar.next_sessions(cutoff, h + 2)
    ordinary = calendar.schedule(ahead[0], ahead[-1]).query("not early_close").index
    days = [day for day in ordinary if day >= announced]
    chosen = {days[0], days[-1]} if days else set()
    return tuple(Event(_civil(day), _civil(announced), "closure", "supposed") for day in sorted(chosen))


def _civil(day: pd.Timestamp) -> int:
    return int(day.to_datetime64().astype("datetime64[D]").astype(np.int64))


def _stamps(rows: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Wall-clock stamps of rows, and the days on which they fall."""
    if "symbol" not in rows.columns:
        return rows["ds"], rows["ds"].dt.normalize()
    if parse_interval(str(rows["interval"].iloc[0])) is None:
        return rows["session"], rows["session"]
    local = pd.Series(pd.NaT, index=rows.index, dtype="datetime64[ns]")
    for name, starts in rows.groupby("exchange")["start"]:
        zone = get_calendar(str(name)).timezone
        local.loc[starts.index] = starts.dt.tz_convert(zone).dt.tz_localize(None).astype("datetime64[ns]")
    return local, rows["session"]


def _bars(bars: pd.DataFrame, later: NDArray[np.bool_]) -> pd.DataFrame:
    """Other prices, ranges, volumes and instants of fetching after a cutoff; each bar stays a valid one."""
    rng, n = np.random.default_rng(_SEED), int(later.sum())
    shocked = bars.copy()
    level = np.exp(rng.normal(0.5, 0.3, n))
    wider = rng.uniform(0.02, 0.2, n)
    stretch = {"high": 1 + wider, "low": 1 - wider}
    for name in _PRICES:
        shocked.loc[later, name] = bars.loc[later, name] * level * stretch.get(name, 1.0)
    volume = bars.loc[later, "volume"].astype("Float64") * rng.uniform(2, 9, n) + 1
    shocked.loc[later, "volume"] = volume.round().astype("Int64")
    shocked.loc[later, "fetched_at"] = bars.loc[later, "fetched_at"] + pd.Timedelta(days=400)
    return shocked


def _panel(panel: pd.DataFrame, later: NDArray[np.bool_]) -> pd.DataFrame:
    """Other values of everything that the rows after a cutoff hold."""
    rng = np.random.default_rng(_SEED)
    shocked = panel.copy()
    for name in panel.columns:
        if name == "y" or str(name).startswith((PAST_PREFIX, CALENDAR_PREFIX)):
            shocked.loc[later, name] = panel.loc[later, name] * 3 + 5 + rng.normal(size=int(later.sum()))
    return shocked
