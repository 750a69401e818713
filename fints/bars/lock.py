"""The lock of a store: one process writes at a time; readers need none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from fints.errors import LockHeldError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOCK: Final = ".lock"
_SECONDS: Final = 60.0


@contextmanager
def locked(root: Path, seconds: float = _SECONDS) -> Iterator[None]:
    """Hold the lock of the store at ``root``, a folder that is there.

    Parameters
    ----------
    root : pathlib.Path
    seconds : float
        How long another process is waited for.

    Raises
    ------
    LockHeldError
        Another process kept writing to it for that long.
    """
    from filelock import FileLock, Timeout

    try:
        with FileLock(root / _LOCK, timeout=seconds):
            yield
    except Timeout as error:
        raise LockHeldError(
            f"another process has been writing to {root} for {seconds:.0f} s; wait for it to end"
        ) from error
