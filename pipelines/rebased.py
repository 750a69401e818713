"""Forecasts that a night left as they were made, on the basis of the bars beside which they are shown.

A night that is made again for some series alone reads the bars of now. Bars of the others may have been restated since
their forecasts were made: put on other shares, or into another unit. What the night promised stays in the store; what
stands beside those bars has to be of their basis, or nothing can be read off the two.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import StoreError
from fints.forecast import QUANTILE_COLUMNS
from fints.report.shortfalls import named
from fints.report.units import unit_of
from fints.verification import shifts
from pipelines.verification_book import PromiseBook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from fints.verification import Promise
    from pipelines.home import Home
    from pipelines.publish import Night
    from pipelines.target import TargetNight

    _Night = tuple[pd.Timestamp, pd.Timestamp]
    Shifts = Mapping[str, Mapping[str, float]]

_KEPT = "the store and --json have them as they were made"
_UNKNOWN = (
    "These forecasts were made before and kept, on shares that are not on record: they are shown as they were made, "
    "and may be on another basis than its bars."
)


@dataclass(frozen=True, slots=True)
class Rebased:
    """What becomes of forecasts that were left, where they are shown.

    Parameters
    ----------
    moved : mapping of str to mapping of str to float
        By target and series that stands on another basis now: what is added to its forecasts, a logarithm; NaN where
        nobody knows.
    unread : mapping of str to set of str
        By target, series without a history to stand beside; they are not shown.
    """

    moved: Shifts = field(default_factory=dict)
    unread: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, night: Night, promises: Iterable[Promise]) -> Rebased:
        """Find out what has moved since.

        Parameters
        ----------
        night : Night
            With what it left.
        promises : iterable of Promise
            Of the night, of all its runs.
        """
        if night.left is None or night.left.empty:
            return cls()
        listed, moved, unread = list(promises), dict[str, dict[str, float]](), dict[str, frozenset[str]]()
        for own in night.targets:
            rows = night.left[night.left["target"] == own.target].drop_duplicates("unique_id")
            here = rows["unique_id"].isin(own.panel["unique_id"])
            by = {(night.as_of.stamp, one.made_at): one for one in listed if one.target == own.target}
            found, gone = _moved(rows[here], own, by, night.data_version), frozenset(rows.loc[~here, "unique_id"])
            moved |= {own.target: found} if found else {}
            unread |= {own.target: gone} if gone else {}
        return cls(moved, unread)

    def shown(self, target: str, rows: pd.DataFrame) -> pd.DataFrame:
        """Return forecasts of a target as they are shown: on the basis of the bars, where it is known."""
        shown = rows[~rows["unique_id"].isin(self.unread.get(target, ()))].reset_index(drop=True)
        added = shown["unique_id"].map(self.moved.get(target, {})).fillna(0.0).to_numpy(float)
        levels = ["mean", *QUANTILE_COLUMNS]
        shown[levels] = shown[levels].to_numpy(float) + added[:, np.newaxis]
        return shown

    def sentences(self) -> tuple[str, ...]:
        """Say what is shown otherwise than it is stored, and what is not, and why."""
        known = _by_series({t: {n: x for n, x in own.items() if not np.isnan(x)} for t, own in self.moved.items()})
        unknown = sorted({name for own in self.moved.values() for name, shift in own.items() if np.isnan(shift)})
        said = []
        if known:
            listed = [f"{name} ({', '.join(_times(target, shift) for target, shift in own)})" for name, own in known]
            said.append(
                f"Bars restated since (other shares, or another unit): the kept forecasts of {named(listed)} are shown "
                f"on the basis of the bars beside them; {_KEPT}."
            )
        if unknown:
            said.append(
                f"On which shares the kept forecasts of {named(unknown)} were made is not on record: they are shown as "
                "they were made, and may be on another basis than the bars beside them."
            )
        if self.unread:
            gone = sorted(frozenset().union(*self.unread.values()))
            said.append(
                f"Of {named(gone)} no history is at hand now (taken out of the settings, renamed, or not usable any "
                f"more): the kept forecasts are not shown here; {_KEPT}."
            )
        return tuple(said)

    def of_series(self, target: str) -> dict[str, str]:
        """Say the same of every series that stands on another basis, to be read beside its forecasts."""
        return {
            name: _UNKNOWN
            if np.isnan(shift)
            else "These forecasts were made before and kept; they are shown on the basis of its bars now, which were "
            f"restated since: {_times(target, shift)}."
            for name, shift in self.moved.get(target, {}).items()
        }

    def to_json(self) -> dict[str, dict[str, float | None]]:
        """Return by target and series what is added to the stored forecasts where they are shown; None is unknown."""
        return {
            target: {name: None if np.isnan(shift) else shift for name, shift in own.items()}
            for target, own in self.moved.items()
        }


def rebased(night: Night, home: Home) -> Night:
    """Return a night with what becomes of the forecasts that it left; promises that cannot be read are none."""
    if night.left is None or night.left.empty:
        return night
    try:
        promises = PromiseBook.under(home, night.settings).read(night.as_of.stamp)
    except StoreError:  # told by whoever looks back, with the cure
        promises = []
    return replace(night, rebased=Rebased.of(night, promises))


def _moved(rows: pd.DataFrame, own: TargetNight, by: Mapping[_Night, Promise], version: int) -> dict[str, float]:
    """Return what is added to the forecasts of each series that stands on another basis than its bars."""
    said = rows.assign(created_at=rows["created_at"].dt.floor("us"))
    found = shifts(said, own.target, own.panel[["unique_id", "ds", "y"]], by)
    these = (rows["data_version"] == version).to_numpy(bool)  # made from these very bars, promise or no promise
    added = zip(rows["unique_id"], np.where(np.isnan(found) & these, 0.0, found), strict=True)
    return {str(name): float(shift) for name, shift in added if shift != 0}


def _by_series(moved: Shifts) -> Sequence[tuple[str, list[tuple[str, float]]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for target, own in moved.items():
        for name, shift in own.items():
            found.setdefault(name, []).append((target, shift))
    return sorted(found.items())


def _times(target: str, shift: float) -> str:
    return f"{unit_of(target).title.lower()} × {np.exp(shift):.4g}"
