"""The schema of MLflow's database: the one that it has, and the one that the installed MLflow works with."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fints.errors import ConfigError

if TYPE_CHECKING:
    from fints.tracking.database import Database

_STEP = re.compile(r"^(down_)?revision\s*=\s*[\"'](\w+)[\"']", re.MULTILINE)


def require_schema(database: Database, seconds: float) -> str:
    """Return the schema of a database, if the installed MLflow works with it.

    Parameters
    ----------
    database : Database
    seconds : float
        That a busy one is waited for.

    Raises
    ------
    ConfigError
        If it is of another schema, or of none; it says what to do.
    """
    with closing(sqlite3.connect(f"{database.file.as_uri()}?mode=ro", uri=True, timeout=seconds)) as connection:
        named = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
        row = None if named is None else connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if row is None:
        raise ConfigError(
            f"{database.file} does not say of which schema it is, and MLflow logs nothing to it; restore it from a "
            "backup, or move it away, and a new one is made"
        )
    known, wanted = known_schemas()
    if known and row[0] not in known:
        raise ConfigError(
            f"{database.file} is of the schema {row[0]}, which the installed MLflow does not know: another one made "
            "it. Install that one (pip install -U mlflow), or move the file away, and a new one is made"
        )
    if known and row[0] != wanted:
        raise ConfigError(
            f"{database.file} is of the schema {row[0]}, and the installed MLflow works with {wanted}; copy it to a "
            f"safe place, and run `mlflow db upgrade '{database.uri}'`"
        )
    return str(row[0])


def known_schemas() -> tuple[frozenset[str], str]:
    """Return the schemas that the installed MLflow knows, and the one that it works with.

    They are read from the text of its migrations, since loading them takes seconds; none where they lie elsewhere.
    """
    found = find_spec("mlflow")
    if found is None or found.origin is None:
        return frozenset(), ""
    steps = sorted((Path(found.origin).parent / "store" / "db_migrations" / "versions").glob("*.py"))
    told = [match.groups() for step in steps for match in _STEP.finditer(step.read_text("utf-8"))]
    known = frozenset(name for before, name in told if not before)
    last = known - {name for before, name in told if before}
    return (known, next(iter(last))) if len(last) == 1 else (frozenset(), "")
