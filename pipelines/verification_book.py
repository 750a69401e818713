"""Promises that nights made, one file per night."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING

import pandas as pd

from fints.errors import StoreError
from fints.verification import Promise, joined
from pipelines.files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fints.settings import NightlySettings
    from pipelines.home import Home
    from pipelines.publish import Night

LOG = logging.getLogger(__name__)

PROMISES_CURE = (
    "Restore the file from a backup, or move it away: the forecasts of that night are not looked back on any more then"
)
"""What to do about promises that cannot be read."""

_DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
"""What content raises that is no record; a file that cannot be opened may well be whole."""

_NAME = "%Y-%m-%dT%H%M%S"
"""Of a night's file, by its as-of."""


@dataclass(frozen=True, slots=True)
class PromiseBook:
    """What the nights of one dataset promised.

    Parameters
    ----------
    folder : Path
        ``verification/<dataset>/<interval>/promises``.
    """

    folder: Path

    @classmethod
    def under(cls, home: Home, settings: NightlySettings) -> PromiseBook:
        """Return the book of the settings' dataset and interval."""
        return cls(folder_of(home, settings) / "promises")

    def nights(self) -> list[pd.Timestamp]:
        """Return the as-of of every night that is on record, oldest first."""
        found = []
        for path in self.folder.glob("*.json"):
            try:
                found.append(pd.Timestamp(datetime.strptime(path.stem, _NAME)))  # noqa: DTZ007 — naive, as the as-of is
            except ValueError:  # not ours
                continue
        return sorted(found)

    def read(self, as_of: pd.Timestamp) -> list[Promise]:
        """Return the promises of a night, newest first; none where its record is not there.

        Raises
        ------
        StoreError
            If its record cannot be read, naming the file and the cause.
        """
        try:
            return self._read(as_of)
        except (OSError, *_DAMAGE) as error:
            raise StoreError(f"{self._path(as_of)} ({type(error).__name__}: {error})") from error

    def keep(self, as_of: pd.Timestamp, promises: Sequence[Promise]) -> tuple[str, ...]:
        """Put the promises of a night on record, before those of an earlier run of it.

        A damaged record is set aside first, beside the new one, under a name that nothing has.

        Returns
        -------
        tuple of str
            That one was set aside, for the night to say; empty otherwise.

        Raises
        ------
        OSError
            If the home cannot be written, or an earlier record cannot be opened: it may be whole, and stays.
        """
        said: tuple[str, ...] = ()
        try:
            earlier = self._read(as_of)
        except _DAMAGE as error:
            earlier, said = [], (self._set_aside(as_of, error),)
        entries = joined(promises, earlier)
        self.folder.mkdir(parents=True, exist_ok=True)
        plain = {"as_of": as_of.isoformat(), "promises": [entry.to_plain() for entry in entries]}
        write_text(self._path(as_of), json.dumps(plain, separators=(",", ":"), allow_nan=False))
        return said

    def _read(self, as_of: pd.Timestamp) -> list[Promise]:
        try:
            content = self._path(as_of).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [Promise.from_plain(entry) for entry in json.loads(content)["promises"]]

    def _set_aside(self, as_of: pd.Timestamp, error: Exception) -> str:
        path = self._path(as_of)
        names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
        aside = next(name for name in names if not name.exists())
        path.replace(aside)
        said = (
            f"What this night promised when it was made before cannot be read ({type(error).__name__}: {error}); it is "
            f"set aside as {aside}, and the forecasts made then are not looked back on any more."
        )
        LOG.warning("%s", said)
        return said

    def _path(self, as_of: pd.Timestamp) -> Path:
        return self.folder / f"{as_of:{_NAME}}.json"


def folder_of(home: Home, settings: NightlySettings) -> Path:
    """Folder of what is kept to verify the nights of a dataset."""
    return home.root / "verification" / settings.dataset / settings.interval


def keep_promises(night: Night, home: Home) -> tuple[str, ...]:
    """Put on record what a night promises about the forecasts that it stores; who does so before, has none without.

    Returns what is to be said of it, as `PromiseBook.keep` does.
    """
    rows, promises = night.forecasts(), []
    for t in night.targets:
        own = t.panel[t.panel["unique_id"].isin(rows.loc[rows["target"] == t.target, "unique_id"])]
        promise = Promise.of(t.target, night.created_at, (t.name, t.version), t.holdout.by_step)
        promises.append(promise.anchored(own))
    return PromiseBook.under(home, night.settings).keep(night.as_of.stamp, promises)
