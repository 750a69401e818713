"""The SQLite database of a home: made once, whole, however many ask for it; and noticed when its home was moved."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

CREATE_SECONDS = 120
OURS = "fints/"
"""How the names of our experiments begin."""

_BUSY_SECONDS = 30
_REFUSED = tuple(f"SQLITE_{cause}" for cause in ("READONLY", "CANTOPEN", "PERM", "BUSY", "LOCKED", "FULL", "IOERR"))


@dataclass(frozen=True, slots=True)
class Database:
    """The MLflow database of a home.

    Parameters
    ----------
    home : Path
        Folder of ``mlflow.db`` and ``artifacts/``.
    """

    home: Path

    @property
    def file(self) -> Path:
        """The database."""
        return self.home / "mlflow.db"

    @property
    def artifacts(self) -> Path:
        """Folder of the artifacts."""
        return self.home / "artifacts"

    @property
    def uri(self) -> str:
        """As MLflow calls it."""
        return f"sqlite:///{self.file}"

    def ready(self) -> bool:
        """Whether it is there."""
        return self.file.exists() and self.file.stat().st_size > 0

    def create(self, fill: Callable[[str], None]) -> None:
        """Make it, unless another process does or has done so.

        Parameters
        ----------
        fill : callable
            Makes an empty database at a URI.

        Raises
        ------
        ConfigError
            If another process does not finish creating it, or the home cannot be written.
        """
        from filelock import FileLock, Timeout

        try:
            self.home.mkdir(parents=True, exist_ok=True)
            with FileLock(self.home / "mlflow.db.lock", timeout=CREATE_SECONDS):
                if not self.ready():
                    self._create(fill)
        except Timeout as error:
            raise ConfigError(
                f"another process has been creating {self.file} for {CREATE_SECONDS} s; end it and try again"
            ) from error
        except OSError as error:
            raise ConfigError(f"the home {self.home} cannot be written: {error}; set FINTS_HOME") from error

    def moved_from(self, seconds: float = _BUSY_SECONDS) -> tuple[Path, ...]:
        """Return the homes, other than this one, in which our experiments look for their artifacts.

        Parameters
        ----------
        seconds : float
            That a busy database is waited for.

        Raises
        ------
        ConfigError
            If this is no MLflow database, or a damaged one.
        """
        try:
            with closing(self.connect(seconds)) as connection:
                found = connection.execute("SELECT artifact_location FROM experiments WHERE name LIKE ?", (f"{OURS}%",))
                roots = dict.fromkeys(local_path(location).parent.parent for (location,) in found if is_local(location))
        except sqlite3.DatabaseError as error:
            if _is_whole(error):
                said = f"{self.file} cannot be used: {error}; see to its permissions and to disk space, and that no"
                raise ConfigError(f"{said} other program holds it; its runs are not lost") from error
            raise ConfigError(
                f"{self.file} cannot be read as an MLflow database: {error}; move it away, and a new one is made"
            ) from error
        return tuple(root for root in roots if not _same(root, self.home))

    def require_in_place(self) -> None:
        """Refuse a database that looks for its artifacts in another home.

        Raises
        ------
        ConfigError
            If it does; it says how to mend it.
        """
        moved = self.moved_from()
        if moved:
            raise ConfigError(
                f"the home {self.home} was moved or copied from {moved[0]}, where its MLflow runs still look for their "
                "artifacts; run `fints relocate` to mend them"
            )

    def connect(self, seconds: float = _BUSY_SECONDS) -> sqlite3.Connection:
        """Open it without MLflow; a busy one is waited for."""
        return sqlite3.connect(self.file, timeout=seconds, isolation_level=None)

    def _create(self, fill: Callable[[str], None]) -> None:
        """Build the schema beside its place and move it there, so that a killed process leaves nothing half-made."""
        draft = self.file.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        fill(f"sqlite:///{draft}")
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            # MLflow's own default experiment would put its artifacts into the working directory.
            default = (self.artifacts / "0").as_uri()
            connection.execute("UPDATE experiments SET artifact_location = ? WHERE experiment_id = 0", (default,))
        for rest in ("-wal", "-shm", "-journal"):  # of a database that is gone: SQLite would write it into this one
            self.file.with_name(f"{self.file.name}{rest}").unlink(missing_ok=True)
        draft.replace(self.file)


def _is_whole(error: sqlite3.DatabaseError) -> bool:
    """Whether the machine refused a database, of which nothing is known then, rather than what stands in it."""
    return getattr(error, "sqlite_errorname", "").startswith(_REFUSED)


def is_local(location: str) -> bool:
    """Whether an artifact location is a folder of this machine, as a path or a ``file:`` address."""
    return urlsplit(location).scheme in {"", "file"}


def local_path(location: str) -> Path:
    """Return the folder of a local artifact location."""
    parts = urlsplit(location)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(location)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one folder: the same name, or the same place by way of a link."""
    if one == other:
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False
