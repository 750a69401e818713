"""Cells that are already measured, on file: a run of hours that was stopped goes on where it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Values = dict[str, float]


class Cells:
    """Measured cells by name.

    Parameters
    ----------
    path : pathlib.Path, optional
        Of JSON lines, to which every cell is added as soon as it is measured; nothing is kept by default. The names
        say nothing of the code, so a file belongs to one state of it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Values] = {}
        if path is not None and path.exists():
            for line in path.read_text("utf-8").splitlines():
                self._known |= json.loads(line)

    def of(self, name: str, measure: Callable[[], Values]) -> Values:
        """Return the values of a cell, measured now if they are not on file."""
        if name not in self._known:
            self._known[name] = measure()
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({name: self._known[name]}) + "\n")
            print(name, self._known[name], flush=True)
        return self._known[name]
