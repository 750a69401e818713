"""The models that a replay needs, in a folder of its own: copied, and fitted again where they are gone.

A model that is in use may have been fitted nights before the one that is replayed, from bars that were restated in
between. Its rows are then those of the night that fitted it, which the ledger knows by the instant of its decision.
"""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.champion import standing
from fints.errors import FintsError
from fints.series import make_panel, usable
from pipelines.fits import Fits
from pipelines.pantry import PANTRY
from pipelines.shelf import Shelf
from pipelines.succession import Succession

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from fints.bars.nights import NightEntry
    from fints.champion import Seat
    from fints.settings import NightlySettings
    from pipelines.gathered import Reading
    from pipelines.progress import Stages

LOG = logging.getLogger(__name__)

_UNREADABLE = b"not readable when the night was made\n"


@dataclass(frozen=True, slots=True, eq=False)
class ReplayModels:
    """Models as they were at an instant.

    Parameters
    ----------
    settings : NightlySettings
    folder : pathlib.Path
        Where they are put.
    entries : sequence of NightEntry
        Of the ledger.
    reading : callable
        Gives what a night of the ledger read.
    stages : Stages
    """

    settings: NightlySettings
    folder: Path
    entries: Sequence[NightEntry]
    reading: Callable[[NightEntry], Reading]
    stages: Stages

    def take(self, models: Path, known_at: pd.Timestamp, stamp: pd.Timestamp, unread: Collection[str] = ()) -> None:
        """Copy the models of the dataset, and fit those again that were in use or on trial and are gone.

        Parameters
        ----------
        models : pathlib.Path
            Of the home; nothing is written to it.
        known_at : pandas.Timestamp
            Instant up to which decisions count.
        stamp : pandas.Timestamp
            Naive key of the night.
        unread : collection of str
            Targets whose decisions the night could not read: they cannot be read here either, so that the baseline
            stands in once more, though the book has been mended since.
        """
        held = models / self.settings.dataset
        if held.is_dir():
            # what is kept beside fits is left out: a replay works everything out once more
            shutil.copytree(held, self.folder / self.settings.dataset, ignore=shutil.ignore_patterns(PANTRY))
        for target in self.settings.targets:
            shelf = Shelf.under(self.folder, self.settings.dataset, target, self.settings.digest)
            place = (self.settings.dataset, self.settings.interval, target)
            book = Succession.book_under(self.folder, place)
            if target in unread:
                _spoil(book.file)
                continue
            decisions = book.read(known_at)
            bound = [decision for decision in decisions if decision.as_of <= stamp]
            state = standing(bound, shelf.folder.name)
            for seat in () if state is None else state.seats:
                if not seat.is_baseline and shelf.find(seat.key) is None:
                    made = {decision.made_at for decision in decisions if decision.seat == seat}
                    self._fit(target, seat, shelf, [entry for entry in self.entries if entry.made_at in made])

    def _fit(self, target: str, seat: Seat, shelf: Shelf, nights: Sequence[NightEntry]) -> None:
        """Fit a model again from the rows of the night that fitted it; where none has them, the night goes without."""
        for entry in nights:
            try:
                bars, as_of = self.reading(entry).bars()
                panel, _ = usable(
                    make_panel(bars, target, known_at=as_of.known_at), self.settings.input_size + self.settings.h
                )
                fits = Fits(target, panel, self.settings, shelf, self.stages, _untimed)
                learnt = fits.lesson_of(seat)
                if learnt.key == seat.key:
                    fits.made(learnt)
                    return
            except FintsError:
                LOG.debug("%s could not be fitted from the rows of %s", seat, entry.night, exc_info=True)
        LOG.warning("%s: %s is gone, and no night of the ledger has the rows that it learned from", target, seat)


def _spoil(file: Path) -> None:
    if not file.is_dir():  # such a one cannot be read as it is
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_UNREADABLE)


def _untimed(_stage: str) -> None:
    """Take no time of a stage: nobody asks a replay for it."""
