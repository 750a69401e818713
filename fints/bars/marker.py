"""The marker by which a folder is known as a store of ours, so that nothing else is ever written into or over."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Final

from fints.bars.place import check_place
from fints.bars.table import told
from fints.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

MARKER: Final = "fints-store.json"
FORMAT: Final = 1


def check_ours(root: Path) -> None:
    """Pass a folder that is a store of ours, or empty, or not there yet.

    Raises
    ------
    StoreError
        The folder holds something else, or a store of another format, or its path is one that tables cannot lie under.
    """
    check_place(root)
    marker = root / MARKER
    if marker.is_file():
        _check_format(marker)
        return
    if root.is_file():
        raise StoreError(f"{root} is a file; the store needs a folder. Set FINTS_HOME to another place")
    with told(f"look into {root}"):
        # a marker that was being written when its process was killed leaves a draft of its name
        foreign = root.is_dir() and any(not path.name.startswith(MARKER) for path in root.iterdir())
    if foreign:
        raise StoreError(
            f"{root} is not empty and no fints store ({MARKER} is missing); nothing was written. "
            "Set FINTS_HOME to another place, or empty the folder yourself"
        )


def mark(root: Path) -> None:
    """Write the marker unless it is there, after trying that the folder can be written at all.

    Raises
    ------
    OSError
        It cannot.
    """
    with tempfile.TemporaryFile(dir=root, prefix=MARKER):
        pass
    marker = root / MARKER
    if marker.exists():
        return
    draft = marker.with_name(f"{MARKER}.{os.getpid()}")
    draft.write_text(json.dumps({"format": FORMAT, "written_by": "fints"}) + "\n", encoding="utf-8")
    draft.replace(marker)


def _check_format(marker: Path) -> None:
    try:
        known = json.loads(marker.read_text(encoding="utf-8"))["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{marker} cannot be read ({error}); restore it from a backup") from error
    if known != FORMAT:
        raise StoreError(f"{marker} is of format {known!r}, this fints writes {FORMAT}: install the fints it needs")
