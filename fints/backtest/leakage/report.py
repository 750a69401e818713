"""What a leak check found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest.leakage.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that moved although only what came after it had changed.

    Parameters
    ----------
    model : str
    stage : str
        One of `STAGES`.
    place : str
        Which column, attribute or part of the forecast.
    cutoff : pandas.Timestamp
        Of the first window in which it moved.
    moved : int
        Places of this stage that moved.
    """

    model: str
    stage: str
    place: str
    cutoff: pd.Timestamp
    moved: int = 1

    def __str__(self) -> str:
        more = f" and {self.moved - 1} more" if self.moved > 1 else ""
        return f"{self.model}: {self.stage} ({self.place}{more}) knew what came after {self.cutoff:%Y-%m-%d}"


@dataclass(frozen=True, slots=True, eq=False)
class LeakageReport:
    """Outcome of a leak check.

    Parameters
    ----------
    compared : mapping of str to int
        Numbers, tables and forecasts of each model that were compared bit by bit.
    leaks : tuple of Leak
        By model, in the order of the flow: the first of a model is where its leak comes in.
    failures : mapping of str to str
        Models that raised, which proves nothing of them.
    unsteady : mapping of str to str
        Models that came out differently from the same data, so that nothing can be said; with the place.
    cutoffs : tuple of pandas.Timestamp
        After which everything was changed.
    """

    compared: Mapping[str, int]
    leaks: tuple[Leak, ...]
    failures: Mapping[str, str]
    unsteady: Mapping[str, str]
    cutoffs: tuple[pd.Timestamp, ...]

    @property
    def tight(self) -> bool:
        """Whether every model was checked and nothing moved."""
        return not (self.leaks or self.failures or self.unsteady)

    def of(self, model: str) -> list[Leak]:
        """Leaks of a model, in the order of the flow."""
        return [leak for leak in self.leaks if leak.model == model]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each model: ``model, verdict, stage, place, cutoff, follows, compared``.

        ``verdict`` is ``tight``, ``leaks``, ``failed`` or ``unsteady``; ``stage``, ``place`` and ``cutoff`` tell where
        a leak comes in, and ``follows`` the later stages that moved with it.
        """
        columns = ["model", "verdict", "stage", "place", "cutoff", "follows", "compared"]
        return pd.DataFrame([self._row(model) for model in self.compared], columns=columns)

    def sentences(self) -> list[str]:
        """Say of every model that is not tight what is wrong."""
        said = [str(self.of(model)[0]) for model in self.compared if self.of(model)]
        said += [f"{model}: not checked, it raised {cause}" for model, cause in self.failures.items()]
        return said + [
            f"{model}: not checked, the same data gave another {place}" for model, place in self.unsteady.items()
        ]

    def _row(self, model: str) -> tuple[object, ...]:
        found, count = self.of(model), self.compared[model]
        if model in self.failures:
            return model, "failed", "", self.failures[model], None, "", count
        if model in self.unsteady:
            return model, "unsteady", "", self.unsteady[model], None, "", count
        if not found:
            return model, "tight", "", "", None, "", count
        follows = ", ".join(leak.stage for leak in found[1:])
        return model, "leaks", found[0].stage, found[0].place, found[0].cutoff, follows, count


def by_flow(leaks: list[Leak]) -> tuple[Leak, ...]:
    """Keep of each model and stage the first leak, in the order of the flow, and count the others."""
    first: dict[tuple[str, str], Leak] = {}
    places: dict[tuple[str, str], set[str]] = {}
    for leak in leaks:
        key = (leak.model, leak.stage)
        first.setdefault(key, leak)
        places.setdefault(key, set()).add(leak.place)
    models = list(dict.fromkeys(model for model, _ in first))
    return tuple(
        replace(first[model, stage], moved=len(places[model, stage]))
        for model in models
        for stage in STAGES
        if (model, stage) in first
    )
