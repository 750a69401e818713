"""What a night promised about its forecasts when it made them, and on which basis of shares it made them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

METRICS = ("RMSE", "MAE", "CRPS", "cov80", "cov95")
"""What the hold-out states for every step ahead."""

LEVELS = ("log_volume", "log_dollar_volume", "log_close")
"""Targets whose values move when shares are split or a unit is changed."""

ANCHORS = 9
"""Last bars of a series that are kept to see whether it has been put on another basis since."""

_DIGITS = 6


def _no_steps() -> pd.DataFrame:
    return pd.DataFrame(columns=["step", *METRICS])


@dataclass(frozen=True, slots=True, eq=False)
class Promise:
    """What one night promised about one target.

    Parameters
    ----------
    target : str
    made_at : pandas.Timestamp
        Of its forecasts: their ``created_at``, by which they are known again.
    model, version : str
        Of the forecaster that was in use.
    by_step : pandas.DataFrame
        ``step`` and `METRICS` of that forecaster on its hold-out; empty where there was none.
    anchors : mapping of str to dict of pandas.Timestamp to float
        By series, the last values that were known: of targets in `LEVELS` only.
    """

    target: str
    made_at: pd.Timestamp
    model: str
    version: str
    by_step: pd.DataFrame = field(default_factory=_no_steps)
    anchors: Mapping[str, dict[pd.Timestamp, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, target: str, made_at: pd.Timestamp, named: tuple[str, str], by_step: pd.DataFrame) -> Promise:
        """Take the hold-out's figures of a forecaster.

        Parameters
        ----------
        target : str
        made_at : pandas.Timestamp
        named : pair of str
            Name and version of the forecaster.
        by_step : pandas.DataFrame
            As `fints.backtest.CrossValidation.by_step` gives: of every model.
        """
        own = by_step[by_step["model"] == named[0]] if "model" in by_step.columns else by_step
        stated = own.reindex(columns=["step", *METRICS]).reset_index(drop=True) if len(own) else _no_steps()
        return cls(target, made_at.floor("us"), *named, stated)

    def anchored(self, panel: pd.DataFrame) -> Promise:
        """Return it with the last values of every series of a panel."""
        if self.target not in LEVELS:
            return self
        last = panel.groupby("unique_id", sort=False).tail(ANCHORS)
        anchors = {
            str(name): dict(zip(own["ds"], own["y"].astype(float).round(_DIGITS), strict=True))
            for name, own in last.groupby("unique_id", sort=False)
        }
        return Promise(self.target, self.made_at, self.model, self.version, self.by_step, anchors)

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for JSON; stamps that series share are written once."""
        windows: dict[tuple[str, ...], int] = {}
        series = {}
        for name, values in self.anchors.items():
            stamps = tuple(stamp.isoformat() for stamp in values)
            series[name] = [windows.setdefault(stamps, len(windows)), *values.values()]
        return {
            "target": self.target,
            "made_at": self.made_at.isoformat(),
            "model": self.model,
            "version": self.version,
            "by_step": {
                name: [None if pd.isna(value) else float(value) for value in self.by_step[name]]
                for name in self.by_step.columns
            },
            "windows": [list(stamps) for stamps in windows],
            "series": series,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Promise:
        """Read what `to_plain` wrote.

        Raises
        ------
        KeyError, TypeError, ValueError, IndexError
            If it is something else.
        """
        windows = [[pd.Timestamp(stamp) for stamp in stamps] for stamps in plain["windows"]]
        return cls(
            target=str(plain["target"]),
            made_at=pd.Timestamp(plain["made_at"]),
            model=str(plain["model"]),
            version=str(plain["version"]),
            by_step=pd.DataFrame(dict(plain["by_step"])).astype(float),
            anchors={
                name: dict(zip(windows[number], values, strict=True))
                for name, (number, *values) in plain["series"].items()
            },
        )


def joined(new: Iterable[Promise], old: Iterable[Promise], most: int = 32) -> list[Promise]:
    """Put the promises of a night that was repeated before those that it made the first time.

    A repetition that left a series out leaves that series' earlier forecast standing, with its promise. Where there are
    more than `most` of a target, the oldest but one goes: most series keep what was promised the first time.
    """
    kept: dict[str, dict[pd.Timestamp, Promise]] = {}
    for promise in (*new, *old):
        kept.setdefault(promise.target, {}).setdefault(promise.made_at, promise)
    listed = [list(same.values()) for same in kept.values()]
    return [one for same in listed for one in (same if len(same) <= most else [*same[: most - 1], same[-1]])]
