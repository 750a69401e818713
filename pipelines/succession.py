"""Where decisions about the model in use are kept, and the model that a night ends up with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.champion import Book, Seat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fints.champion import Ruling
    from pipelines.shelf import Shelf, Shelved

BOOK = "book.jsonl"
KEY = re.compile(r"\d{4}-\d{2}-\d{2}-[0-9a-f]{12}")
"""Form of the names of rows: what a registry or a person says becomes a path in no other one."""


@dataclass(frozen=True, slots=True)
class Succession:
    """Where the decisions about a target are kept, and how a night takes part in them.

    Parameters
    ----------
    book : Book
    now : pandas.Timestamp
        UTC instant of the night.
    decided_by : pandas.Timestamp, optional
        On a replay: only what was decided by then counts, and nothing is written.
    adopt : str
        Version to which a person moved the registry's alias; empty if nobody did.
    fetch : callable, optional
        See `pipelines.fits.Fits`.
    newest : pandas.Timestamp, optional
        As-of of the newest night that was done before: an earlier one decides nothing.
    """

    book: Book
    now: pd.Timestamp
    decided_by: pd.Timestamp | None = None
    adopt: str = ""
    fetch: Callable[[str], bool] | None = None
    newest: pd.Timestamp | None = None

    @classmethod
    def book_under(cls, models: Path, place: tuple[str, str, str]) -> Book:
        """Return the book of a dataset, interval and target."""
        return Book(models.joinpath(*place) / BOOK)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The model of a night.

    Parameters
    ----------
    seat : Seat
    fit : Shelved, optional
        None of the baseline.
    current : Shelved, optional
        The same with its bands as they stood last.
    shown : tuple of Seat and Shelved, optional
        Another fit whose hold-out and plan are shown where the baseline is in use: the one on trial, the one that fell,
        or one from before.
    ruling : Ruling
    """

    seat: Seat
    fit: Shelved | None
    current: Shelved | None
    shown: tuple[Seat, Shelved] | None
    ruling: Ruling


def seat_of(shelf: Shelf, key: str) -> Seat | None:
    """Return a fit on a shelf as a model that can be in use; None if it is not there, or damaged."""
    fit = shelf.find(key) if KEY.fullmatch(key) else None
    if fit is None or fit.model is None or fit.model.fitted is None:
        return None
    return Seat(fit.blend.name, shelf.version(key), pd.Timestamp(fit.model.fitted.until).isoformat())
