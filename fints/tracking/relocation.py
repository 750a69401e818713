"""A home that was moved: its database still names the folders of the old place."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import ConfigError
from fints.tracking.database import is_local, local_path

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

    from fints.tracking.database import Database

PLACES = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "storage_location"),
    ("model_versions", "source"),
)
"""Tables and columns in which MLflow keeps folders of artifacts."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """What a moved home needed, or needs.

    Parameters
    ----------
    old : tuple of Path
        Homes that the database named.
    home : Path
        Where it is now.
    changes : mapping of str to int
        Addresses changed, by table.
    missing : tuple of Path
        Folders that the mended database names and that are not there.
    """

    old: tuple[Path, ...]
    home: Path
    changes: Mapping[str, int]
    missing: tuple[Path, ...] = ()


def relocate(database: Database, old: Path | None = None, *, dry_run: bool = False) -> Relocation:
    """Let a database name the folders of the home that it lies in.

    Parameters
    ----------
    database : Database
    old : Path, optional
        The home as it was; by default, whatever home our experiments name.
    dry_run : bool
        Only say what would be changed.

    Returns
    -------
    Relocation
        Without changes where nothing was to be done, also the second time.

    Raises
    ------
    ConfigError
        If there is no database, or nothing in it lies in `old`.
    """
    if not database.ready():
        raise ConfigError(f"there is no MLflow database in {database.home}; set FINTS_HOME to the moved home")
    homes = database.moved_from() if old is None else (old,)
    with closing(database.connect()) as connection:
        connection.execute("BEGIN IMMEDIATE")
        changes = [change for place in PLACES for change in _changes(connection, place, homes, database.home)]
        counts = _apply(connection, changes)
        missing = _missing(connection)
        connection.execute("ROLLBACK" if dry_run else "COMMIT")
    if old is not None and not counts and old != database.home:
        raise ConfigError(f"no run in {database.file} has its artifacts in {old}; leave it out to have the place found")
    return Relocation(homes, database.home, counts, missing)


def _changes(
    connection: sqlite3.Connection, place: tuple[str, str], homes: tuple[Path, ...], home: Path
) -> list[tuple[str, str, str, str]]:
    """Return table, column, value and new value of all addresses that lie in one of the old homes."""
    table, column = place
    if column not in {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}:
        return []
    found = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL")
    moved = [(location, _moved(location, homes, home)) for (location,) in found if is_local(location)]
    return [(table, column, location, new) for location, new in moved if new != location]


def _moved(location: str, homes: tuple[Path, ...], home: Path) -> str:
    path = local_path(location)
    for old in homes:
        if path.is_relative_to(old):
            new = home / path.relative_to(old)
            return new.as_uri() if location.startswith("file:") else str(new)
    return location


def _apply(connection: sqlite3.Connection, changes: list[tuple[str, str, str, str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for table, column, location, new in changes:
        done = connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, location))
        counts[table] = counts.get(table, 0) + done.rowcount
    return counts


def _missing(connection: sqlite3.Connection) -> tuple[Path, ...]:
    """Return the artifact folders of experiments with runs that are not there."""
    used = connection.execute(
        "SELECT DISTINCT artifact_location FROM experiments WHERE experiment_id IN (SELECT experiment_id FROM runs)"
    )
    folders = [local_path(location) for (location,) in used if is_local(location)]
    return tuple(folder for folder in folders if not folder.is_dir())
