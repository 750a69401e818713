"""Fits of a target: made, taken from the shelf, or brought back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from fints.champion import Seat
from fints.errors import DataError, ModelError
from pipelines.holdout import compare
from pipelines.learning import Lesson
from pipelines.model import make_model
from pipelines.searched import Searched
from pipelines.shelf import Shelved
from pipelines.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.settings import NightlySettings
    from fints.transformer import CycleTransformer
    from pipelines.blend import Blend
    from pipelines.progress import Stage, Stages
    from pipelines.shelf import Shelf


@dataclass(slots=True, eq=False)
class Fits:
    """Where a night takes its fits from.

    Parameters
    ----------
    target : str
    panel : pandas.DataFrame
        Up to the as-of.
    settings : NightlySettings
    shelf : Shelf
    stages : Stages
    lap : callable
        Gives the time since the last call to a stage of the night.
    fetch : callable, optional
        Brings a fit that is not on the shelf, from the registry; False where it has none.
    notes : list of str
        What has to be said aloud.
    fresh : set of str
        Versions that were fitted tonight.
    held : set of str
        Names of rows whose fits are not to be pruned.
    """

    target: str
    panel: pd.DataFrame
    settings: NightlySettings
    shelf: Shelf
    stages: Stages
    lap: Callable[[str], None]
    fetch: Callable[[str], bool] | None = None
    notes: list[str] = field(default_factory=list)
    fresh: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)

    def made(self, learnt: Lesson) -> Shelved:
        """Take the fit to some rows from the shelf, or make it."""
        found = self.shelf.find(learnt.key)
        if found is not None:
            return found
        settings, target = self.settings, self.target
        plan = self.searched(learnt).plan
        with self.stages.stage(f"{target}: hold-out of {counted(settings.holdout.n_windows, 'window')}") as stage:
            holdout, blend = compare(learnt.panel, settings, stage)
        self.lap("holdout")
        with self.stages.stage(f"{target}: fit") as stage:
            model, blend = _fit(make_model(settings, plan), learnt, blend, self.shelf, stage)
        made = self.shelf.put(learnt.key, Shelved(model, holdout, blend), self.held)
        self.fresh.add(self.shelf.version(learnt.key))
        self.lap("fit")
        return made

    def searched(self, learnt: Lesson) -> Searched:
        """Find the cycles in some rows, or take what was found in them before."""
        with self.stages.stage(f"{self.target}: cycles"):
            found = Searched.of(learnt, self.settings, self.shelf)
        self.lap("periods")
        return found

    def seat(self, learnt: Lesson, made: Shelved) -> Seat:
        """Name a fit."""
        return Seat(made.blend.name, self.shelf.version(learnt.key), learnt.until.isoformat())

    def lesson_of(self, seat: Seat) -> Lesson:
        """Return the rows that a fit learned from, as they are known now."""
        return Lesson(self.panel, pd.Timestamp(seat.until), self.settings.input_size + self.settings.h)

    def recalled(self, seat: Seat) -> Shelved | None:
        """Take a fit from the shelf; where it is gone or damaged, make it again from the same rows, or fetch it.

        Returns
        -------
        Shelved or None
            None where it cannot be fitted again, for its rows were restated since or the fit fails, and no registry has
            it either.
        """
        found = self.shelf.find(seat.key)
        if found is not None:
            return found
        lost, why = f"{self.target}: {seat}: {self.lack(seat)}", "its rows were restated since"
        learnt = self.lesson_of(seat)
        if learnt.key == seat.key:
            try:
                made = self.made(learnt)
            except (DataError, ModelError) as error:
                why = str(error)
            else:
                self.notes.append(f"{lost}; it was fitted again from the same rows.")
                return made
        if self.fetch is not None and self.fetch(seat.version):
            found = self.shelf.find(seat.key)
            if found is not None:
                self.notes.append(f"{lost}; it was taken from the registry.")
                return found
        self.notes.append(f"{lost}; it could not be fitted again ({why}), and no registry has it.")
        return None

    def lack(self, seat: Seat) -> str:
        """Say what is wrong with the files of a fit that cannot be taken from the shelf, and where they belong."""
        folder = self.shelf.folder / seat.key
        return f"its files are {'damaged' if folder.is_dir() else 'gone'} ({folder})"


def _fit(
    model: CycleTransformer, learnt: Lesson, blend: Blend, shelf: Shelf, stage: Stage
) -> tuple[CycleTransformer | None, Blend]:
    """Fit the transformer, if it is a member; where it fails, the others go on without it."""
    if model.name not in blend.weights.members:
        return None, blend
    try:
        return model.fit(learnt.panel, progress=stage, checkpoints=shelf.training), blend
    except (DataError, ModelError) as error:
        if len(blend.weights.members) == 1:
            raise
        return None, blend.without({model.name: f"{type(error).__name__}: {error}"})
