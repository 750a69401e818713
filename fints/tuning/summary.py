"""Trials as values, apart from Optuna."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from fints.tuning.candidate import Candidate
from fints.tuning.owner import Owner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optuna.trial import FrozenTrial

    from fints.tuning.periods import Path

State = Literal["complete", "pruned", "failed", "running", "waiting"]

_STATES: Mapping[str, State] = {
    "COMPLETE": "complete",
    "PRUNED": "pruned",
    "FAIL": "failed",
    "RUNNING": "running",
    "WAITING": "waiting",
}


@dataclass(frozen=True, slots=True, eq=False)
class TrialSummary:
    """One trial.

    Parameters
    ----------
    number : int
    state : {"complete", "pruned", "failed", "running", "waiting"}
        ``pruned``: it was ended before its last fold; its value is that of the folds that it did.
    value, seconds : float, optional
        Its objective, and how long its folds took.
    params : mapping
    folds : tuple of float
        Score of each fold.
    start, end : mapping of str to float
        Period of each cycle where training began, and where it came to (geometric mean over folds), by name.
    spread : mapping of str to float
        Standard deviation over folds of the logarithm of a period's end.
    trajectory : mapping of str to tuple of (int, float)
        Step and period, of the last fold's training.
    origin : str
        Where its parameters come from.
    fixed : bool
        Whether its frequencies were kept where they started.
    learns : bool
        Whether training moved the periods of its cycles.
    failure : str
    owner : str
        Machine and process.
    candidate : Candidate, optional
        As tuned: with its cycles at the periods that they came to.
    """

    number: int
    state: State
    value: float | None
    seconds: float | None
    params: Mapping[str, object]
    folds: tuple[float, ...] = ()
    start: Mapping[str, float] = field(default_factory=dict)
    end: Mapping[str, float] = field(default_factory=dict)
    spread: Mapping[str, float] = field(default_factory=dict)
    trajectory: Mapping[str, Path] = field(default_factory=dict)
    origin: str = "sampled"
    fixed: bool = False
    learns: bool = False
    failure: str = ""
    owner: str = ""
    candidate: Candidate | None = None

    @property
    def finished(self) -> bool:
        """Whether it has a value."""
        return self.state in ("complete", "pruned") and self.value is not None

    @classmethod
    def of(cls, trial: FrozenTrial) -> TrialSummary:
        """Read one from Optuna."""
        attrs: Mapping[str, Any] = trial.user_attrs
        state = _STATES[trial.state.name]
        owner = attrs.get("owner")
        candidate = attrs.get("candidate")
        return cls(
            number=trial.number,
            state="pruned" if state == "complete" and attrs.get("pruned") else state,
            value=None if not trial.values else float(trial.values[0]),
            seconds=attrs.get("seconds"),
            params=dict(trial.params),
            folds=tuple(attrs.get("folds", ())),
            start=dict(attrs.get("start", {})),
            end=dict(attrs.get("end", {})),
            spread=dict(attrs.get("spread", {})),
            trajectory={name: _path(points) for name, points in attrs.get("trajectory", {}).items()},
            origin=str(attrs.get("origin", "sampled")),
            fixed=bool(attrs.get("fixed", False)),
            learns=bool(attrs.get("learns", False)),
            failure=str(attrs.get("failure", "")),
            owner="" if owner is None else str(Owner.from_dict(owner)),
            candidate=None if candidate is None else Candidate.from_dict(candidate),
        )


def _path(points: Sequence[Sequence[float]]) -> Path:
    return tuple((int(step), float(period)) for step, period in points)


def best_first(summaries: Sequence[TrialSummary]) -> list[TrialSummary]:
    """Return the trials that did all folds, the best first; where there are none, those that were pruned."""
    whole = [each for each in summaries if each.state == "complete" and each.finished]
    return sorted(whole or [each for each in summaries if each.finished], key=lambda each: (each.value, each.number))


def trials_frame(summaries: Sequence[TrialSummary]) -> pd.DataFrame:
    """Return a table of trials: one row each, with a column for every parameter and for every period.

    Parameters
    ----------
    summaries : sequence of TrialSummary

    Returns
    -------
    pandas.DataFrame
        ``number, state, origin, fixed, value, seconds, n_folds, pruned, owner, failure``, the parameters, ``start[…]``
        and ``end[…]`` of every cycle.
    """
    rows = []
    for each in summaries:
        row: dict[str, object] = {
            "number": each.number,
            "state": each.state,
            "origin": each.origin,
            "fixed": each.fixed,
            "value": np.nan if each.value is None else each.value,
            "seconds": np.nan if each.seconds is None else each.seconds,
            "n_folds": len(each.folds),
            "pruned": each.state == "pruned",
            "owner": each.owner,
            "failure": each.failure,
        }
        row |= each.params
        for when, periods in (("start", each.start), ("end", each.end)):
            row |= {f"{when}[{name}]": period for name, period in periods.items()}
        rows.append(row)
    return pd.DataFrame(rows)
