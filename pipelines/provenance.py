"""Where a run came from: data, calendar, settings and code."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import fints
from fints.sessions import calendar_version


def provenance(as_of: object, data_version: int, config_hash: str) -> dict[str, str]:
    """Return the tags that say what a run was made of.

    Parameters
    ----------
    as_of : AsOf
    data_version : int
    config_hash : str
    """
    return {
        "fints.as_of": str(as_of),
        "fints.data_version": str(data_version),
        "fints.calendar_version": calendar_version(),
        "fints.config_hash": config_hash,
        "fints.version": fints.__version__,
        **commit(),
    }


@cache
def commit() -> dict[str, str]:
    """Return the commit of the code, ``-dirty`` where files differ from it; empty outside a checkout of fints."""
    root = Path(fints.__file__).parents[1]
    if not (root / ".git").exists():
        return {}
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"fints.git": found.stdout.strip()}
