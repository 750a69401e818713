"""A vendor that restates backwards as live ones do: splits in every column, dividends in the adjusted close."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from fints.bars.actions import conform_actions, empty_actions
from fints.bars.schema import conform_bars
from fints.bars.sources.base import BarRequest, Delivery, daily_bounds
from fints.sessions.calendars import get_calendar

CENT = 4  # digits of a quoted price


@dataclass
class Vendor:
    """Answers as it would have on the night ``tonight``.

    Parameters
    ----------
    sessions : DatetimeIndex
        Naive dates.
    splits, dividends : dict from date to value
        By ex-date; cash per share of the day it was paid.
    reach : int, optional
        It serves this many sessions before tonight and none earlier.
    tells : bool
        Whether it states its splits and dividends.
    unit : float
        By which all prices are multiplied: 100 is pence.
    """

    sessions: pd.DatetimeIndex
    splits: dict[str, float] = field(default_factory=dict)
    dividends: dict[str, float] = field(default_factory=dict)
    reach: int | None = None
    tells: bool = True
    unit: float = 1.0
    symbol: str = "AAA"
    tonight: pd.Timestamp | None = None
    asked: list[BarRequest] = field(default_factory=list)
    name = "vendor"
    live = True

    def symbols(self) -> list[str]:
        return []

    def truth(self) -> pd.DataFrame:
        """Every bar up to tonight, on tonight's basis."""
        bounds = daily_bounds(self.sessions, get_calendar("XNYS"))
        rng = np.random.default_rng(11)
        close = 400 * np.exp(np.cumsum(rng.normal(0, 0.01, len(bounds))))
        shares = np.ones(len(bounds))
        for day, ratio in self.splits.items():
            shares[bounds["session"] >= day] *= ratio  # what one old share is by then
        ratio_tonight = shares[bounds["session"] <= self.tonight][-1]
        factor = self.unit / ratio_tonight  # quotes of every day in tonight's shares
        bars = bounds.assign(
            open=close * 1.002 * factor,
            high=close * 1.01 * factor,
            low=close * 0.99 * factor,
            close=close * factor,
            volume=(rng.integers(10_000, 90_000, len(bounds)) * 1000 * ratio_tonight).astype("int64"),
        )
        adjusted = np.ones(len(bounds))
        for day, cash in self.dividends.items():
            if pd.Timestamp(day) <= self.tonight:
                at = int(np.flatnonzero(bounds["session"] >= day)[0])
                adjusted[:at] *= 1 - cash / (close[at - 1] / shares[at - 1])
        bars["adj_close"] = bars["close"] * adjusted
        bars = bars.assign(symbol=self.symbol, interval="1d", exchange="XNYS", currency="USD", source=self.name)
        known = bars[bars["session"] <= self.tonight]
        return conform_bars(known.assign(fetched_at=pd.Timestamp("2024-01-01", tz="UTC")))

    def fetch(self, request: BarRequest) -> Delivery:
        self.asked.append(request)
        bars = self.truth()
        if self.reach is not None:
            bars = bars.tail(self.reach)
        bars = bars[bars["session"] >= (request.start or pd.Timestamp.min)]
        return Delivery(bars, self._actions(bars) if self.tells else empty_actions())

    def _actions(self, bars: pd.DataFrame) -> pd.DataFrame:
        rows = [
            (self.symbol, day, kind, value, "USD", self.name, pd.Timestamp("2024-01-01", tz="UTC"))
            for kind, known in (("split", self.splits), ("dividend", self.dividends))
            for day, value in known.items()
            if bars["session"].min() <= pd.Timestamp(day) <= bars["session"].max()
        ]
        names = ["symbol", "session", "kind", "value", "currency", "source", "fetched_at"]
        return conform_actions(pd.DataFrame(rows, columns=names)) if rows else empty_actions()
