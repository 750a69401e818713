"""How a night averages its members and corrects the bands, learned from the forecasts of the hold-out."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from fints.combination import Scored, Weights, alike, judged, learn
from fints.combination.combination import STRETCHES
from fints.conformal import AdaptiveBands, Bands, walk
from fints.conformal.adaptive import Pace
from fints.errors import ConfigError, ModelError, SeriesError
from pipelines.files import DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.combination import Learned
    from fints.settings import BandSettings

COMBINATION = "Combination"
"""Name of the average in tables."""

_LONGER = "raise holdout.n_windows"
"""What a longer tail takes, of a night."""


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """What a night makes of the forecasts of its members.

    Parameters
    ----------
    name : str
        Of the forecaster that the night ships.
    weights : Weights
        Of its members; a single one if it is no average.
    bands : AdaptiveBands
        As they stand at the end of the rows learned from.
    value : pandas.DataFrame
        ``member, alone, without``; see `fints.combination.Learned`. Empty where nothing was learned.
    dropped : mapping of str to str
        Members that left, with the cause.
    notes : tuple of str
        What has to be said aloud.
    """

    name: str
    weights: Weights
    bands: AdaptiveBands
    value: pd.DataFrame = field(default_factory=pd.DataFrame)
    dropped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def untaught(cls, members: Sequence[str], settings: BandSettings, until: pd.Timestamp) -> Blend:
        """Weigh members alike and leave their bands as they are: what is left where there was no hold-out.

        Parameters
        ----------
        members : sequence of str
        settings : BandSettings
        until : pandas.Timestamp
            Last bar that the members learn from.
        """
        bands = AdaptiveBands(Bands.none(), settings.pace, until=until.isoformat())
        notes = (f"Nothing was held out to learn weights from: {', '.join(members)} count the same.",)
        return cls(name_of(members), Weights.equal(members), bands, notes=notes if len(members) > 1 else ())

    def without(self, failures: Mapping[str, str]) -> Blend:
        """Drop members that failed later; the others share their weight.

        Raises
        ------
        ModelError
            If none is left.
        """
        failed = {name: cause for name, cause in failures.items() if name in self.weights.members}
        if not failed:
            return self
        kept = [name for name in self.weights.members if name not in failed]
        if not kept:
            said = "; ".join(f"{name}: {cause}" for name, cause in failed.items())
            raise ModelError(f"no forecaster of the night could be fitted: {said}")
        return replace(self, weights=self.weights.of(kept), dropped={**self.dropped, **failed})

    def to_plain(self) -> dict[str, Any]:
        """Lay out as JSON can hold it."""
        value = self.value.to_json(orient="split", index=False, double_precision=DIGITS)
        return {
            "name": self.name,
            "weights": self.weights.to_plain(),
            "bands": json.loads(self.bands.to_json()),
            "value": json.loads(value),
            "dropped": dict(self.dropped),
            "notes": list(self.notes),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Blend:
        """Read what `to_plain` wrote.

        Raises
        ------
        ValueError
            If it is something else.
        """
        try:
            weights = Weights.from_plain(plain["weights"])
            bands = AdaptiveBands.from_json(json.dumps(plain["bands"]))
        except ConfigError as error:
            raise ValueError(str(error)) from error
        value, dropped = pd.DataFrame(**plain["value"]), dict(plain["dropped"])
        return cls(str(plain["name"]), weights, bands, value, dropped, tuple(plain["notes"]))


def name_of(members: Sequence[str]) -> str:
    """Name what a night ships: an average where there are several members."""
    return COMBINATION if len(members) > 1 else members[0]


def blend(
    frame: pd.DataFrame, members: Sequence[str], failures: Mapping[str, str], pace: Pace | None
) -> tuple[Blend, pd.DataFrame]:
    """Learn weights and bands from the forecasts of a hold-out.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows of a walk-forward comparison; of other models than the members, too.
    members : sequence of str
        Names, the transformer's first.
    failures : mapping of str to str
        Models of the comparison that failed, with the cause.
    pace : Pace, optional
        How fast bands follow; None where they do not.

    Returns
    -------
    blend : Blend
    rows : pandas.DataFrame
        What it would have forecast, for each stretch of time with weights and bands learned from others. They replace
        the rows of a single member.

    Raises
    ------
    ModelError
        If every member failed.
    """
    dropped = {name: failures[name] for name in members if name in failures}
    kept = [name for name in members if name not in dropped]
    if not kept:
        said = "; ".join(f"{name}: {cause}" for name, cause in dropped.items())
        raise ModelError(f"every member of the night failed on the hold-out: {said}")
    name, notes = name_of(kept), []
    scored = Scored.of(frame[frame["model"].isin(kept)])
    learned, said = _learned(scored)
    notes += [said] if said and len(kept) > 1 else []
    rows = judged(frame, learned, name)
    bands, rows, warned = banded(rows, pace)
    value = learned.value if len(kept) > 1 else pd.DataFrame()
    return Blend(name, learned.weights, bands, value, dropped, (*notes, *warned)), rows


def _learned(scored: Scored) -> tuple[Learned, str]:
    last = int(scored.keys["step"].max())
    ends = tuple(end for end in STRETCHES if end < last)
    try:
        return learn(scored, ends), ""
    except SeriesError as error:
        return alike(scored), f"The members count the same: {error} ({_LONGER})."


def banded(rows: pd.DataFrame, pace: Pace | None) -> tuple[AdaptiveBands, pd.DataFrame, list[str]]:
    """Correct the bands of a model's past forecasts; say what there was too little of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            walked = walk(rows, pace)
        except SeriesError as error:
            until = rows["ds"].max().isoformat()
            bands = AdaptiveBands(Bands.none(), pace or Pace(), until=until)
            return bands, rows, [f"The bands are as the members state them: {error} ({_LONGER})."]
    said = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    return walked.bands, walked.rows, [f"{text[:1].upper()}{text[1:]} ({_LONGER})." for text in said]
