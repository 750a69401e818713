"""The cycles found in the rows that a fit learned from, kept so that a warm night does not search again."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import BundleError, PlanError
from fints.periods import stored
from fints.plan import FrequencyPlan
from pipelines.files import write_bytes, write_text
from pipelines.model import find_plan

if TYPE_CHECKING:
    from pathlib import Path

    from fints.periods import Periods
    from fints.settings import NightlySettings
    from pipelines.learning import Lesson
    from pipelines.shelf import Shelf

_FOUND, _PLAN = "found.safetensors", "plan.json"
_KEEP = 4


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """What a search for cycles found, and the plan made of it.

    Parameters
    ----------
    found : Periods, optional
        None where none is looked for.
    plan : FrequencyPlan
    notes : tuple of str
        What found no room.
    """

    found: Periods | None
    plan: FrequencyPlan
    notes: tuple[str, ...]

    @classmethod
    def of(cls, learnt: Lesson, settings: NightlySettings, shelf: Shelf, key: str | None = None) -> Searched:
        """Take what was found in some rows from the shelf, or search.

        Parameters
        ----------
        learnt : Lesson
        settings : NightlySettings
        shelf : Shelf
        key : str, optional
            Of the rows as they were when a fit learned from them, where they were restated since.
        """
        if not settings.periods.detect:
            return cls(*find_plan(learnt.panel, settings))
        folder = shelf.folder / "cycles" / (key or learnt.key)
        known = cls._read(folder)
        if known is not None:
            return known
        made = cls(*find_plan(learnt.panel, settings))
        if key in {None, learnt.key}:  # what is found in restated rows is not what the fit found
            made._write(folder)
        return made

    @classmethod
    def _read(cls, folder: Path) -> Searched | None:
        try:
            plain = json.loads((folder / _PLAN).read_text("utf-8"))
            found = stored.from_bytes((folder / _FOUND).read_bytes())
            return cls(found, FrequencyPlan.from_dict(plain["plan"]), tuple(map(str, plain["notes"])))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, BundleError, PlanError):
            return None

    def _write(self, folder: Path) -> None:
        if self.found is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / _FOUND, stored.to_bytes(self.found))
        write_text(folder / _PLAN, json.dumps({"plan": self.plan.to_dict(), "notes": list(self.notes)}))
        # what is pruned is found again, in the time of a search
        others = sorted(folder.parent.glob(f"*/{_PLAN}"), key=lambda file: file.stat().st_mtime)
        for old in others[:-_KEEP]:
            shutil.rmtree(old.parent, ignore_errors=True)
