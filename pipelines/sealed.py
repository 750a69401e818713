"""Files that say what they hold and are read only if they are whole: what can be made again is kept in them."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from pipelines.files import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

LOG = logging.getLogger(__name__)

_SIZE = hashlib.sha256().digest_size


def write_sealed(path: Path, label: str, content: bytes) -> None:
    """Write a file with the hash of its label and content before it; where that is not possible, there is none.

    Parameters
    ----------
    path : pathlib.Path
        Its folder is made.
    label : str
        What it is: a reader that wants something else does not take it.
    content : bytes
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, _seal(label, content) + content)
    except OSError:  # it is made again next time
        LOG.debug("%s could not be kept", path, exc_info=True)


def read_sealed(path: Path, label: str) -> bytes | None:
    """Read the content of a file, and mark it as used; None if it is not there, damaged, or something else."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    seal, content = whole[:_SIZE], whole[_SIZE:]
    if seal != _seal(label, content):
        return None
    with suppress(OSError):
        path.touch()
    return content


def _seal(label: str, content: bytes) -> bytes:
    return hashlib.sha256(label.encode() + b"\0" + content).digest()
