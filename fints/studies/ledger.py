"""Results that outlast a kill: one line of JSON per finished unit of work."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fints.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO


def settings_key(settings: Mapping[str, object]) -> str:
    """Name a unit of work by everything that decides its result.

    Parameters
    ----------
    settings : mapping
        Plain values, as JSON holds them. The order of keys does not matter; any other change gives another name.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    canonical = json.dumps(settings, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Ledger:
    """An append-only file of results, by the key of their settings.

    A line is on the disk when `append` returns. A process that is killed while it writes leaves half a line: such lines
    are passed over, so their units are done again. One process writes; any number may read.

    Parameters
    ----------
    path : Path
        The file; it need not exist, its folder must.
    """

    path: Path

    def read(self) -> dict[str, dict[str, Any]]:
        """Return every result by its key; of equal keys, the later.

        Raises
        ------
        StoreError
            If the file cannot be read.
        """
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"the ledger {self.path} cannot be read: {error}; check the folder") from error
        entries = [entry for line in lines if (entry := _entry(line)) is not None]
        return {entry["key"]: entry["result"] for entry in entries}

    def append(self, settings: Mapping[str, object], result: Mapping[str, object]) -> None:
        """Add a result and wait until it is on the disk.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        entry = {"key": settings_key(settings), "settings": settings, "result": result}
        line = json.dumps(entry, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        try:
            with self.path.open("a+b") as file:
                if _torn(file):
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"the ledger {self.path} cannot be written: {error}; check the folder") from error


def _entry(line: bytes) -> dict[str, Any] | None:
    """Read a line; None if it is not a whole result."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(entry, dict) and isinstance(entry.get("key"), str) and isinstance(entry.get("result"), dict)
    return entry if whole else None


def _torn(file: BinaryIO) -> bool:
    """Tell whether the file ends within a line."""
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"
