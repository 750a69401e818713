"""The journal file of a study: mended where a kill has torn it, moved aside where it is damaged."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fints.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from optuna.storages import BaseStorage

LOG = logging.getLogger(__name__)

_CREATE_STUDY = 0
"""Number of the operation that begins a study in a journal."""


def open_journal(path: Path) -> BaseStorage:
    """Open a journal, or begin one.

    A process that is killed while it writes leaves half a line at the end. Optuna passes that over but writes on behind
    it, which would spoil the next line too; so it is cut off here, and told. A journal that cannot be read otherwise is
    moved to ``<name>.corrupt-<time>`` and a new one begun; nothing is deleted.

    Parameters
    ----------
    path : Path

    Raises
    ------
    StoreError
        If the file or its folder cannot be written.
    """
    from optuna.storages.journal import JournalFileSymlinkLock

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise IsADirectoryError(f"{path} is no file")
        lock = JournalFileSymlinkLock(str(path))
        lock.acquire()
        try:
            _mend(path)
            _require_readable(path)
        finally:
            lock.release()
        return _opened(path)
    except OSError as error:
        raise StoreError(f"the journal {path} cannot be used: {error}; check its folder") from error


def _opened(path: Path) -> BaseStorage:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(path)))


def _mend(path: Path) -> None:
    """Cut half a line off the end; nobody can have read it, as Optuna reads whole lines only."""
    if not path.exists():
        return
    content = path.read_bytes()
    torn = len(content) - (content.rfind(b"\n") + 1)
    if torn and torn < len(content):
        with path.open("r+b") as file:
            file.truncate(len(content) - torn)
        LOG.warning("%s ended within a line, as a kill leaves it; %d bytes were cut off", path, torn)


def _require_readable(path: Path) -> None:
    """Move a journal aside that cannot be read from its first line to its last."""
    if not path.exists():
        return
    try:
        _require_beginning(path)
        _opened(path)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a damaged line makes Optuna raise)
        aside = path.with_name(f"{path.name}.corrupt-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}")
        path.replace(aside)
        LOG.warning(
            "%s is damaged (%s: %s); it was moved to %s, and a new study begins",
            path,
            type(error).__name__,
            str(error)[:200],
            aside,
        )


def _require_beginning(path: Path) -> None:
    """Refuse a journal that does not begin with a study: Optuna passes over whatever belongs to none."""
    with path.open("rb") as file:
        first = file.readline()
    if first and json.loads(first)["op_code"] != _CREATE_STUDY:
        raise ValueError("it does not begin with a study")
