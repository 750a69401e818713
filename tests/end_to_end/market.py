"""A market that fills a folder night after night, with a clock that the test sets; and what its nights leave."""

import numpy as np
import pandas as pd

from fints.bars.nights import NightTable
from fints.bars.store import BarStore
from fints.sessions import get_calendar

SESSIONS = get_calendar("XNYS").sessions("2024-01-02", "2025-03-31")
QUICK = (
    *("targets=[log_volume]", "tracking.enabled=false", "periods.detect=false", "h=5"),
    *("dataset=market", "symbols=[AAA, BBB]"),
)


class Killed(BaseException):
    """The end of a process, as far as a test in the same process can have it."""


class Market:
    """Files of two symbols, and what time it is.

    Bars reach up to a session; some may be missing.
    """

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        folder.mkdir(exist_ok=True)

    def deliver(self, until, missing=()):
        for number, symbol in enumerate(("AAA", "BBB")):
            rng = np.random.default_rng(number)
            close = (50 * np.exp(rng.normal(0, 0.01, len(SESSIONS)).cumsum())).round(3)
            rows = pd.DataFrame({"date": SESSIONS, "open": close, "high": close + 1, "low": close - 1, "close": close})
            rows = rows.assign(volume=rng.integers(10_000, 90_000, len(SESSIONS)))
            gone = [pd.Timestamp(day) for name, day in missing if name == symbol]
            rows = rows[(rows["date"] <= until) & ~rows["date"].isin(gone)]
            rows.to_csv(self.folder / f"{symbol}.csv", index=False)

    def it_is(self, moment):
        now = pd.Timestamp(moment, tz="UTC")
        self.monkeypatch.setattr("pipelines.clock.now", lambda: now)


LATE = (("BBB", "2025-03-10"),)
"""A bar that comes two days after its session."""

FIRST_NIGHTS = {
    "thursday": (("2025-03-06", ()),),
    "late": (("2025-03-07", ()), ("2025-03-10", LATE), ("2025-03-11", LATE)),
}
"""Nights that many tests begin with: until when there are bars, but for some that are late."""


def ledger(home):
    return NightTable.under(home / "store").read("market", "1d")


def files(home):
    return {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file() and path.name != ".lock"}


def told(result):
    return [(night["night"], night["state"]) for night in result["nights"]]


def stored(home, stamp):
    return BarStore(home / "store").read_forecasts(as_of=stamp)
