"""How long a study has worked, over all runs that it was stopped and taken up in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A file that sums the time of runs in which there was work; a run that is killed adds none.

    Parameters
    ----------
    path : Path
        The file; it need not exist, its folder must.
    """

    path: Path

    @property
    def seconds(self) -> float:
        """Return the sum; 0 where nothing was noted, or what was is damaged."""
        try:
            return float(json.loads(self.path.read_text(encoding="utf-8"))["seconds"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return 0.0

    def add(self, seconds: float) -> None:
        """Add the time of a run.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        try:
            self.path.write_text(json.dumps({"seconds": self.seconds + seconds}) + "\n", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"the time cannot be noted in {self.path}: {error}; check the folder") from error
