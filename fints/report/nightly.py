"""What a nightly report is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import SchemaError
from fints.forecast import QUANTILE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.champion import Ruling
    from fints.periods import Periods
    from fints.verification import Verification

_FORECAST_COLUMNS = ("unique_id", "ds", "step", "mean", *QUANTILE_COLUMNS)


def _empty() -> pd.DataFrame:
    return pd.DataFrame()


@dataclass(frozen=True, slots=True, eq=False)
class TargetReport:
    """Everything that is shown about one target.

    Parameters
    ----------
    target : str
        Its name: ``"log_volume"`` …
    description : str
        What it is, in a sentence or two.
    model : str
        Name of the forecaster whose forecasts are shown.
    history : pandas.DataFrame
        ``unique_id, ds, y``: the panel up to the as-of.
    forecast : pandas.DataFrame
        ``unique_id, ds, step, mean`` and the quantile columns ``q025`` … ``q975``, as `Forecast.to_long` gives.
    leaderboard : pandas.DataFrame
        As `CrossValidation.leaderboard` gives; empty where there was no hold-out.
    by_step : pandas.DataFrame
        As `CrossValidation.by_step` gives.
    verdicts : tuple of str
        As `CrossValidation.verdict` gives, the most important first.
    carried : tuple of str
        What carries the transformer's gain, as `fints.explain.cycle_sentences` gives.
    found : Periods, optional
        What the search for cycles found; None where there was none.
    plan : pandas.DataFrame
        As `FrequencyPlan.to_frame` gives.
    stated : str
        Where the cycles of the plan come from, if they were not looked for.
    changes : tuple of str
        What became of the plan of the night before, in sentences.
    weights : pandas.DataFrame
        As `Weights.to_frame` gives; empty where the forecaster is no combination.
    value : pandas.DataFrame
        ``member, alone, without``; see `fints.combination.Learned`.
    dropped : mapping of str to str
        Members that left the combination, with the cause.
    coverage : pandas.DataFrame
        Of the hold-out: ``by`` (horizon, series, regime), ``group``, ``cov80``, ``cov95``, ``n``.
    events : pandas.DataFrame
        Of the hold-out; as `fints.backtest.events.by_event` gives for one model.
    ruling : Ruling, optional
        Which model is in use, and why.
    over : mapping of str to pandas.Timestamp
        Of series that are behind: the newest bar forecast that was over at the as-of already.
    remarks : mapping of str to str
        By series, what has to be known of its forecasts.

    Raises
    ------
    SchemaError
        If the forecast or the history lacks a column, or a forecast series has no history.
    """

    target: str
    description: str
    model: str
    history: pd.DataFrame
    forecast: pd.DataFrame
    leaderboard: pd.DataFrame = field(default_factory=_empty)
    by_step: pd.DataFrame = field(default_factory=_empty)
    verdicts: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    found: Periods | None = None
    plan: pd.DataFrame = field(default_factory=_empty)
    stated: str = ""
    changes: tuple[str, ...] = ()
    weights: pd.DataFrame = field(default_factory=_empty)
    value: pd.DataFrame = field(default_factory=_empty)
    dropped: Mapping[str, str] = field(default_factory=dict)
    coverage: pd.DataFrame = field(default_factory=_empty)
    events: pd.DataFrame = field(default_factory=_empty)
    ruling: Ruling | None = None
    over: Mapping[str, pd.Timestamp] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    _laid: dict[str, tuple[pd.DataFrame, Mapping[str, NDArray[np.intp]]]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        for frame, needed, what in (
            (self.forecast, _FORECAST_COLUMNS, "forecast"),
            (self.history, ("unique_id", "ds", "y"), "history"),
        ):
            missing = [c for c in needed if c not in frame.columns]
            if missing:
                raise SchemaError(f"the {what} of {self.target} in the nightly report lacks the columns {missing}")
        orphans = sorted(set(self.forecast["unique_id"]) - set(self.history["unique_id"]))
        if orphans:
            raise SchemaError(f"the nightly report has forecasts of {self.target} without history for {orphans}")

    @property
    def series(self) -> list[str]:
        """Series with a forecast, in its order."""
        return [str(name) for name in self.forecast["unique_id"].unique()]

    def past(self, unique_id: str, bars: int | None = None) -> pd.DataFrame:
        """Return the last known rows of a series, oldest first."""
        return self._rows("history", unique_id, bars)

    def ahead(self, unique_id: str) -> pd.DataFrame:
        """Return the forecast rows of a series, nearest first."""
        return self._rows("forecast", unique_id)

    def is_over(self, unique_id: str, ds: pd.Timestamp) -> bool:
        """Say whether a bar forecast was over at the as-of: the series is behind, and its bar has not come."""
        return unique_id in self.over and ds <= self.over[unique_id]

    def _rows(self, which: str, unique_id: str, last: int | None = None) -> pd.DataFrame:
        """Rows of a series, or the last of them, in time order.

        A series is asked for again and again: where each one lies is found once for all of them.
        """
        if which not in self._laid:
            frame: pd.DataFrame = getattr(self, which)
            frame = (frame[frame["y"].notna()] if which == "history" else frame).sort_values("ds", kind="stable")
            places = frame.groupby("unique_id", sort=False).indices
            self._laid[which] = frame, {str(name): np.asarray(rows, dtype=np.intp) for name, rows in places.items()}
        laid, known = self._laid[which]
        own = known.get(unique_id, np.empty(0, dtype=np.intp))
        return laid.iloc[own if last is None else own[max(len(own) - last, 0) :]].reset_index(drop=True)


@dataclass(frozen=True, slots=True, eq=False)
class NightlyReport:
    """Everything that is shown about one night.

    Parameters
    ----------
    as_of : pandas.Timestamp
        Key of the night: session date of the last daily bar that was used, or UTC close of the last intraday one.
    created_at : pandas.Timestamp
        When the run took place, in UTC.
    interval : str
        ``"1d"``, ``"1h"`` …
    h : int
        Bars ahead.
    targets : tuple of TargetReport
    findings : pandas.DataFrame
        As `fints.bars.quality.findings_frame` gives: ``symbol, session, severity, kind, reason`` are shown.
    problems : pandas.DataFrame
        Series left out or shortened: ``unique_id, target, reason``, and ``left_out`` (True where it is missing).
    facts : mapping of str to mapping of str to str
        Groups of run facts: ``{"Versions": {"fints": "0.1.0", …}, "Durations": {"fit": "31 s"}}``.
    notes : tuple of str
        What has to be said aloud at the top, such as an as-of moved from a closed day.
    title : str
        Name of the run.
    verification : Verification, optional
        What became of earlier forecasts; None where nobody looked.
    failed : mapping of str to str
        Symbols that the source did not deliver, with the cause.
    misplaced : mapping of str to str
        Symbols whose exchange is doubted, with the reason.
    """

    as_of: pd.Timestamp
    created_at: pd.Timestamp
    interval: str
    h: int
    targets: tuple[TargetReport, ...]
    findings: pd.DataFrame = field(default_factory=_empty)
    problems: pd.DataFrame = field(default_factory=_empty)
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    title: str = "Nightly forecast"
    verification: Verification | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
    misplaced: Mapping[str, str] = field(default_factory=dict)

    @property
    def intraday(self) -> bool:
        """Whether several bars share a session."""
        return self.interval != "1d"

    @property
    def bar_word(self) -> str:
        """What one bar is called in sentences, in the singular."""
        return "bar" if self.intraday else "session"

    @property
    def as_of_text(self) -> str:
        """The as-of as a person says it; on intraday bars with its zone, since bars are stamped with the exchange's."""
        return self.stamp(self.as_of) + (" UTC" if self.intraday else "")

    def behind(self) -> list[str]:
        """Return the series of which a bar is forecast that was over at the as-of already, sorted."""
        return sorted({name for target in self.targets for name in target.over})

    def left_out(self) -> list[str]:
        """Return the series that have no forecast of a target, in the order of the problems."""
        rows = self.problems
        if rows.empty:
            return []
        gone = rows[rows["left_out"].astype(bool)] if "left_out" in rows.columns else rows
        return [str(name) for name in gone["unique_id"].unique()]

    def stamp(self, ds: pd.Timestamp) -> str:
        """Write a bar's stamp as a person says it."""
        day = f"{ds:%a} {ds.day} {ds:%b %Y}"
        return f"{day}, {ds:%H:%M}" if self.intraday else day
