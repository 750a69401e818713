"""Text files that are there whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path
from secrets import token_hex

DIGITS = 15
"""Decimals of numbers in JSON made by pandas, its most; it leaves ten unless told."""


def require_writable(folder: Path) -> None:
    """Make a file in a folder and remove it, to find out before the work is done whether its result can be kept.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".draft-"):
        pass


def write_text(path: Path, text: str) -> None:
    """Replace a file by another text in one move.

    Raises
    ------
    OSError
        If the folder cannot be written; the old file stays as it was.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file by other content in one move.

    Raises
    ------
    OSError
        If the folder cannot be written; the old file stays as it was.
    """
    draft = None
    try:
        with draft_beside(path).open("xb") as file:
            draft = Path(file.name)
            file.write(content)
        draft.replace(path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # the system does not say which file a full disk cut short
        if draft is not None:
            draft.unlink(missing_ok=True)
        raise


def draft_beside(path: Path) -> Path:
    """Name a file that will take the place of another one.

    Who may read it is left to the umask of the process: one who keeps files private keeps these so, too.
    """
    return path.with_name(f".draft-{token_hex(8)}")
