"""Where the history ends in each window of a walk-forward comparison, and which rows before it may be learned from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pandas as pd

from fints.errors import ConfigError, SeriesError
from fints.series import LONGEST_CLOSURE
from fints.sessions import parse_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Purge = Literal["auto"] | int


@dataclass(frozen=True, slots=True)
class Folds:
    """Cutoffs shared by all series of a panel, counted in bars.

    Parameters
    ----------
    cutoffs : tuple of pandas.Timestamp
        Stamp (``ds``) of the last known bar of each window, oldest first, on the series that reaches furthest.
    h : int
        Bars forecast in each window.
    step_size : int
        Bars from one cutoff to the next.
    purge, embargo : int
        Bars of each series between its last training row and the cutoff: those whose target reaches beyond the cutoff,
        and those left out against dependence across it.
    input_size : int, optional
        Training rows of each series at most, the latest (rolling); all by default (expanding).
    warm_up : int
        Training rows that a series needs to take part.
    local : mapping of str to tuple of pandas.Timestamp
        Cutoffs by exchange, on its own wall clock; empty where `cutoffs` holds for all.
    """

    cutoffs: tuple[pd.Timestamp, ...]
    h: int
    step_size: int
    purge: int = 0
    embargo: int = 0
    input_size: int | None = None
    warm_up: int = 1
    local: Mapping[str, tuple[pd.Timestamp, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.cutoffs)

    def __iter__(self) -> Iterator[pd.Timestamp]:
        return iter(self.cutoffs)

    @property
    def dropped(self) -> int:
        """Bars of each series between the last training row and the cutoff: purge and embargo together."""
        return self.purge + self.embargo

    def known(self, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.Series:
        """Tell of each row of a panel whether it is known at a cutoff."""
        if not self.local:
            return panel["ds"] <= cutoff
        window = self.cutoffs.index(cutoff)
        ends = {exchange: stamps[window] for exchange, stamps in self.local.items()}
        return panel["ds"] <= panel["exchange"].map(ends)

    def history(self, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
        """Return the rows known at a cutoff, of the series that are still quoted then; nothing is taken off.

        Whether a series goes on is not known at the cutoff and does not count. It is taken for ended if it lacks the
        last h bars, and `LONGEST_CLOSURE` before them: what would be forecast of it had long come.
        """
        known = panel[self.known(panel, cutoff)]
        _, stamps = leading(known)
        oldest = stamps.iloc[-min(self.h, len(stamps))] - LONGEST_CLOSURE
        last = known.groupby("unique_id", sort=False)["ds"].max()
        return known[known["unique_id"].isin(last.index[last > oldest])].reset_index(drop=True)

    def training(self, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
        """Return the rows that a model may be fitted on for a cutoff.

        No target reaches beyond the cutoff; purge and embargo are taken off, rows older than a rolling window too, and
        series that are not warm yet.
        """
        rows = panel[self.known(panel, cutoff)]
        from_the_end = rows.groupby("unique_id").cumcount(ascending=False)
        last = float("inf") if self.input_size is None else self.dropped + self.input_size
        rows = rows[(from_the_end >= self.dropped) & (from_the_end < last)]
        if self.warm_up > 1:
            rows = rows[rows.groupby("unique_id")["ds"].transform("size") >= self.warm_up]
        return rows.reset_index(drop=True)

    def after(self, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
        """Return what became known later: ``unique_id``, ``ds``, ``y``."""
        return panel.loc[~self.known(panel, cutoff), ["unique_id", "ds", "y"]]


def make_folds(  # noqa: PLR0913 — the names and their order are those of the Nixtla libraries
    panel: pd.DataFrame,
    h: int,
    n_windows: int | None = None,
    step_size: int = 1,
    purge: Purge = "auto",
    embargo: int = 0,
    *,
    test_size: int | None = None,
    input_size: int | None = None,
    warm_up: int = 1,
    target_span: int = 1,
) -> Folds:
    """Place the cutoffs so that the last window ends at the last bar.

    Bars are counted on the series that reaches furthest (the longest of those). Daily series of other exchanges are cut
    at the same date, whatever number of their own bars that is. Intraday ones are cut at the same instant: a bar is
    known if it had ended when the bar at the cutoff had.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``.
    h : int
        Bars ahead.
    n_windows : int, optional
        Number of cutoffs; say this or `test_size`.
    step_size : int
        Bars between cutoffs.
    purge : "auto" or int
        Bars taken off the end of the training rows. With ``"auto"``, ``target_span - 1``: those whose target reaches
        beyond the cutoff. The horizon adds none, because a model pairs origins with targets within its training rows.
    embargo : int
        Further bars taken off, against dependence across the cutoff.
    test_size : int, optional
        Bars at the end that the windows share out: ``h + (n_windows - 1) * step_size``.
    input_size : int, optional
        Training rows of each series at most: a window that rolls. All rows up to the cutoff by default.
    warm_up : int
        Training rows that a series needs to take part.
    target_span : int
        Bars that a row's ``y`` is made of: its own, and ``target_span - 1`` after it.

    Returns
    -------
    Folds

    Raises
    ------
    ConfigError
        If a number is out of range, or windows and test size do not go together.
    SeriesError
        If the panel is too short for the windows.
    """
    for value, least, what in (
        (h, 1, "h"),
        (step_size, 1, "step_size"),
        (embargo, 0, "embargo"),
        (warm_up, 1, "warm_up"),
        (target_span, 1, "target_span"),
        (1 if input_size is None else input_size, 1, "input_size"),
    ):
        if value < least:
            raise ConfigError(f"a backtest needs {what} of at least {least}; got {value}")
    if purge != "auto" and purge < 0:
        raise ConfigError(f"purge is 'auto' or a number of bars, 0 or more; got {purge}")
    if panel.empty:
        raise SeriesError("a backtest needs at least one series; the panel is empty")
    purged = target_span - 1 if purge == "auto" else purge
    leader, timeline = leading(panel)
    windows = _windows(h, n_windows, step_size, test_size)
    first = len(timeline) - 1 - h - (windows - 1) * step_size
    least = purged + embargo + max(warm_up, 2)
    if first + 1 < least:
        needed = h + (windows - 1) * step_size + least
        raise SeriesError(
            f"{leader} has {len(timeline)} bars; {windows} windows of {h} bars, {step_size} apart, need "
            f"{needed} and more to learn from. Lower n_windows, step_size or h"
        )
    cutoffs = tuple(timeline.iloc[place] for place in range(first, len(timeline) - h, step_size))
    local = _local_cutoffs(panel, leader, cutoffs)
    return Folds(cutoffs, h, step_size, purged, embargo, input_size, warm_up, local)


def leading(panel: pd.DataFrame) -> tuple[str, pd.Series]:
    """Return the series that reaches furthest, the longest of those, and its stamps in order."""
    reach = panel.groupby("unique_id")["ds"].agg(["max", "size"]).sort_values(["max", "size"])
    name = str(reach.index[-1])
    return name, panel.loc[panel["unique_id"] == name, "ds"].sort_values().reset_index(drop=True)


def _windows(h: int, n_windows: int | None, step_size: int, test_size: int | None) -> int:
    """Return the number of windows, however it was said."""
    if test_size is None:
        if n_windows is None or n_windows < 1:
            raise ConfigError(f"a backtest needs n_windows of at least 1, or a test_size; got {n_windows}")
        return n_windows
    windows, rest = divmod(test_size - h, step_size)
    if rest or windows < 0:
        fitting = h + max(windows, 0) * step_size
        raise ConfigError(
            f"{test_size} bars cannot be shared out to windows of {h} bars, {step_size} apart; the nearest test_size "
            f"that can are {fitting} and {fitting + step_size}"
        )
    if n_windows is not None and n_windows != windows + 1:
        raise ConfigError(f"n_windows is {n_windows} and test_size makes {windows + 1} windows; say one of the two")
    return windows + 1


def _local_cutoffs(
    panel: pd.DataFrame, leader: str, cutoffs: tuple[pd.Timestamp, ...]
) -> Mapping[str, tuple[pd.Timestamp, ...]]:
    """Return the cutoffs on every exchange's wall clock, where bars are intraday and there are several."""
    from fints.series.grid import located

    several = "exchange" in panel.columns and panel["exchange"].nunique() > 1
    if not several or parse_interval(str(panel["interval"].iloc[0])) is None:
        return {}
    ordered = panel.sort_values(["unique_id", "ds"]).reset_index(drop=True)
    ends = pd.Series(pd.NaT, index=ordered.index, dtype="datetime64[ns, UTC]")
    for place in located(ordered):
        ends.iloc[place.rows] = place.bars["end"].dt.as_unit("ns").array[place.bar_of_row]
    of_leader = ordered["unique_id"] == leader
    at = dict(zip(ordered.loc[of_leader, "ds"], ends[of_leader], strict=True))
    local: dict[str, tuple[pd.Timestamp, ...]] = {}
    for exchange, rows in ordered.groupby("exchange"):
        own = ends.loc[rows.index]
        known = [rows["ds"][own <= at[cutoff]].max() for cutoff in cutoffs]
        # Before the first bar of an exchange nothing of it is known.
        local[str(exchange)] = tuple(pd.Timestamp.min if pd.isna(stamp) else stamp for stamp in known)
    return local
