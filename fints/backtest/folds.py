"""Where the history ends in each window of a walk-forward comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fints.errors import ConfigError, SeriesError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

Purge = Literal["auto"] | int


@dataclass(frozen=True, slots=True)
class Folds:
    """Cutoffs shared by all series of a panel, counted in bars.

    Parameters
    ----------
    cutoffs : tuple of pandas.Timestamp
        Stamp (``ds``) of the last known bar of each window, oldest first. On intraday panels of several time zones the
        stamps are each exchange's own wall clock.
    h : int
        Bars forecast in each window.
    step_size : int
        Bars from one cutoff to the next.
    dropped : int
        Bars of each series between the last training row and the cutoff: purge and embargo together.
    """

    cutoffs: tuple[pd.Timestamp, ...]
    h: int
    step_size: int
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.cutoffs)

    def __iter__(self) -> Iterator[pd.Timestamp]:
        return iter(self.cutoffs)

    def history(self, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
        """Return the rows known at a cutoff, of the series that go on after it."""
        known = panel["ds"] <= cutoff
        going_on = panel.loc[~known, "unique_id"].unique()
        return panel[known & panel["unique_id"].isin(going_on)].reset_index(drop=True)

    def training(self, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
        """Return the rows a model may be fitted on for a cutoff: no target after it, purge and embargo taken off."""
        known = panel[panel["ds"] <= cutoff]
        if self.dropped:
            from_the_end = known.groupby("unique_id").cumcount(ascending=False)
            known = known[from_the_end >= self.dropped]
        return known.reset_index(drop=True)

    def after(self, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
        """Return what became known later: ``unique_id``, ``ds``, ``y``."""
        return panel.loc[panel["ds"] > cutoff, ["unique_id", "ds", "y"]]


def make_folds(
    panel: pd.DataFrame, h: int, n_windows: int, step_size: int, purge: Purge = "auto", embargo: int = 0
) -> Folds:
    """Place the cutoffs so that the last window ends at the last bar.

    Bars are counted on the series that reaches furthest (the longest of those), and its stamps are the cutoffs of all:
    a series of another exchange is cut at the same date, whatever number of its own bars that is.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``.
    h : int
        Bars ahead.
    n_windows : int
        Number of cutoffs.
    step_size : int
        Bars between cutoffs.
    purge : "auto" or int
        Bars taken off the end of the training rows. A training row's target is its own ``y``, so with ``"auto"`` none
        needs to go: rows up to the cutoff hold no target after it. Give a number for targets that span several bars.
    embargo : int
        Further bars taken off, against dependence across the cutoff.

    Returns
    -------
    Folds

    Raises
    ------
    ConfigError
        If a number is out of range.
    SeriesError
        If the panel is too short for the windows.
    """
    for value, least, what in (
        (h, 1, "h"),
        (n_windows, 1, "n_windows"),
        (step_size, 1, "step_size"),
        (embargo, 0, "embargo"),
    ):
        if value < least:
            raise ConfigError(f"a backtest needs {what} of at least {least}; got {value}")
    if purge != "auto" and purge < 0:
        raise ConfigError(f"purge is 'auto' or a number of bars, 0 or more; got {purge}")
    dropped = (0 if purge == "auto" else purge) + embargo
    if panel.empty:
        raise SeriesError("a backtest needs at least one series; the panel is empty")
    reach = panel.groupby("unique_id")["ds"].agg(["max", "size"]).sort_values(["max", "size"])
    timeline = panel.loc[panel["unique_id"] == reach.index[-1], "ds"].sort_values().reset_index(drop=True)
    first = len(timeline) - 1 - h - (n_windows - 1) * step_size
    if first - dropped < 1:
        needed = h + (n_windows - 1) * step_size + dropped + 2
        raise SeriesError(
            f"{reach.index[-1]} has {len(timeline)} bars; {n_windows} windows of {h} bars, {step_size} apart, need "
            f"{needed} and more to learn from. Lower n_windows, step_size or h"
        )
    places = range(first, len(timeline) - h, step_size)
    return Folds(tuple(timeline.iloc[p] for p in places), h=h, step_size=step_size, dropped=dropped)
