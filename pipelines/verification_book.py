"""Promises that nights made, one file per night."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import datetime
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
            plain = json.loads(self._path(as_of).read_text("utf-8"))
            return [Promise.from_plain(entry) for entry in plain["promises"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise StoreError(f"{self._path(as_of)} ({type(error).__name__}: {error})") from error

    def keep(self, as_of: pd.Timestamp, promises: Sequence[Promise]) -> None:
        """Put the promises of a night on record, before those of an earlier run of it.

        A record that cannot be read is set aside first, beside the new one.

        Raises
        ------
        OSError
            If the home cannot be written.
        """
        entries = joined(promises, self._read_or_set_aside(as_of))
        self.folder.mkdir(parents=True, exist_ok=True)
        plain = {"as_of": as_of.isoformat(), "promises": [entry.to_plain() for entry in entries]}
        write_text(self._path(as_of), json.dumps(plain, separators=(",", ":"), allow_nan=False))

    def _read_or_set_aside(self, as_of: pd.Timestamp) -> list[Promise]:
        try:
            return self.read(as_of)
        except StoreError as error:
            path = self._path(as_of)
            aside = path.with_suffix(".json.damaged")
            path.replace(aside)
            LOG.warning("the promises %s cannot be read; they are set aside as %s", error, aside)
            return []

    def _path(self, as_of: pd.Timestamp) -> Path:
        return self.folder / f"{as_of:{_NAME}}.json"


def folder_of(home: Home, settings: NightlySettings) -> Path:
    """Folder of what is kept to verify the nights of a dataset."""
    return home.root / "verification" / settings.dataset / settings.interval


def keep_promises(night: Night, home: Home) -> None:
    """Put on record what a night promises about the forecasts that it stores; who does so before, has none without."""
    rows, promises = night.forecasts(), []
    for t in night.targets:
        own = t.panel[t.panel["unique_id"].isin(rows.loc[rows["target"] == t.target, "unique_id"])]
        promise = Promise.of(t.target, night.created_at, (t.name, t.version), t.holdout.by_step)
        promises.append(promise.anchored(own))
    PromiseBook.under(home, night.settings).keep(night.as_of.stamp, promises)
