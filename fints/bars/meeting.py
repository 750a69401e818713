"""The bars of one series that a source delivers, and the stored ones that they meet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.overlap import Rebase, find_rebase, steps
from fints.bars.schema import utc_stamps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Meeting:
    """One series, delivered and stored.

    Attributes
    ----------
    rows : int64 array, shape (bars,)
        Positions of the delivered bars in the delivery of all series.
    new : pandas.DataFrame
        The delivered bars, sorted by end.
    old : pandas.DataFrame
        The stored bars of the same sessions, sorted by end; where none is stored there, the newest one before them.
    place : int64 array, shape (bars,)
        Position in ``old`` of each delivered bar, -1 where it is new.
    actions : pandas.DataFrame
        ``session, kind, value`` of what is stated of the symbol, with the delivery or before.
    """

    rows: NDArray[np.int64]
    new: pd.DataFrame
    old: pd.DataFrame
    place: NDArray[np.int64]
    actions: pd.DataFrame

    @cached_property
    def common(self) -> BoolArray:
        """Delivered bars that are stored too, shape (bars,)."""
        return self.place >= 0

    @cached_property
    def raw(self) -> FloatArray:
        """Logarithm of the delivered over the stored close, NaN where a bar is new; shape (bars,)."""
        found = np.full(len(self.new), np.nan)
        found[self.common] = steps(self._old_prices(), self._new_prices())[0]
        return found

    @property
    def last(self) -> pd.Series:
        """The newest stored bar of the series that the delivery meets or follows."""
        return self.old.iloc[int(self.place.max())] if self.common.any() else self.old.iloc[-1]

    @cached_property
    def later(self) -> BoolArray:
        """Delivered bars after every stored one, shape (bars,)."""
        return np.asarray(utc_stamps(self.new["end"]) > utc_stamps(self.old["end"]).max(), dtype=bool)

    @cached_property
    def splits(self) -> pd.DataFrame:
        """``session, value`` of the splits."""
        return self.actions.loc[self.actions["kind"] == "split", ["session", "value"]]

    def paid_after(self, row: int) -> bool:
        """Say whether a distribution is stated between a delivered bar and the next one."""
        first, last = self.new["session"].iloc[row], self.new["session"].iloc[min(row + 1, len(self.new) - 1)]
        cash = self.actions.loc[self.actions["kind"] != "split", "session"]
        return bool(((cash > first) & (cash <= last)).any())

    def stated(self, after: pd.Timestamp) -> float:
        """Logarithm of the factor by which the splits stated after a session restate what lies before them."""
        later = self.splits[(self.splits["session"] > after) & (self.splits["session"] <= self.new["session"].max())]
        return -float(np.log(later["value"]).sum())

    def rebase(self, left_out: BoolArray) -> Rebase | None:
        """Say by which factor the earliest common bars were restated; ``agreeing`` is of shape (bars,) here.

        Parameters
        ----------
        left_out : bool array, shape (bars,)
            Delivered bars that are not to be believed.
        """
        counted = self.common & ~left_out
        trusted = counted[self.common]
        found = find_rebase(self._old_prices()[trusted], self._new_prices()[trusted])
        if found is None:
            return None
        agreeing = np.zeros(len(self.new), dtype=bool)
        agreeing[counted] = found.agreeing
        return Rebase(found.raw, found.adjusted, agreeing)

    def _new_prices(self) -> FloatArray:
        return self.new.loc[self.common, ["close", "adj_close"]].to_numpy(dtype=np.float64)

    def _old_prices(self) -> FloatArray:
        at = self.place[self.common]
        return self.old[["close", "adj_close"]].to_numpy(dtype=np.float64)[at]


class Meetings:
    """Brings the delivered bars of each series together with the stored ones.

    Parameters
    ----------
    delivered, stored : pandas.DataFrame
        Sorted bars frames.
    place : int64 array, shape (delivered bars,)
        Position in ``stored`` of each delivered bar, -1 where it is new.
    newest : pandas.DataFrame
        The newest stored bar of series of which none was delivered again.
    actions : pandas.DataFrame
        ``symbol, session, kind, value``.
    """

    def __init__(
        self,
        delivered: pd.DataFrame,
        stored: pd.DataFrame,
        place: NDArray[np.int64],
        newest: pd.DataFrame,
        actions: pd.DataFrame,
    ) -> None:
        self._delivered, self._stored, self._place, self._newest = delivered, stored, place, newest
        self._rows, self._last = (frame.groupby(["symbol", "interval"]).indices for frame in (stored, newest))
        said = ["session", "kind", "value"]
        self._actions = {symbol: own[said] for symbol, own in actions.groupby("symbol")}
        self._none = actions[said].iloc[:0]

    def of(self, rows: NDArray[np.int64]) -> Meeting | None:
        """Return the meeting of one series, given its rows; None where it has no stored bars to meet or to follow."""
        new = self._delivered.iloc[rows].reset_index(drop=True)
        key = (str(new["symbol"].iloc[0]), str(new["interval"].iloc[0]))
        here = self._rows.get(key, np.zeros(0, dtype=np.int64))
        place = np.where(self._place[rows] >= 0, np.searchsorted(here, self._place[rows]), -1)
        old = self._stored.iloc[here]
        if (place < 0).all():
            before = pd.concat([old, self._newest.iloc[self._last.get(key, here[:0])]])
            old = before[before["end"] < new.loc[0, "end"]].sort_values("end").tail(1)
        if old.empty:
            return None
        return Meeting(rows, new, old.reset_index(drop=True), place, self._actions.get(key[0], self._none))
