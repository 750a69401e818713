"""The folder that holds everything the application writes."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fints.bars.place import check_place, full_path
from fints.errors import ConfigError, LockHeldError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filelock import BaseFileLock

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Home:
    """Paths under ``FINTS_HOME``.

    Parameters
    ----------
    root : Path
    """

    root: Path

    @classmethod
    def from_environment(cls) -> Home:
        """Take ``FINTS_HOME``, or ``~/.fints``.

        Raises
        ------
        ConfigError
            If it lies below the home of a user who has none.
        """
        return cls(full_path(os.environ.get("FINTS_HOME") or "~/.fints", "FINTS_HOME"))

    @property
    def store(self) -> Path:
        """Delta tables of bars and forecasts."""
        return self.root / "store"

    @property
    def models(self) -> Path:
        """Fitted models."""
        return self.root / "models"

    @property
    def plans(self) -> Path:
        """Frequency plans of past nights."""
        return self.root / "plans"

    @property
    def reports(self) -> Path:
        """HTML reports."""
        return self.root / "reports"

    @contextmanager
    def locked(self, patience: float = 0.0) -> Iterator[None]:
        """Hold the home for one run.

        Parameters
        ----------
        patience : float
            Seconds that another run is waited for, which is said.

        Raises
        ------
        LockHeldError
            If another run holds it.
        ConfigError
            If the home cannot be written, or its path is one that tables cannot lie under.
        """
        from filelock import FileLock, Timeout

        try:
            check_place(self.root)
            self.root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / ".lock")
            _acquire(lock, patience)
        except Timeout as error:
            raise LockHeldError(f"another run is at work in {self.root}; wait for it, or set FINTS_HOME") from error
        except StoreError as error:
            raise ConfigError(str(error)) from error
        except OSError as error:
            raise ConfigError(f"the home {self.root} cannot be written: {error}; set FINTS_HOME") from error
        try:
            yield
        finally:
            lock.release()


def _acquire(lock: BaseFileLock, patience: float) -> None:
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not patience:
            raise
        LOG.warning(
            "another run is at work in %s; it is waited for, %.0f s at most", Path(lock.lock_file).parent, patience
        )
        lock.acquire(timeout=patience)
